"""Identifiers without a pattern of their own, found by their labels: "customer no.: K-4711", "Kundennummer 4711 23",
"n° de dossier est 2023/118", `"employee_id": "E00712"`, <PatientId>00412</PatientId>.

The value must have enough digits and must not be a date, price, version, hash or program identifier. Numbers of orders,
invoices and tickets are candidates (0.4), which strict mode hides.
"""

import re
from collections.abc import Iterator, Sequence

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.prefilter import PatternSet
from gateway.detection.recognizer import Match, compile_pattern
from gateway.detection.recognizers._id_labels import LABELS, Label, label_expression, thing_expression
from gateway.detection.recognizers._id_values import VALUE, has_enough_digits, is_distinctive, plausible
from gateway.detection.recognizers._samples import with_examples

_COPULA = r"(?:is|was|are|reads|to|ist|war|lautet|est|était|es|era|è|é|foi|are|sono|has been|wurde)"
_IN_CHARACTERS = "[是为為は]"
# Between label and value: signs of forms, JSON, XML and tables, or some words and "is".
_BETWEEN = (
    r"""(?:\.?(?:[ \t]+[^\s\d:=,;.<>|"]+){0,4}(?:[ \t]+"""
    + _COPULA
    + r"""|[ \t]*[:=#])[ \t"'*`:#(]{1,5}(?:(?:le|la|the|der|die|das|el|il|o|het) )?"""
    r"""|[.\s"'`*_:=#()\[\]>|/-]{0,10}"""
    rf"|[ ]?{_IN_CHARACTERS}[ :]{{0,3}}"
    r"""|</[\w:]+>\s*<[\w:]+[^<>]*>\s*"""
    r"""|"\s+(?:[\w-]+="[^"<>\n]*"\s+)?(?:value|content)=")"""
    r"(?:(?i:n[°ºo]\.?|#|№)[ \t]?)?"
)
_HEAD = r"((?:[A-Z]{1,4} )?(?:[A-Za-z]{1,6}[\-/_.#]?){0,2}\d)"
# RE2 sees a boundary of words only next to ASCII.
_START = r"(?:\b|_|\W|\A)"
_LABELS = tuple(LABELS.values())
_ANY_LABEL = label_expression(_LABELS)
# The thing itself, a sign or "is", then a number. Without a sign, only a distinctive number counts.
_STATED = (
    rf"{_START}((?i:{thing_expression(_LABELS)}))(?:[\"'*_`]{{0,3}}[ \t]{{0,3}}[:=#][ \t\"'*`#]{{0,4}}"
    rf"|[ \t]+(?i:{_COPULA})[ \t:]+|[ ])"
)
_LABEL = rf"{_START}(?i:{_ANY_LABEL})"
_NUMBERED = rf"{_START}((?i:{_ANY_LABEL}))(?i:{_BETWEEN}){_HEAD}"
_BOOKED = (
    rf"(?:\b|_)((?i:{label_expression([LABELS['BOOKING_REFERENCE']])}))(?i:{_BETWEEN})"
    r"([A-Z]{6})\b"
)

# "The file number limit is 1024": the label does not announce this number.
_OTHER_QUANTITY = compile_pattern(
    r"(?i)\b(?:limit|count|length|format|prefix|suffix|range|size|field|column|max(?:imum)?|min(?:imum)?|digits?"
    r"|rate|total|rose|fell"
    r"|grew|between|about|over|under|than|more|up|down)\b"
)
_DIGIT = re.compile(rb"\d")
_NEXT = re.compile(rb"(?:[,;]|[,;]?\s(?:and|or|und|oder|et|ou|y|o|e|en|of|og|och|i|&))\s{1,2}|/(?=\w{4})")
_MAX_DISTANCE = 90
"""Maximum bytes from the start of the label to the first digit of the value."""

_PLACES = (compile_pattern(_NUMBERED), compile_pattern(_BOOKED), compile_pattern(_STATED + _HEAD))
_BOOKED_ONLY, _NAMED = 1, 2
_SEARCHED = ((0, _BOOKED_ONLY), (_NAMED,))
"""The expressions for each prefilter."""
_BY_NAME = tuple(label for label in _LABELS if label.named)
_ANNOUNCED = PatternSet([rf"(?i)\A(?:{label_expression([label])})\z" for label in _LABELS])
_NAMED_ALONE = PatternSet([rf"(?i)\A(?:{label.named})\z" for label in _BY_NAME])
_AMBIGUOUS = frozenset(b"application applications autos cups permit pod ref reference sag sak".split())
"""Words with so many meanings that even after a sign only a distinctive number counts."""
_EXPLICIT = compile_pattern(rf"(?i)[:=#>|]|\b{_COPULA}\b|{_IN_CHARACTERS}")


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
            value = VALUE.match(data, start)
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


RECOGNIZERS = (with_examples(__file__, "labelled.id", (label.type for label in _LABELS), (_LABEL, _STATED), _find),)
