"""Checksums and dates that several families share."""

import re
from datetime import date

_NO_DIGITS = re.compile(r"[^0-9]+")
_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)


def digits_of(value: str) -> str:
    """Returns the ASCII digits of a value."""
    return _NO_DIGITS.sub("", value)


def luhn(digits: str) -> bool:
    """Returns whether the last digit is the Luhn check digit (ISO/IEC 7812-1, annex B)."""
    doubled = map(_DOUBLED.__getitem__, map(int, digits[-2::-2]))
    return (sum(doubled) + sum(map(int, digits[::-2]))) % 10 == 0


def icao_digit(field: str) -> str:
    """Computes the check digit of ICAO Doc 9303: weights 7, 3, 1; A is 10, fillers are 0."""
    values = (0 if char == "<" else int(char, 36) for char in field)
    return str(sum(value * (7, 3, 1)[at % 3] for at, value in enumerate(values)) % 10)


def separators(value: str) -> set[str]:
    """Returns the distinct separators in a value."""
    return {char for char in set(value) if not char.isalnum()}


def is_date(year: int, month: int, day: int) -> bool:
    """Returns whether a calendar date exists."""
    try:
        date(year, month, day)
    except (ValueError, OverflowError):  # `date` converts to C integers before it checks the range
        return False
    return True
