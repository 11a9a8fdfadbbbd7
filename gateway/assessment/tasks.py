"""What a request asks for: categories of the task, from its description or, without one, from the text.

A text is read only where instructions stand: at the beginning and the end of the last messages. The scan is one
pass of a finite automaton over at most a few thousand bytes.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import re2

from gateway.assessment.task_words import ACTIONS, CATEGORIES, NEEDS_VALUE, QUESTION

_TASK_MOST = 2000
_END_MOST = 320
"""Characters read of a task, and of each end of a message."""
_MESSAGES = 2
_BORDER = r"(?:^|[^\pL\pN_])"
_NO_MORE = r"(?:$|[^\pL\pN_])"
_MEMORY = 64 << 20


@dataclass(frozen=True, slots=True)
class Reading:
    """`categories` in the order of task_words.CATEGORIES; `needs` are keys of task_words.NEEDS_VALUE."""

    categories: tuple[str, ...]
    needs: frozenset[str]


class _Vocabulary:
    """All word lists as one automaton."""

    def __init__(self, *lists: Mapping[str, str]) -> None:
        options = re2.Options()
        options.max_mem = _MEMORY
        options.case_sensitive = False
        options.log_errors = False
        self._set = re2.Set.SearchSet(options)
        for words in lists:
            for entries in words.values():
                self._set.Add("|".join(map(_expression, _entries(entries))))
        self._set.Compile()

    def find(self, text: str) -> list[int]:
        """Indices of the lists of which a word occurs. A search out of memory finds nothing, which is safe."""
        found: list[int] = self._set.Match(text.encode("utf-8", "replace")) or []
        return sorted(found)


def _entries(words: str) -> list[str]:
    return re.findall(r"/.*?(?<!\\)/(?!\S)|\S+", words)


def _expression(entry: str) -> str:
    if entry.startswith("~"):
        return re.escape(entry[1:])
    if entry.startswith("/"):
        inner = entry[1:-1]
        return f"(?:{_BORDER if inner[0].isalpha() or inner[0] == '(' else ''}{inner}{_end_of(inner)})"
    if entry.endswith("*"):
        return f"(?:{_BORDER}{re.escape(entry[:-1])})"
    return f"(?:{_BORDER}{re.escape(entry)}{_NO_MORE})"


def _end_of(inner: str) -> str:
    return "" if inner.endswith(("?", "*", "`")) and not inner.endswith(("s?", ")?")) else _NO_MORE


_LISTS = (*CATEGORIES, *NEEDS_VALUE, *QUESTION)
_VOCABULARY = _Vocabulary(CATEGORIES, NEEDS_VALUE, QUESTION)


def read_task(task: str | None, texts: Sequence[str]) -> Reading:
    """The categories of `task`; without one (or an empty one), of where instructions stand in `texts`."""
    said = task[:_TASK_MOST] if task and not task.isspace() else _instructions(texts)
    found = _VOCABULARY.find(said)
    known = len(CATEGORIES)
    categories = {_LISTS[index] for index in found if index < known}
    others = frozenset(_LISTS[index] for index in found if index >= known)
    if others & QUESTION.keys() and not categories & ACTIONS:
        categories.add("answer")
    return Reading(tuple(name for name in CATEGORIES if name in categories), others.difference(QUESTION))


def _instructions(texts: Sequence[str]) -> str:
    parts: list[str] = []
    for text in reversed(texts):
        # What has no space is a name or a code: a field of the request, not a message.
        if " " in text or len(text) > _END_MOST or not text.isascii():
            parts.append(text if len(text) <= 2 * _END_MOST else f"{text[:_END_MOST]}\n{text[-_END_MOST:]}")
        if len(parts) == _MESSAGES:
            break
    return "\n".join(reversed(parts))
