"""Dates and times other than birth dates: calendar dates in digits and words, and ISO 8601 timestamps.

They identify no one, so most policies keep them. Policies that generalize dates need their positions.
"""

import re

from gateway.detection.recognizer import EntityType
from gateway.detection.recognizers._checks import is_date
from gateway.detection.recognizers._dates import MONTH
from gateway.detection.recognizers._pattern_table import pattern_table

DATE_TIME = EntityType("DATE_TIME", "temporal", "A date or a point in time.")

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


RECOGNIZERS = pattern_table(
    __file__, (DATE_TIME,), {"hours": _hours, "calendar": _calendar, "day_and_month": _day_and_month}, month=MONTH
)
