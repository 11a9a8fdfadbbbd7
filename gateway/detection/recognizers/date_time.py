"""Dates and times other than birth dates: calendar dates in digits and words, and ISO 8601 timestamps.

They identify no one, so most policies keep them. Policies that generalize dates need their positions.
"""

import re

from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer
from gateway.detection.recognizers._checks import is_date
from gateway.detection.recognizers._dates import MONTH

DATE_TIME = EntityType("DATE_TIME", "temporal", "A date or a point in time.")

_CANDIDATE = 0.45
"""High enough for policies that generalize dates, too low for all others."""

_ISO_TIME = r"\b\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:[Zz]|[+\-]\d{2}:?\d{2})?\b"
_FULL = r"\b\d{4}[/.\-]\d{1,2}[/.\-]\d{1,2}\b"
# Not followed by the same sign and more digits: 12-34-56-78.
_DAY_FIRST = tuple(
    rf"\b(\d{{1,2}}{sign}\d{{1,2}}{sign}(?:\d{{4}}|\d{{2}}))(?:$|[^\w{sign}]|{sign}(?:$|\D))"
    for sign in (r"\-", r"\.", "/")
)
_SHORT_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
_ORDINAL = r"(?:st|nd|rd|th|er|º|\.)?"
_WORDED = rf"(?i)\b\d{{1,2}}{_ORDINAL} ?(?:of |de )?{MONTH},? (?:de |del |of )?\d{{4}}\b"
_MONTH_FIRST = rf"(?i)\b{MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}\b"
_PARTS = re.compile(r"(\d+)([/.\-])(\d+)\2(\d+)")


def _calendar(value: str) -> bool | None:
    """Requires an existing date, year first or last, with one kind of separator."""
    parts = _PARTS.fullmatch(value)
    if parts is None:
        return False
    first, second, third = int(parts[1]), int(parts[3]), int(parts[4])
    year, orders = (first, [(second, third)]) if first > 31 else (third, [(first, second), (second, first)])
    full = year if year > 99 else 2000 + year
    possible = 1500 <= full <= 2200 and any(is_date(full, month, day) for month, day in orders)
    return None if possible else False


def _hours(value: str) -> bool | None:
    day, hour, minute = value[:10], int(value[11:13]), int(value[14:16])
    return None if _calendar(day) is None and hour < 24 and minute < 60 else False


def _day_and_month(value: str) -> bool | None:
    first, second = (int(part) for part in value.split("/"))
    if second > 31:
        return None if 1 <= first <= 12 and 1900 <= second <= 2100 else False
    return None if any(is_date(2000, month, day) for month, day in ((first, second), (second, first))) else False


RECOGNIZERS = (
    PatternRecognizer(
        "date_time.iso",
        DATE_TIME,
        (Pattern(_ISO_TIME, _CANDIDATE),),
        validator=_hours,
        examples=(
            Example("at 2024-06-05T09:15:30.500-07:00 sharp", "2024-06-05T09:15:30.500-07:00", score=_CANDIDATE),
            Example("When: 1993-01-04 14:56:41", "1993-01-04 14:56:41", score=_CANDIDATE),
        ),
        counter_examples=("2024-13-05T09:15Z", "id2024-06-05T09:15Z"),
    ),
    PatternRecognizer(
        "date_time.figures",
        DATE_TIME,
        (Pattern(_FULL, _CANDIDATE), *(Pattern(form, _CANDIDATE, group=1) for form in _DAY_FIRST)),
        validator=_calendar,
        examples=(
            Example("on 21.5.2021 we met", "21.5.2021", score=_CANDIDATE),
            Example("5-20-2021 is today", "5-20-2021", score=_CANDIDATE),
            Example("since 2021-05-21", "2021-05-21", score=_CANDIDATE),
            Example("1.5.2021-3.5.2021", "3.5.2021", score=_CANDIDATE),
        ),
        counter_examples=("version 10.45.2021", "32/13/2020", "1.2-2021"),
    ),
    PatternRecognizer(
        "date_time.words",
        DATE_TIME,
        (
            Pattern(
                _WORDED, _CANDIDATE, prefilter=rf"(?i)\d{_ORDINAL} ?(?:of |de )?{MONTH},? (?:de |del |of )?\d{{4}}\b"
            ),
            Pattern(_MONTH_FIRST, _CANDIDATE),
            Pattern(rf"(?i)\b\d{{1,2}}-{_SHORT_MONTH}(?:-(?:\d{{4}}|\d{{2}}))?\b", _CANDIDATE),
            Pattern(rf"(?i)\b{_SHORT_MONTH}-(?:\d{{4}}|\d{{2}})\b", _CANDIDATE),
        ),
        examples=(
            Example("am 3. Oktober 1990 in Berlin", "3. Oktober 1990", score=_CANDIDATE),
            Example("on March 14th, 2019", "March 14th, 2019", score=_CANDIDATE),
            Example("due 5-MAY-2021", "5-MAY-2021", score=_CANDIDATE),
            Example("in May-2021", "May-2021", score=_CANDIDATE),
        ),
        counter_examples=("may 5 people", "they march 2 by 2", "dismay-21"),
    ),
    PatternRecognizer(
        "date_time.short",
        DATE_TIME,
        (Pattern(r"(?:^|[\s,;(])(\d{1,2}/(?:\d{4}|\d{1,2}))(?:[\s,;.)]|$)", 0.15, group=1),),
        validator=_day_and_month,
        examples=(Example("Today is 5/21, and", "5/21", score=0.1),),
        counter_examples=("page 45/99", "1/2/3"),
    ),
)
