"""Generalizes values: a date to its year, a postcode to its area, an IP address to its network, an age to a band.

An ambiguous or unparsable value yields None, and the caller redacts it: keeping it would reveal it, and a guess could
be wrong.
"""

import ipaddress
import re
from datetime import date
from itertools import pairwise

from gateway.detection.normalized_text import normalize_text

# Three-digit ZIP areas with 20,000 people or fewer (2000 census): 000 under 45 CFR 164.514(b)(2)(i)(B).
# Source: HHS, "Guidance Regarding Methods for De-identification of Protected Health Information", 2012.
_SMALL_ZIP_AREA = re.compile("036|059|063|102|203|556|692|790|821|823|830|831|878|879|884|890|893")

_BANDS = (0, 18, 30, 40, 50, 60, 70, 80, 90)
_OLDEST_AGE = 130

# Words that occur next to an age in years. With any other word, the number may count something else.
_YEARS = re.compile(
    "aged?|years?|yrs?|y|yo|o|old|"
    "jahre?|jährig(?:e[rn]?)?|alt|alter|im|von|"
    "ans?|âgée?|de|años?|edad|ann[io]|età|anos?|idade|"
    "jaar|oud|lat|lata|roku?|år|gammal|gammel"
)
_PER_YEAR = {
    **dict.fromkeys(("month", "months", "mo", "mos", "mth", "mths"), 12),
    **dict.fromkeys(("week", "weeks", "wk", "wks"), 52),
    **dict.fromkeys(("day", "days"), 365),
}

# Ages in English words, the language of the rule for those over 89.
_ONE_TO_NINETEEN = """
one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen
"""
_ONES = {word: number for number, word in enumerate(_ONE_TO_NINETEEN.split(), 1)}
_TWENTY_TO_NINETY = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: 10 * number for number, word in enumerate(_TWENTY_TO_NINETY.split(), 2)}

_AREAS = tuple(
    (re.compile(form), area)
    for form, area in (
        (r"(\d{3})\d{2}(?:-? ?\d{4})?", r"\1**"),  # United States, and every other code of five digits
        (r"([A-Z]{1,2}\d[A-Z\d]?) ?\d[A-Z]{2}", r"\1"),  # United Kingdom: the outward code
        (r"([A-Z]\d[A-Z])[ -]?\d[A-Z]\d", r"\1 ***"),  # Canada: the forward sortation area
        (r"(\d{2})\d{2}(?: ?[A-Z]{2})?", r"\1**"),  # four digits; the Netherlands add two letters
        (r"(\d{2})-\d{3}", r"\1-***"),  # Poland
        (r"(\d{2})\d{2}-\d{3}", r"\1**-***"),  # Portugal
        (r"(\d{3})-\d{4}", r"\1-****"),  # Japan
        (r"(\d{3}) ?\d{3}", r"\1***"),  # six digits: India, China, Singapore
        (r"(\d{3})\d{2}-\d{3}", r"\1**-***"),  # Brazil
    )
)

_KIND_OF_WORD = {
    "year": ("DATE", "TIME", "BIRTH", "DOB"),
    "band": ("AGE",),
    "area": ("POSTAL", "POSTCODE", "ZIP", "PLZ"),
    "network": ("IP",),
}


def default_generalization(type: str) -> str | None:
    """Returns the default generalization for a type; None if there is none."""
    words = set(type.split("_"))
    return next((kind for kind, marks in _KIND_OF_WORD.items() if words.intersection(marks)), None)


def generalize(type: str, value: str, *, to: str | None = None, oldest_year: int | None = None) -> str | None:
    """Returns the generalized value, or None if `value` does not parse as its type or `to` requires."""
    plain = normalize_text(value).data.decode().strip()
    kind = to or default_generalization(type)
    if kind == "year":
        return _year(plain, oldest_year)
    if kind == "area":
        return _area(plain)
    if kind == "network":
        return _network(plain)
    if kind in ("band", "age_90"):
        age = _age(plain)
        if age is None:
            return None
        if kind == "age_90" and age < _BANDS[-1]:
            return plain
        return _band(age)
    return None


def _year(text: str, oldest: int | None) -> str | None:
    """Returns the year, or the first and last year of a period. Merges `oldest` and all earlier years."""
    years = {int(year) for year in re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", text)}
    for digits in re.findall(r"(?<!\d)\d{8}(?!\d)", text):
        years |= _years_in_digits(digits)
    if not 1 <= len(years) <= 2:
        return None
    first, last = min(years), max(years)
    if oldest is not None and first <= oldest:
        return f"{oldest} or earlier"
    return str(first) if first == last else f"{first}–{last}"


def _years_in_digits(digits: str) -> set[int]:
    """Parses the year of YYYYMMDD, DDMMYYYY or MMDDYYYY. Unambiguous, because no month is 19 or 20."""
    first, last = digits[:4], digits[4:]
    readings = [
        (first, digits[4:6], digits[6:]),
        (last, digits[2:4], digits[:2]),
        (last, digits[:2], digits[2:4]),
    ]
    years: set[int] = set()
    for year, month, day in readings:
        if not 1900 <= int(year) <= 2099:
            continue
        try:
            years.add(date(int(year), int(month), int(day)).year)
        except ValueError:
            continue
    return years


def _area(text: str) -> str | None:
    """Returns the part of a postcode that identifies a region, with `*` for the rest."""
    code = " ".join(text.upper().split())
    for form, area in _AREAS:
        if match := form.fullmatch(code):
            return match.expand("000**" if _SMALL_ZIP_AREA.fullmatch(match[1]) else area)
    return None


def _network(text: str) -> str | None:
    """Returns the /24 of an IPv4 address or the /48 of an IPv6 address. Keeps networks of at least that size."""
    bare = text.removeprefix("[").removesuffix("]")
    address, slash, size = bare.partition("/")
    try:
        found = ipaddress.ip_interface(address.partition("%")[0] + slash + size)
    except ValueError:
        return None
    if isinstance(found, ipaddress.IPv6Interface) and found.ip.ipv4_mapped is not None:
        found = ipaddress.ip_interface(found.ip.ipv4_mapped)
    network = found.network
    most = 24 if network.version == 4 else 48
    return str(network if network.prefixlen <= most else network.supernet(new_prefix=most))


def _age(text: str) -> int | None:
    """Parses an age in whole years."""
    numbers = re.findall(r"\d+", text)
    words = re.findall(r"[^\W\d_]+", text.lower())
    if not numbers and (spelled := [word for word in words if word in _ONES or word in _TENS]):
        is_one = len(spelled) == 1 or (len(spelled) == 2 and spelled[0] in _TENS and _ONES.get(spelled[1], 10) < 10)
        numbers = [str(sum(_ONES.get(word, 0) + _TENS.get(word, 0) for word in spelled))] if is_one else []
        words = [word for word in words if word not in spelled]
    if len(numbers) != 1 or len(numbers[0]) > 5 or re.search(r"\d[.,]\d", text):
        return None
    number = int(numbers[0])
    units = {_PER_YEAR[word] for word in words if word in _PER_YEAR}
    if len(units) > 1 or any(word not in _PER_YEAR and not _YEARS.fullmatch(word) for word in words):
        return None
    age = number // units.pop() if units else number
    return age if age <= _OLDEST_AGE else None


def _band(age: int) -> str:
    for low, high in pairwise(_BANDS):
        if age < high:
            return f"{low}–{high - 1}"
    return f"{_BANDS[-1]}+"
