"""Replaces gateway/detection/graphemes.py in the browser, where there is no `regex`: the same rules over its tables.

The export writes `graphemes.json`, the ranges of each property, from the installed `regex`.
"""

import json
from bisect import bisect_right
from functools import cache
from pathlib import Path

_MOST_EXTENDING, _MOST_FLAGS = 32, 256


@cache
def _tables() -> dict[str, list[int]]:
    return dict(json.loads(Path(__file__).with_suffix(".json").read_text("utf-8")))


@cache
def _has(char: str, name: str) -> bool:
    """Whether a character has a property. A table lists where ranges start and end, in turn."""
    return bisect_right(_tables()[name], ord(char)) % 2 == 1


def is_boundary(text: str, at: int) -> bool:
    """Returns whether a grapheme cluster starts at `at`."""
    before, after = text[at - 1], text[at]
    if after < "\u0300" and before < "\u0300":
        return not (before == "\r" and after == "\n")
    return not (_joined(before, after) or _conjunct(text, at) or _emoji(text, at) or _flag(text, at))


def _joined(before: str, after: str) -> bool:
    """GB3, GB6 to GB9b."""
    control = _has(before, "Control") or before in "\r\n"
    if not control and (_has(after, "Extend") or after == "\u200d" or _has(after, "SpacingMark")):
        return True
    if _has(before, "Prepend") and not (_has(after, "Control") or after in "\r\n"):
        return True
    if _has(before, "L"):
        return any(_has(after, each) for each in ("L", "V", "LV", "LVT"))
    if _has(before, "LV") or _has(before, "V"):
        return _has(after, "V") or _has(after, "T")
    return (_has(before, "LVT") or _has(before, "T")) and _has(after, "T")


def _conjunct(text: str, at: int) -> bool:
    """GB9c: a linker, and then any number of extending characters and linkers."""
    if not _has(text[at], "Consonant"):
        return False
    for back in range(1, min(_MOST_EXTENDING + 1, at) + 1):
        char = text[at - back]
        if _has(char, "Linker"):
            return True
        if not _has(char, "InCBExtend"):
            return False
    return False


def _emoji(text: str, at: int) -> bool:
    """GB11."""
    if text[at - 1] != "\u200d" or not _has(text[at], "Pictographic"):
        return False
    place = at - 2
    while place >= 0 and at - 2 - place < _MOST_EXTENDING and _has(text[place], "Extend"):
        place -= 1
    return place >= 0 and _has(text[place], "Pictographic")


def _flag(text: str, at: int) -> bool:
    """GB12 and GB13: after an odd number of regional indicators."""
    if not _has(text[at], "Regional"):
        return False
    count = 0
    while count < at and count <= _MOST_FLAGS and _has(text[at - 1 - count], "Regional"):
        count += 1
    return count % 2 == 1
