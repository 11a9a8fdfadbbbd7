"""What a request asks for: categories of the task, from its description or, without one, from the text.

A text is read only where instructions stand: at the beginning and the end of the last messages. Each word is looked up
once; the cost depends on the number of words read, which is bounded, and on nothing else.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gateway.assessment.task_words import ACTIONS, ASKING, CATEGORIES, NEEDS_VALUE

_TASK_MOST = 1000
_END_MOST = 240
"""Characters read of a task, and of each end of a message."""
_MESSAGES = 2
_GAP_MOST = 12
_STEM = 4
_WORD = re.compile(r"[^\W_]+|[!?.](?!\S)|\n\s*\n|[？¿。！]")
_STOPS = frozenset("!?.\n？¿。！")
"""First characters of what ends a sentence."""
_GAP = ".."


@dataclass(frozen=True, slots=True)
class Reading:
    """`categories` in the order of task_words.CATEGORIES; `needs` are keys of task_words.NEEDS_VALUE."""

    categories: tuple[str, ...]
    needs: frozenset[str]


type _Phrase = tuple[tuple[str, ...], ...]


class _Vocabulary:
    """Word lists, made ready to look words up in."""

    def __init__(self, lists: Mapping[str, str]) -> None:
        self._words: dict[str, set[str]] = {}
        self._stems: dict[str, list[tuple[str, str]]] = {}
        self._phrases: dict[str, list[tuple[_Phrase, str]]] = {}
        self._parts: list[tuple[str, str]] = []
        for name, entries in lists.items():
            for entry in entries.split():
                self._add(name, entry)

    def _add(self, name: str, entry: str) -> None:
        if entry.startswith("~"):
            self._parts.append((entry[1:], name))
        elif "+" in entry:
            first, *rest = (tuple(place.split("|")) for place in entry.split("+"))
            for word in first:
                self._phrases.setdefault(word, []).append((tuple(rest), name))
        elif entry.endswith("*"):
            self._stems.setdefault(entry[:_STEM], []).append((entry[:-1], name))
        else:
            self._words.setdefault(entry, set()).add(name)

    def find(self, text: str, words: Sequence[str]) -> set[str]:
        """The lists of which something occurs. `words` are those of `text`, in lower case, with stops."""
        found: set[str] = set()
        for word in set(words):
            found.update(self._words.get(word, ()))
            for stem, name in self._stems.get(word[:_STEM], ()):
                if word.startswith(stem):
                    found.add(name)
        for at, word in enumerate(words):
            for phrase, name in self._phrases.get(word, ()):
                if name not in found and _follows(phrase, words, at + 1):
                    found.add(name)
        found.update(name for part, name in self._parts if part in text)
        return found


def _follows(phrase: _Phrase, words: Sequence[str], at: int) -> bool:
    for index, place in enumerate(phrase):
        if place == (_GAP,):
            return any(_follows(phrase[index + 1 :], words, start) for start in _reach(words, at))
        if at >= len(words) or not any(_is(words[at], alternative) for alternative in place):
            return False
        at += 1
    return True


def _reach(words: Sequence[str], at: int) -> Iterable[int]:
    for start in range(at, min(len(words), at + _GAP_MOST + 1)):
        if words[start][0] in _STOPS:
            return
        yield start


def _is(word: str, alternative: str) -> bool:
    return word.startswith(alternative[:-1]) if alternative.endswith("*") else word == alternative


_NEED = "need:"
_VOCABULARY = _Vocabulary({**CATEGORIES, **{_NEED + name: words for name, words in NEEDS_VALUE.items()}})
_ASKING = frozenset(ASKING.split())


def read_task(task: str | None, texts: Sequence[str]) -> Reading:
    """The categories of `task`; without one (or a blank one), of where instructions stand in `texts`."""
    said = (task[:_TASK_MOST] if task and not task.isspace() else _instructions(texts)).lower()
    words = _WORD.findall(said)
    found = _VOCABULARY.find(said, words)
    if not found & ACTIONS and _asks(words):
        found.add("answer")
    categories = tuple(name for name in CATEGORIES if name in found)
    return Reading(categories, frozenset(name for name in NEEDS_VALUE if _NEED + name in found))


def _asks(words: Sequence[str]) -> bool:
    asking = False
    for word in words:
        if word in "¿？" or (word == "?" and asking):
            return True
        asking = word in _ASKING or (asking and word[0] not in _STOPS)
    return False


def _instructions(texts: Sequence[str]) -> str:
    parts: list[str] = []
    for text in reversed(texts):
        # What has no space is a name or a code: a field of the request, not a message.
        if " " in text or len(text) > _END_MOST or not text.isascii():
            parts.append(text if len(text) <= 2 * _END_MOST else f"{text[:_END_MOST]}\n{text[-_END_MOST:]}")
        if len(parts) == _MESSAGES:
            break
    return "\n".join(reversed(parts))
