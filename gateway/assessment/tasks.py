"""Categorizes what a request asks for, by its task description or else by its text.

Of a text, only the beginning and the end of the last messages are read, where instructions usually are, so the cost is
bounded. The words are in `tasks.toml`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.detection.data_files import read_toml
from gateway.detection.prefilter import PatternSet

_WORDS: dict[str, Any] = read_toml(__file__)
CATEGORIES: dict[str, str] = _WORDS["categories"]
_NEEDS_VALUE: dict[str, str] = _WORDS["needs_value"]
_ACTIONS = frozenset(_WORDS["actions"].split())
_QUESTION_WORDS = frozenset(_WORDS["question_words"].split())

_TASK_MOST = 1000
_END_MOST = 240
"""Characters read of a task, and of each end of a message."""
_MESSAGES = 2
_GAP_MOST = 12
_WORD = re.compile(r"[^\W_]+|[!?.](?!\S)|\n\s*\n|[？¿。！]")
_STOPS = frozenset("!?.\n？¿。！")
"""The first characters of the tokens that end a sentence."""
_GAP = ".."
_CODE_LINE = re.compile(r"""(?:^|\n)[^\n]*(?:[;,][ \t]*(?=\n|\Z)|(?:\w\(\w*[(,.)"']|[=<>{}\[\]]|//|#)[^\n]*)""")
_ORDER = 5
"""Words at the beginning of a sentence that show whether it is an order."""


@dataclass(frozen=True, slots=True)
class Reading:
    """`categories` in the order of CATEGORIES; `needs` are keys of `needs_value` in `tasks.toml`, or "verify"."""

    categories: tuple[str, ...]
    needs: frozenset[str]


_NEED = "need:"
_LISTS = {**CATEGORIES, **{_NEED + name: words for name, words in _NEEDS_VALUE.items()}}
_MEMORY = 16 << 20


def _expression(entry: str) -> str:
    """Translates an entry of a list to an expression over words that are each followed by a space."""
    places: list[str] = []
    for place in entry.split("+"):
        words = "|".join(f"{word[:-1]}[^ ]*" if word.endswith("*") else word for word in place.split("|"))
        places.append(f"(?:[^\n ]+ ){{0,{_GAP_MOST}}}" if place == _GAP else f"(?:{words}) ")
    return "".join(places)


_PARTS = [(entry[1:], name) for name, entries in _LISTS.items() for entry in entries.split() if entry.startswith("~")]
_ENTRIES = {name: [entry for entry in entries.split() if not entry.startswith("~")] for name, entries in _LISTS.items()}
_NAMES = [name for name, entries in _ENTRIES.items() if entries]
_SEARCH = PatternSet([f" (?:{'|'.join(map(_expression, _ENTRIES[name]))})" for name in _NAMES], memory=_MEMORY)


def _find(text: str, words: Sequence[str]) -> set[str]:
    """Returns the lists with an entry in `text`. `words` are its words and ends of sentences, in lower case."""
    joined = " " + "".join("\n " if word[0] in _STOPS else f"{word} " for word in words)
    return {_NAMES[hit] for hit in _SEARCH.hits(joined.encode())} | {name for part, name in _PARTS if part in text}


def read_task(task: str | None, texts: Sequence[str]) -> Reading:
    """Reads `task`, or the instructions in `texts` if it is missing or blank."""
    text = (task[:_TASK_MOST] if task and not task.isspace() else _instructions(texts)).lower()
    words = _WORD.findall(text)
    found = _find(text, words)
    if not found & _ACTIONS and _asks(words):
        found.add("answer")
    categories = tuple(name for name in CATEGORIES if name in found)
    if not task or task.isspace():
        # Without a task, the words for one may be those of a document or of code.
        text = _CODE_LINE.sub("\n\n", text)
        found &= _find(text, [*_requests(_WORD.findall(text))])
    needs = {name for name in _NEEDS_VALUE if _NEED + name in found} | found & {"verify"}
    return Reading(categories, frozenset(needs))


def _requests(words: Sequence[str]) -> Iterator[str]:
    """Yields the words of questions, and the first words of other sentences, where an order has its verb."""
    sentence: list[str] = []
    for word in (*words, "\n"):
        sentence.append(word)
        if word[0] in _STOPS:
            yield from sentence if word in "?？" else sentence[:_ORDER]
            yield "\n"
            sentence = []


def _asks(words: Sequence[str]) -> bool:
    if "?" not in words and "¿" not in words and "？" not in words:
        return False
    asking = False
    for word in words:
        if word in "¿？" or (word == "?" and asking):
            return True
        asking = word in _QUESTION_WORDS or (asking and word[0] not in _STOPS)
    return False


def _instructions(texts: Sequence[str]) -> str:
    parts: list[str] = []
    for text in reversed(texts):
        # Text without a space is a name or a code from a field of the request, not a message.
        if " " in text or len(text) > _END_MOST or not text.isascii():
            parts.append(text if len(text) <= 2 * _END_MOST else f"{text[:_END_MOST]}\n{text[-_END_MOST:]}")
        if len(parts) == _MESSAGES:
            break
    return "\n".join(reversed(parts))
