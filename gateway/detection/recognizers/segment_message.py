"""Messages of hospitals, insurers and trade (HL7, X12, EDIFACT) and address cards (vCard): segments of fields, whose
position determines their meaning. `segment_message.toml` describes them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache

from pydantic import BaseModel

from gateway.detection.data_files import read_toml
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.re2_expression import Expression
from gateway.detection.recognizer import Match, compile_pattern
from gateway.detection.recognizers._numbers.number import is_number
from gateway.detection.recognizers._pattern_table import table_types
from gateway.detection.recognizers._samples import with_examples
from gateway.detection.recognizers.labelled_id import LABELS
from gateway.detection.recognizers.person_name import PERSON
from gateway.detection.recognizers.phone import PHONE_NUMBER
from gateway.detection.recognizers.postal_address import STREET_ADDRESS

_HAS_LETTERS = re.compile(rb"[A-Za-z]{2}|[\x80-\xff]")
_HAS_DIGITS = re.compile(rb"\d")
_FORMS = {
    PERSON.name: _HAS_LETTERS,
    "DATE_OF_BIRTH": re.compile(rb"(?:19|20)\d\d-?(?:0[1-9]|1[0-2])"),
    PHONE_NUMBER.name: re.compile(rb"\d(?:\D*\d){3}"),
    STREET_ADDRESS.name: _HAS_LETTERS,
    "EMAIL_ADDRESS": re.compile(rb"@"),
}
"""The characters that a field of a type must contain."""
_TABLES = tuple(
    table_types(__file__, table)[name]
    for table, *names in (
        ("date_of_birth", "DATE_OF_BIRTH"),
        ("postal_code", "POSTAL_CODE"),
        ("email", "EMAIL_ADDRESS"),
        ("us_identifiers", "US_SSN", "US_DRIVER_LICENSE"),
    )
    for name in names
)

_OTHERS = (PERSON, PHONE_NUMBER, STREET_ADDRESS, *_TABLES)
_TYPES = {one.name: one for one in (*_OTHERS, *(label.type for label in LABELS.values()))}
# Messages written by hand lack or repeat a field. Names and addresses in parts, and dates, show it.
_PARTED = re.compile(rb"[A-Za-z]{2,}\^[A-Za-z]|\d.*\^\^")
_UNMISTAKABLE = {PERSON.name: _PARTED, STREET_ADDRESS.name: _PARTED, "DATE_OF_BIRTH": re.compile(rb"(?:19|20)\d{6}")}
_NINE_DIGITS = re.compile(rb"(\d{9})(?:\^.*)?")
_OF_PEOPLE = frozenset({b"PID", b"NK1", b"GT1", b"IN1", b"IN2"})


type _Spans = Mapping[str, tuple[int, int]]  # by place, as `2.3`


class _Format(BaseModel, extra="forbid", frozen=True):
    """A format, as the head of `segment_message.toml` describes it."""

    prefilter: str
    element: str
    end: str
    component: str = ""
    escape: str = ""
    declared: str = ""
    after: str = ""
    kinds: Mapping[str, str] = {}
    segments: Mapping[str, str]

    def of(self, data: bytes) -> "_Format":
        """Returns the format with the separators that a message declares."""
        found = re.search(self.declared, data.decode("latin-1"), re.DOTALL) if self.declared else None
        return self.model_copy(update=found.groupdict()) if found else self

    def expression(self) -> Expression:
        """Returns what finds segments: their names and contents."""
        other = rf"|{re.escape(self.escape)}[^\r\n]" if self.escape else ""
        return _compiled(
            rf"(?:\A|[\s.\"{re.escape(self.end)}])({'|'.join(self.segments)}){self.after or re.escape(self.element)}"
            rf"((?:[^{re.escape(self.end + self.escape)}]{other})+)"
        )

    def spans(self, data: bytes, at: int, end: int) -> _Spans:
        """Returns where the elements of a segment are, and their components. Escaped separators separate nothing."""
        content = data[at:end]
        if self.escape.strip():
            content = re.sub(re.escape(self.escape.encode()) + b".", b"\0\0", content)
        spans: dict[str, tuple[int, int]] = {}
        for number, element in enumerate(content.split(self.element.encode()), 1):
            spans[str(number)] = at, at + len(element)
            first = at
            for part, component in enumerate(element.split(self.component.encode()) if self.component else (), 1):
                spans[f"{number}.{part}"] = first, first + len(component)
                first += len(component) + 1
            at += len(element) + 1
        return spans

    def named(self, data: bytes, start: int, end: int) -> str:
        """Returns the type that a code names, or nothing."""
        code = data[start:end].decode("utf-8", "replace")
        return next((name for name, codes in self.kinds.items() if code in codes.split()), "")


_FORMATS = tuple(_Format.model_validate(each) for name, each in read_toml(__file__).items() if name != "examples")
_compiled = lru_cache(64)(compile_pattern)


@cache
def _fields(spec: str) -> Sequence[tuple[str, str]]:
    """Returns types, or `@` and the place of what names the type, with the place of the value."""
    return [(group[0], place) for group in map(str.split, spec.split(",")) for place in group[1:]]


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    if not normalized.source:
        return  # deobfuscation may have removed separators and line ends
    data = normalized.data
    for format in (_FORMATS[hit].of(data) for hit in hits):
        for segment in format.expression().finditer(data):
            spans = format.spans(data, *segment.span(2))
            fields = _fields(format.segments[segment[1].decode()])
            for type_name, place in fields if format.kinds or format.component else _shifted(data, spans, fields):
                start, end = spans.get(place, (0, 0))
                held = format.named(data, *spans.get(type_name[1:], (0, 0))) if type_name[0] == "@" else type_name
                if held and _FORMS.get(held, _HAS_DIGITS).search(data, start, end):
                    yield Match(start, end, 0.85, held)
            if segment[1] in _OF_PEOPLE:
                # Versions of HL7 have social security numbers in different fields.
                nine = ((span, _NINE_DIGITS.fullmatch(data, *span)) for span in spans.values())
                yield from (
                    Match(*span, 0.6, "US_SSN")
                    for span, found in nine
                    if found and is_number("US_SSN", found[1].decode())
                )


def _shifted(data: bytes, spans: _Spans, fields: Sequence[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    """Returns the fields of a segment, moved by one element if more of them then hold what they should."""
    candidates = [[(name, str(int(place) + shift)) for name, place in fields] for shift in (0, 1, -1)]
    forms = [[(_UNMISTAKABLE.get(name), spans.get(place, (0, 0))) for name, place in moved] for moved in candidates]
    hits = [sum(form is not None and form.match(data, *span) is not None for form, span in moved) for moved in forms]
    return candidates[hits.index(max(hits))]


RECOGNIZERS = (
    with_examples(
        __file__,
        "segment_message",
        _TYPES.values(),
        (one.prefilter.replace("<<names>>", "|".join(one.segments)) for one in _FORMATS),
        _find,
        by_label=True,
    ),
)
