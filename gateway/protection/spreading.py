"""Decides where a value that was recognized once is hidden as well.

| value | messages, tool results | instructions | code |
|---|---|---|---|
| distinctive: a secret with entropy, an address, a number of an account or a person | yes | yes | yes |
| name of a person, place or organization | yes | yes, unless it is a word in small letters there | no |
| word or short number: the password `sunshine`, a PIN | yes | no | no |

Code does not include comments and strings. Earlier blocks are treated like later ones, except that only distinctive
values and full names are hidden in them if they were first recognized in a tool result. A name that the model is not
sure of is hidden in no other text.
"""

import re
from collections.abc import Iterable

from gateway.detection.deobfuscation.identifiers import is_in_file_name
from gateway.detection.engines import NAMES
from gateway.detection.source_code import SourceCode
from gateway.models import NAME_MODEL
from gateway.protection.name_spellings import UNSPACED
from gateway.text.fields import Place, Span

_ACCOUNTS = frozenset({"PERSON", "USERNAME"})

SURE = 0.75
"""Score of the name model below which about half of its names of persons are none."""
_LETTER, _DIGIT = re.compile(r"[^\W\d_]"), re.compile(r"\d")
_WORD = re.compile(r"[^\W\d_]{2,}")
_IDENTIFIER = re.compile(r"[\w .'-]+")
_ADDRESS = re.compile(r"\S@\S|://")
# Characters of a value with letters and digits, of words together, and of one word.
_SHORTEST_MIXED, _SHORTEST_PHRASE, _SHORTEST_WORD = 8, 12, 16
# Digits of a number, and of one that repeats few of them, such as 100000.
_SHORTEST_NUMBER, _LEAST_DIFFERENT, _LONG_NUMBER = 6, 4, 9
_FULL_NAME, _FULL_NAME_UNSPACED = 2, 3


def _is_written_plainly(occurrence: str, value: str) -> bool:
    """Returns whether an occurrence may be an identifier: it is neither encoded nor spaced out."""
    letters = "".join(filter(str.isalnum, occurrence.lower()))
    return (
        _IDENTIFIER.fullmatch(occurrence) is not None
        and len(occurrence) <= len(value) + 1
        and letters in "".join(filter(str.isalnum, value.lower()))
    )


def is_sure(span: Span) -> bool:
    """Returns whether a finding is hidden in other texts, too."""
    return span.recognizer != NAME_MODEL or span.type not in NAMES or span.score >= SURE


def is_distinctive(value: str, type: str) -> bool:
    """Returns whether a value is in no text by chance: a full name, a long number, letters mixed with digits."""
    if type in NAMES:
        unspaced = UNSPACED.search(value) is not None and len(value) >= _FULL_NAME_UNSPACED
        return unspaced or len(_WORD.findall(value)) >= _FULL_NAME
    if _ADDRESS.search(value):
        return True
    digits = _DIGIT.findall(value)
    letters = len(_LETTER.findall(value))
    if not letters:
        several = len(set(digits)) >= _LEAST_DIFFERENT
        return len(digits) >= (_SHORTEST_NUMBER if several else _LONG_NUMBER)
    if digits:
        return len(value) >= _SHORTEST_MIXED
    if len(_WORD.findall(value)) > 1:
        return letters >= _SHORTEST_PHRASE
    # A long account with capitals inside, which a model found, may be an identifier of a program.
    return letters >= _SHORTEST_WORD and (type != "USERNAME" or value.islower())


def spreads_back(value: str, type: str, place: Place) -> bool:
    """Returns whether a value that was first recognized in a place is hidden in earlier blocks."""
    return place is not Place.TOOL_RESULT or is_distinctive(value, type)


class Reach:
    """Tells which occurrences of known values in a text are hidden. `own` are the values recognized in the text."""

    __slots__ = ("_code", "_own", "_place", "_text")

    def __init__(self, text: str, place: Place, own: Iterable[str]) -> None:
        self._text = text
        self._place = place
        self._own = own
        self._code: SourceCode | None = None

    def covers(self, start: int, end: int, value: str, type: str) -> bool:
        """Returns whether the occurrence `text[start:end]` of a value is hidden."""
        if type in _ACCOUNTS and value.islower() and " " not in value and self._is_in_identifier(start, end):
            return False
        if type in NAMES:
            if self._place is Place.INSTRUCTIONS and self._is_ordinary(self._text[start:end]):
                return False
        elif is_distinctive(value, type):
            return True
        elif self._place is Place.INSTRUCTIONS and value.lower() not in {each.lower() for each in self._own}:
            return False
        if not _is_written_plainly(self._text[start:end], value):
            return True
        if self._code is None:
            self._code = SourceCode(self._text)
        if not self._code.has(start, end):
            return True
        # A full name is that of a document's file, not of a variable with the member `pdf`.
        return is_distinctive(value, type) and is_in_file_name(self._text, start, end)

    def _is_in_identifier(self, start: int, end: int) -> bool:
        """Returns whether an occurrence is a part of a longer identifier: `mark` in `v_mark_schema`."""
        return "_" in self._text[max(0, start - 1) : start] + self._text[end : end + 1]

    def _is_ordinary(self, name: str) -> bool:
        """Returns whether a text has a name in small letters, as a word: `Mark`, where one is to mark something."""
        small = name.lower()
        return name.isalpha() and re.search(rf"(?<!\w){re.escape(small)}(?!\w)", self._text) is not None
