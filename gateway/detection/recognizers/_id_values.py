"""The forms of identifiers that only a label identifies."""

import re

from gateway.detection.recognizer import compile_pattern
from gateway.detection.recognizers._checks import is_date

# Space-separated groups of digits, or one word of letters, digits and a few signs.
VALUE = compile_pattern(
    r"(?:[A-Z]{1,4}[ -]?)?\d{1,6}(?: \d{2,6}){1,7}(?: [B-HJ-Z](?: \d{3})?)?\b"
    r"|\d{1,3} [A-Z][A-Za-z]{0,3} \d{1,6}/\d{2,4}\b"
    r"|[A-Z]{1,4} \d[\w\-/]*\w|\d{1,2}:\d{2}-[a-z]{2}-\d{2,6}\b|\w(?:[\w\-/.#]{0,38}\w)?"
)

_DATE = re.compile(r"(\d{4}|\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{1,2})(?:T.*)?")
_CLOCK_OR_PRICE = re.compile(r"\d{1,3}(?:[.,]\d{3})*[.,]\d{1,2}|\d{1,2}[:.]\d{2}")
_VERSION = re.compile(r"[vV]?\d{1,3}(?:\.\d{1,2}){1,3}(?:[-.]?(?:rc|a|b|alpha|beta|dev)\d*)?")
_HEX = re.compile(r"(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9A-F]{32}|[0-9A-F]{40}|[0-9A-F]{64})")
_IN_CODE = re.compile(r"[a-z]+_?\d{1,3}|0x.*|[a-z]+(?:_[a-z]+)*_?\d?|[a-z]+[A-Z]\w*|\w+\.[a-z]{1,4}|[A-Za-z]+-\d\.\d.*")
_PARTED = re.compile(r"[./\-]")
# Standards, laws, sums, versions, years.
_NOT_IDENTIFIERS = re.compile(
    r"(?:ANSI|ASTM|COVID|CVE|DIN|EN|EP|FIDIC|HTTP|IEC|IEEE|IP|ISO|KB|NIST|RFC|SHA"
    r"|TLS|US|UTF|WO|CHF|EUR|GBP|USD)[ \-/]?\d"
    r"|\d{1,3}(?:\.\d{3})+$|\d{1,2}(?:\.\d{1,2})+\D|1-8\d\d-|(?:19|20)\d\d[-/.](?:\d{1,3}\b|(?:19|20)\d\d$)"
    r"|\d{1,2}[-/.](?:19|20)\d\d\b"
)
_OF_YEAR = re.compile(r"\d{2,6}/(?:19|20)\d\d")
_SAMPLE = re.compile(r"(\w)\1*|[Xx0]+")
_PRICE_BEFORE = frozenset(b"$%\xa3\xac\xa5")
_AFTER = re.compile(
    rb"[ \t]?(?:%|\xe2\x82\xac|\xc2\xa3|\$|(?:eur|euros?|usd|gbp|chf|dollars?|pounds?|people|persons|items|pieces|times"
    rb"|years?|months?|weeks?|days?|hours?|minutes?|seconds?|ms|kb|mb|gb|tb|km|kg|cm|mm|miles?|percent|tage|jahre|stunden|ans|jours"
    rb"|a\xc3\xb1os|d\xc3\xadas|anni|giorni|anos|dias|jaar|dagen)\b)",
    re.IGNORECASE,
)


def plausible(data: bytes, start: int, end: int, *, explicit: bool) -> bool:
    """Returns whether `data[start:end]` may be an identifier. `explicit`: it follows a colon, "is" or similar."""
    value = data[start:end].decode("utf-8", "replace")
    letters = sum(char.isalpha() for char in value)
    digits = sum(char.isdigit() for char in value)
    if digits + letters < 4 or digits < 2 or digits * 4 < letters or len(value) > 40:
        return False
    if not letters and digits < 4:
        return False
    if end < len(data) and (data[end] in b"(@" or data[end] >= 0x80):
        return False
    if (start and data[start - 1] in _PRICE_BEFORE) or _AFTER.match(data, end):
        return False
    if _looks_like_something_else(value):
        return False
    return explicit or not _year(value)


def has_enough_digits(value: bytes) -> bool:
    """Returns whether a value has enough digits to count after a word that is not a label for numbers."""
    digits = sum(0x30 <= byte <= 0x39 for byte in value)
    return digits >= 5 or (digits >= 3 and any(0x41 <= byte <= 0x5A for byte in value))


def is_distinctive(value: bytes, *, booking: bool = False, case: bool = False) -> bool:
    """Returns whether a value is distinctive enough to need neither a sign nor "number" before it.

    Such values are long, contain more than digits, and have no lower-case letters. `booking` also accepts codes of six
    capitals and digits, `case` numbers with a year.
    """
    text = value.decode("utf-8", "replace")
    if text.upper() != text:
        return False
    digits = sum(char.isdigit() for char in text)
    if booking and len(text) == 6 and 0 < digits < 6 and text.isalnum():
        return True
    if case and _OF_YEAR.fullmatch(text):
        return True
    if _NOT_IDENTIFIERS.match(text):
        return False
    capital = any(char.isupper() for char in text)
    return digits >= (6 if capital else 8) and (capital or _PARTED.search(text) is not None)


def _year(value: str) -> bool:
    return len(value) == 4 and value.isdigit() and 1900 <= int(value) <= 2099


def _looks_like_something_else(value: str) -> bool:
    if _CLOCK_OR_PRICE.fullmatch(value) or _VERSION.fullmatch(value) or _HEX.fullmatch(value):
        return True
    if _IN_CODE.fullmatch(value) or _SAMPLE.fullmatch(value):
        return True
    return _is_day(value)


def _is_day(value: str) -> bool:
    parts = _DATE.fullmatch(value)
    if parts is None:
        return False
    first, second, third = int(parts[1]), int(parts[3]), int(parts[4])
    year = third if third > 31 else third + 2000
    orders = ((first, second, third), (year, second, first), (year, first, second))
    return any(is_date(*order) for order in orders)
