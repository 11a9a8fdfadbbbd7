"""Parses the dates in a text in all usual spellings: `17.3.1979`, `1979-03-17`, `March 17th, 1979`, `17031979`."""

import re
from collections.abc import Iterator
from datetime import date

from gateway.detection.data_files import read_toml

# Digits, the number of a month, or None for a word that cannot be part of a date.
type _Part = str | int | None

_LISTS = read_toml(__file__)
_MONTHS = [tuple(prefixes.split()) for prefixes in _LISTS["months"]]
_ROMAN: list[str] = _LISTS["roman"].split()
_IGNORED_WORDS = frozenset(_LISTS["ignored"].split())
_WORD = re.compile(r"\d+|[^\W\d_]+")


def days(text: str) -> set[date]:
    """Returns every date that three adjacent parts of the text, or six or eight consecutive digits, may mean.

    If the order of day and month, or the century, is ambiguous, returns all possibilities.
    """
    words = (word for word in _WORD.findall(text.casefold()) if word not in _IGNORED_WORDS)
    parts = [word if word.isdecimal() else _month(word) for word in words]
    found = {day for part in parts if isinstance(part, str) for day in _dates_in_digits(part)}
    for first, second, third in zip(parts, parts[1:], parts[2:], strict=False):
        for order in ((first, second, third), (first, third, second), (third, second, first), (third, first, second)):
            found.update(_day(*order))
    return found


def _month(word: str) -> int | None:
    if word in _ROMAN:
        return _ROMAN.index(word) + 1
    return next((number for number, names in enumerate(_MONTHS, 1) if word.startswith(names)), None)


def _dates_in_digits(digits: str) -> Iterator[date]:
    """Parses YYYYMMDD, DDMMYYYY and MMDDYYYY, also with a two-digit year."""
    if len(digits) in (6, 8):
        yield from _day(digits[:-4], digits[-4:-2], digits[-2:])
        yield from _day(digits[4:], digits[2:4], digits[:2])
        yield from _day(digits[4:], digits[:2], digits[2:4])


def _day(year: _Part, month: _Part, day: _Part) -> Iterator[date]:
    if not isinstance(year, str) or not isinstance(day, str) or month is None:
        return
    if len(year) not in (2, 4) or len(day) > 2 or len(str(month)) > 2:
        return
    for century in (0,) if len(year) == 4 else (1900, 2000):
        try:
            yield date(century + int(year), int(month), int(day))
        except ValueError:
            continue
