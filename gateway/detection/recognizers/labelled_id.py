"""Identifiers without a pattern of their own, found by their labels: "customer no.: K-4711", "Kundennummer 4711 23",
"n° de dossier est 2023/118", `"employee_id": "E00712"`, <PatientId>00412</PatientId>. The labels are in
`labelled_id.toml`, put together from things ("customer") and words for "number".

The value must have enough digits and must not be a date, price, version, hash or program identifier. Numbers of orders,
invoices and tickets are candidates (0.4), which strict mode hides.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

from pydantic import AfterValidator, BaseModel

from gateway.detection.data_files import Expressions, expand, one_line, read_toml
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.prefilter import PatternSet
from gateway.detection.recognizer import EntityType, Match, compile_pattern
from gateway.detection.recognizers._checks import is_date
from gateway.detection.recognizers._samples import with_examples

type Alternatives = Annotated[str, AfterValidator(one_line)]


class Label(BaseModel, extra="forbid", frozen=True):
    """The labels of values of one type: the numbered things, in groups that combine differently with the word for
    "number".

    `alone` needs no such word, nor does `abroad`, in other scripts. `named` are the things themselves, which a sign or
    "is" and a number follow: "Passport: X1234567". `score` applies to a value after a colon or "is".
    """

    name: str
    group: str
    description: str
    score: float
    english: Alternatives = ""
    german: Alternatives = ""
    dutch: Alternatives = ""
    romance: Alternatives = ""
    nordic: Alternatives = ""
    polish: Alternatives = ""
    turkish: Alternatives = ""
    alone: Alternatives = ""
    abroad: Alternatives = ""
    named: Alternatives = ""

    @property
    def type(self) -> EntityType:
        return EntityType(self.name, self.group, self.description)


_DATA = read_toml(__file__)
_FORMS = {name: one_line(expand(form, _DATA["parts"])) for name, form in _DATA["forms"].items()}
LABELS = {name: Label.model_validate({"name": name, **content}) for name, content in _DATA["labels"].items()}


def label_expression(labels: Iterable[Label]) -> str:
    """Returns one expression for all of `labels`."""
    labels = tuple(labels)
    things = {name: "|".join(filter(None, (getattr(label, name) for label in labels))) for name in _FORMS}
    return "|".join(form.replace("%s", things[name]) for name, form in _FORMS.items() if things[name])


_LABELS = tuple(LABELS.values())
_EXPRESSIONS = Expressions(
    {
        **_DATA["expressions"],
        "labels": label_expression(_LABELS),
        "things": "|".join(label.named for label in _LABELS if label.named),
        "booking": label_expression([LABELS["BOOKING_REFERENCE"]]),
    }
)
_VALUE, _OTHER_QUANTITY, _EXPLICIT = _EXPRESSIONS.re2("value", "other_quantity", "explicit")
_DAY, _CLOCK_OR_PRICE, _VERSION = _EXPRESSIONS.of_text("date", "clock_or_price", "version")
_HEX, _IN_CODE, _NOT_IDENTIFIERS = _EXPRESSIONS.of_text("hex", "in_code", "not_identifiers")
_AFTER, _NEXT = re.compile(_EXPRESSIONS["after"].encode(), re.IGNORECASE), re.compile(_EXPRESSIONS["next"].encode())
_PARTED = re.compile(r"[./\-]")
_OF_YEAR = re.compile(r"\d{2,6}/(?:19|20)\d\d")
_SAMPLE = re.compile(r"(\w)\1*|[Xx0]+")
_PRICE_BEFORE = frozenset(b"$%\xa3\xac\xa5")
_DIGIT = re.compile(rb"\d")
_MAX_DISTANCE = 90
"""Maximum bytes from the start of the label to the first digit of the value."""

_PLACES = (
    compile_pattern(_EXPRESSIONS["numbered"]),
    compile_pattern(_EXPRESSIONS["booked"]),
    compile_pattern(_EXPRESSIONS["stated"] + _EXPRESSIONS["head"]),
)
_BOOKED_ONLY, _NAMED = 1, 2
_SEARCHED = ((0, _BOOKED_ONLY), (_NAMED,))
"""The expressions for each prefilter."""
_BY_NAME = tuple(label for label in _LABELS if label.named)
_ANNOUNCED = PatternSet([rf"(?i)\A(?:{label_expression([label])})\z" for label in _LABELS])
_NAMED_ALONE = PatternSet([rf"(?i)\A(?:{label.named})\z" for label in _BY_NAME])
_AMBIGUOUS = frozenset(b"application applications autos cups permit pod ref reference sag sak".split())
"""Words with so many meanings that even after a sign only a distinctive number counts."""


_LABEL = rf"(?:\b|_|\W|\A)(?i:{_EXPRESSIONS['labels']})"


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    data = normalized.data
    for number in (number for hit in hits for number in _SEARCHED[hit]):
        places = _PLACES[number]
        at = 0
        while place := places.search(data, at):
            at = place.end(1)
            start = place.start(2)
            if start - place.start(1) > _MAX_DISTANCE:
                continue
            value = _VALUE.match(data, start)
            label = _label(place[1].lower(), named=number == _NAMED)
            if value is None or label is None:
                continue
            if _OTHER_QUANTITY.search(data, place.end(1), start) or data[place.start(1) - 1 : start].startswith(
                b":%b:`" % place[1]
            ):
                continue  # also excludes reStructuredText roles
            explicit = _EXPLICIT.search(data, place.end(1), start) is not None or place[1].endswith(b"#")
            end = value.end()
            booking = label.name == "BOOKING_REFERENCE"
            if number == _NAMED and not (
                is_distinctive(
                    data[start:end], booking=label.name == "BOOKING_REFERENCE", case=label.name == "CASE_NUMBER"
                )
                if data[place.end(1) : start] == b" " or place[1].lower() in _AMBIGUOUS
                else has_enough_digits(data[start:end])
            ):
                continue
            booked = booking and is_distinctive(data[start:end], booking=True)
            if number == _BOOKED_ONLY or booked or plausible(data, start, end, explicit=explicit):
                sure = explicit and number != _NAMED
                sure |= label.name == "REFERENCE_NUMBER" and number == _NAMED
                score = label.score if sure else label.score - 0.1
                yield Match(start, end, score, label.name)
                for at in _listed(data, start, end):
                    yield Match(at, at + end - start, score, label.name)
                at = end


def _listed(data: bytes, start: int, end: int) -> Iterator[int]:
    """Yields the starts of the values after the first in a list, as long as they have its form."""
    form, size = _DIGIT.sub(b"0", data[start:end]), end - start
    while (
        size > len("2024")
        and (sign := _NEXT.match(data, end))
        and _DIGIT.sub(b"0", data[sign.end() : sign.end() + size]) == form
    ):
        end = sign.end() + size
        if data[end : end + 1].isalnum():
            return
        yield sign.end()


def _label(text: bytes, *, named: bool) -> Label | None:
    """Returns the label that a text matches."""
    known, scan = (_BY_NAME, _NAMED_ALONE) if named else (_LABELS, _ANNOUNCED)
    hits = scan.hits(text)
    return known[min(hits)] if hits else None


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
    others = (_CLOCK_OR_PRICE, _VERSION, _HEX, _IN_CODE, _SAMPLE)
    if any(other.fullmatch(value) for other in others) or _is_day(value):
        return False
    return explicit or not (len(value) == 4 and value.isdigit() and 1900 <= int(value) <= 2099)


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


def _is_day(value: str) -> bool:
    parts = _DAY.fullmatch(value)
    if parts is None:
        return False
    first, second, third = int(parts[1]), int(parts[3]), int(parts[4])
    year = third if third > 31 else third + 2000
    orders = ((first, second, third), (year, second, first), (year, first, second))
    return any(is_date(*order) for order in orders)


RECOGNIZERS = (
    with_examples(
        __file__,
        "labelled.id",
        (label.type for label in _LABELS),
        (_LABEL, _EXPRESSIONS["stated"]),
        _find,
        by_label=True,
    ),
)
