"""Expressions for written dates, with month names in several languages. RE2 syntax, any case."""

import re

from gateway.detection.data_files import word_lists
from gateway.detection.recognizers._checks import is_date

MONTH_NAMES, _MONTHS_ABROAD = word_lists(__file__).values()
MONTH = "(?:" + "|".join(sorted(MONTH_NAMES, key=lambda name: (-len(name), name))) + r")\.?"
_YEAR = r"(?:\d{4}|'?\d{2})"
_NUMERIC = r"\d{1,4}[ ]?[./\-][ ]?\d{1,2}[ ]?[./\-][ ]?\d{1,4}|\d{1,4} \d{1,2} \d{1,4}|(?:19|20)\d{6}"
_WORDED = rf"\d{{1,2}}(?:st|nd|rd|th|er|º|\.)?[ \-./]{{0,2}}(?:of |de |di )?{MONTH}[,/]?[ \-.]?(?:de |del |of )?{_YEAR}"
_MONTH_FIRST = rf"{MONTH}[ \-]\d{{1,2}}(?:st|nd|rd|th)?[,\-]? ?{_YEAR}"
_YEAR_FIRST = rf"\d{{4}}[ \-/]{MONTH}[ \-/]\d{{1,2}}"
DATE = rf"(?:{_NUMERIC}|{_WORDED}|{_MONTH_FIRST}|{_YEAR_FIRST})"
_ABROAD = "|".join(sorted(_MONTHS_ABROAD))
BIRTH_MONTH = f"(?:{MONTH}|{_ABROAD})"
BIRTH_DATE = rf"(?:{DATE}|\d{{1,2}}\.?[ ](?:{_ABROAD})[ ]\d{{4}})"
"""In more languages than `DATE`: next to words about a birth, it is one."""

_PARTS = re.compile(r"\d+")
# Birth years of living persons in the calendars of Thailand and Iran; in the latter, the year comes first.
_BUDDHIST_YEARS, _PERSIAN_YEARS = range(2433, 2644), range(1270, 1411)


def birth_date(value: str) -> bool | None:
    """Returns False for dates on which no living person can have been born, None for all others."""
    numbers = [int(part) for part in _PARTS.findall(value)]
    if len(numbers) == 1 and numbers[0] > 9_999_999:
        digits = str(numbers[0])
        numbers = [int(digits[:4]), int(digits[4:6]), int(digits[6:])]
    if len(numbers) == 2:  # a month name
        day, year = numbers if numbers[0] <= 31 else (numbers[1], numbers[0])
        return None if 1 <= day <= 31 and _full_year(year) else False
    if len(numbers) != 3:
        return False
    first, second, third = numbers
    if first in _PERSIAN_YEARS:
        return None if second <= 12 and third <= 31 else False
    orders = [(first, second, third)] if first > 31 else [(third, second, first), (third, first, second)]
    return None if any(is_date(_full_year(year), month, day) for year, month, day in orders) else False


def _full_year(year: int) -> int:
    """Expands a two-digit year, converts a Buddhist one. Returns 0 for one in which no living person was born."""
    if year < 100:
        return 2000 + year if year < 30 else 1900 + year
    if year in _BUDDHIST_YEARS:
        year -= 543
    return year if 1890 <= year <= 2100 else 0
