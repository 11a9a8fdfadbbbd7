"""Finds the persons that the models miss in lists of people: where most items are persons, so are the others.

Items are lines of one shape: the same mark, and the same sign after their first words, the head of the item.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from gateway.detection.ner.ordinary_words import WordList
from gateway.detection.ner.spans import without_title
from gateway.detection.recognizers.person_name import PARTICLES
from gateway.models import NAME_MODEL, Entity

_ITEM = re.compile(
    r"[ \t]*(?:([-+*•–])[ \t]+|(\d{1,3})[.)][ \t]*)?((?:[^\s(,;:|–-]|[ ](?![ -])|(?<=\S)-){2,60})[ ]?(.?)"
)
"""A mark, the head, and the sign after it. A hyphen within a word is part of the head."""
_NAME_WORD = re.compile(r"[^\W\d_]+\.?(?:['’-][^\W\d_]+)*")
_FEWEST, _MOST_LINES, _MOST_WORDS = 3, 200, 5
_SCORE = 0.6


class _Item(NamedTuple):
    shape: tuple[str, str]
    start: int
    end: int
    line_start: int
    line_end: int


class Lists:
    """Reads lists of names. A name in one of them has no `ordinary` word, and no word of places (`nobody`)."""

    def __init__(self, ordinary: WordList, nobody: WordList) -> None:
        self._ordinary, self._nobody = ordinary, nobody

    def with_siblings(self, text: str, found: Sequence[Entity]) -> Sequence[Entity]:
        """Adds the persons between others to the entities, which are sorted and disjoint."""
        # Only lines with a person are of interest, which are few.
        at = 0
        for one in found:
            if one.type == "PERSON" and one.start >= at and (items := _items(text, one.start)):
                at = items[-1].line_end
                found = self._with_siblings(text, found, items)
        return found

    def _with_siblings(self, text: str, found: Sequence[Entity], items: Sequence[_Item]) -> Sequence[Entity]:
        names = [one for one in items if self._may_be_name(text[one.start : one.end])]
        if len(names) < _FEWEST:
            return found
        missed, known = [], 0
        for item in names:
            first = bisect_left(found, item.start, key=lambda one: one.end)
            own = [one for one in found[first : first + _MOST_WORDS] if one.start < item.end and one.end > item.start]
            start, end = without_title(text, item.start, item.end)
            if any(one.type == "PERSON" and one.start <= start and end <= one.end for one in own):
                known += 1
            elif all(one.type == "PERSON" for one in own) and start < end:
                missed.append(Entity("PERSON", start, end, _SCORE, NAME_MODEL))
        if not missed or known < 2 or known * 3 < len(names) * 2:
            return found
        kept = [one for one in found if not any(new.start < one.end and one.start < new.end for new in missed)]
        return sorted([*kept, *missed], key=lambda one: one.start)

    def _may_be_name(self, head: str) -> bool:
        """Whether a head has the form of a full name, and no ordinary word."""
        words = head.split()
        names = [word for word in words if word not in PARTICLES]
        return (
            2 <= len(names) <= len(words) <= _MOST_WORDS
            and all(_NAME_WORD.fullmatch(word) and word[0].isupper() for word in names)
            and not any(word.lower() in self._ordinary or word.lower() in self._nobody for word in names)
        )


def _items(text: str, at: int) -> list[_Item]:
    """Returns the lines around `at` that have the shape of its line, in order."""
    own = _item(text, text.rfind("\n", 0, at) + 1)
    if own is None or not own.start <= at:
        return []
    before, after = [own], [own]
    while len(before) <= _MOST_LINES and (end := before[-1].line_start - 1) >= 0:
        item = _item(text, text.rfind("\n", 0, end) + 1)
        if item is None or item.shape != own.shape:
            break
        before.append(item)
    while len(after) <= _MOST_LINES and (start := after[-1].line_end + 1) < len(text):
        item = _item(text, start)
        if item is None or item.shape != own.shape:
            break
        after.append(item)
    return [*reversed(before), *after[1:]]


def _item(text: str, line_start: int) -> _Item | None:
    found = _ITEM.match(text, line_start)
    if found is None or not found[3].strip():
        return None
    mark = found[1] or ("1" if found[2] else "")
    line_end = text.find("\n", line_start)
    start, end = found.start(3), found.start(3) + len(found[3].rstrip())
    return _Item((mark, found[4].strip()), start, end, line_start, len(text) if line_end < 0 else line_end)
