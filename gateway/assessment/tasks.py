"""Categorizes what a request asks for, by its task description or else by its text.

Of a text, only the beginning and the end of the last messages are read, where instructions usually are. Each word is
looked up once, so the cost depends only on the number of words read, which is bounded. The words are in `tasks.toml`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.detection.data_files import read_toml

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
_STEM = 4
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


type _Places = tuple[tuple[str, ...], ...]

# Too common to index a phrase by.
_COMMON = frozenset(
    "a all are as at check de del do el en for how i in is it la las le les los my o of on or que some that the this to"
    " un una with work you your".split()
)


class _Vocabulary:
    """Indexed word lists."""

    def __init__(self, lists: Mapping[str, str]) -> None:
        self._words: dict[str, set[str]] = {}
        self._stems: dict[str, list[tuple[str, str]]] = {}
        self._phrases: dict[str, list[tuple[_Places, _Places, str]]] = {}
        self._parts: list[tuple[str, str]] = []
        self._ascii_parts: list[tuple[str, str]] = []
        for name, entries in lists.items():
            for entry in entries.split():
                self._add(name, entry)

    def _add(self, name: str, entry: str) -> None:
        if entry.startswith("~"):
            self._parts.append((entry[1:], name))
            if entry.isascii():
                self._ascii_parts.append((entry[1:], name))
        elif "+" in entry:
            places = tuple(tuple(place.split("|")) for place in entry.split("+"))
            rare = next((at for at, place in enumerate(places) if _is_rare(place)), 0)
            for word in places[rare]:
                # Matches the words before it backwards and the words after it forwards.
                self._phrases.setdefault(word, []).append((places[:rare][::-1], places[rare + 1 :], name))
        elif entry.endswith("*"):
            self._stems.setdefault(entry[:_STEM], []).append((entry[:-1], name))
        else:
            self._words.setdefault(entry, set()).add(name)

    def find(self, text: str, words: Sequence[str]) -> set[str]:
        """Returns the lists with an entry in `text`. `words` are its words and ends of sentences, in lower case."""
        found: set[str] = set()
        distinct = set(words)
        for word in distinct & self._words.keys():
            found |= self._words[word]
        for word in distinct:
            for stem, name in self._stems.get(word[:_STEM], ()):
                if name not in found and word.startswith(stem):
                    found.add(name)
        indexed = distinct & self._phrases.keys()
        for at, word in enumerate(words):
            if word not in indexed:
                continue
            for before, after, name in self._phrases[word]:
                if name not in found and _follows(after, words, at + 1, 1) and _follows(before, words, at - 1, -1):
                    found.add(name)
        parts = self._ascii_parts if text.isascii() else self._parts
        found.update(name for part, name in parts if part in text)
        return found


def _is_rare(place: tuple[str, ...]) -> bool:
    return place != (_GAP,) and not any(word in _COMMON or word.endswith("*") for word in place)


def _follows(places: _Places, words: Sequence[str], at: int, step: int) -> bool:
    """Whether the words from `at` on match the places, forwards (`step` 1) or backwards (-1)."""
    for index, place in enumerate(places):
        if place == (_GAP,):
            rest = places[index + 1 :]
            return any(_follows(rest, words, start, step) for start in _reach(words, at, step))
        if not 0 <= at < len(words) or not any(_is(words[at], alternative) for alternative in place):
            return False
        at += step
    return True


def _reach(words: Sequence[str], at: int, step: int) -> Iterable[int]:
    for start in range(at, at + step * (_GAP_MOST + 1), step):
        if not 0 <= start < len(words) or words[start][0] in _STOPS:
            return
        yield start


def _is(word: str, alternative: str) -> bool:
    return word.startswith(alternative[:-1]) if alternative.endswith("*") else word == alternative


_NEED = "need:"
_VOCABULARY = _Vocabulary({**CATEGORIES, **{_NEED + name: words for name, words in _NEEDS_VALUE.items()}})


def read_task(task: str | None, texts: Sequence[str]) -> Reading:
    """Reads `task`, or the instructions in `texts` if it is missing or blank."""
    text = (task[:_TASK_MOST] if task and not task.isspace() else _instructions(texts)).lower()
    words = _WORD.findall(text)
    found = _VOCABULARY.find(text, words)
    if not found & _ACTIONS and _asks(words):
        found.add("answer")
    categories = tuple(name for name in CATEGORIES if name in found)
    if not task or task.isspace():
        # Without a task, the words for one may be those of a document or of code.
        text = _CODE_LINE.sub("\n\n", text)
        found &= _VOCABULARY.find(text, [*_requests(_WORD.findall(text))])
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
