"""Digits that look like telephone numbers: amounts, coordinates, code points, sizes, times."""

import re

_THOUSANDS = re.compile(r"^\d{1,3}(?:(?: \d{3}){2,}|(?:\.\d{3}){2,})$")
_ZERO_BEFORE = re.compile(rb"(?:\A|[^\d.,])0 \Z")
# Sizes of files and memories, in groups of three digits.
_SIZE = re.compile(r"^\d{1,3}(?: \d{3}){2,}$")
_UNIT = re.compile(rb"[ ]?(?:bytes?|octets?|bits?|[KMGT]i?B)\b", re.IGNORECASE)
# Characters of Unicode as four hexadecimal digits each, such as those of Latin: `0046 0066 0069`.
_CODE_POINTS = re.compile(r"^00\d\d(?: 00\d\d)+")
_FOURS = re.compile(r"^\d{4}(?: \d{4})+$")
# Seconds or milliseconds since 1970, for the years 2001 to 2065, in a field that says so: `"createdAt": 1762345678`.
_UNIX_TIME = re.compile(r"^[12]\d{9}(?:\d{3})?$")
_TIME_FIELD = re.compile(
    rb"(?:\b|_)(?:t|ts|iat|exp|nbf|[\w.\-]*(?:time|stamp|date|At|_at|epoch|seen|login|created|updated|modified|expires))"
    rb"[\"']?\s?[:=]\s?[\"']?\Z"
)
_CODE_POINT = re.compile(rb"\bU\+[0-9A-F]{4}\b[^\n]*\Z")


def is_of_programs(data: bytes, start: int, end: int, value: str) -> bool:
    """Returns whether digits are coordinates from an origin (`0 0 512 512`), code points, a size, or a Unix time."""
    if value.startswith("0 "):
        return value[2:4] == "0 " or _ZERO_BEFORE.search(data[max(0, start - 3) : start]) is not None
    return (
        _CODE_POINTS.match(value) is not None
        or (_FOURS.match(value) is not None and _CODE_POINT.search(data[max(0, start - 40) : start]) is not None)
        or (_SIZE.match(value) is not None and _UNIT.match(data, end) is not None)
        or (_UNIX_TIME.match(value) is not None and _TIME_FIELD.search(data[max(0, start - 48) : start]) is not None)
    )


def is_thousands(value: str, digits: str) -> bool:
    """Returns whether a value is an amount with a thousands separator."""
    return digits[0] != "0" and _THOUSANDS.search(value) is not None
