"""Parses ages in days and weeks."""

import re
from datetime import timedelta

_AGE = re.compile(r"([0-9]{1,5})([dw])")
_MOST_DAYS = 36_500


def parse_age(text: str) -> timedelta | None:
    """Parses an age such as `400d` or `52w`. None for anything else, and for more than a hundred years."""
    match = _AGE.fullmatch(text)
    days = int(match[1]) * (7 if match[2] == "w" else 1) if match else _MOST_DAYS + 1
    return timedelta(days=days) if days <= _MOST_DAYS else None
