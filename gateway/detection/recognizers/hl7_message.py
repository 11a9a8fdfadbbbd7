"""Messages between hospital systems (HL7 version 2.5.1, chapters 3, 4 and 6): segments of fields separated by bars,
whose position determines their meaning.
"""

import re
from collections.abc import Iterator, Sequence

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import EntityType, Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._id_labels import LABELS
from gateway.detection.recognizers.date_of_birth import DATE_OF_BIRTH
from gateway.detection.recognizers.person_name import PERSON
from gateway.detection.recognizers.phone import PHONE_NUMBER
from gateway.detection.recognizers.postal_address import STREET_ADDRESS
from gateway.detection.recognizers.us_identifiers import US_DRIVER_LICENSE, US_SSN

_HAS = {
    PERSON: re.compile(rb"[^\W\d_]{2}|[\x80-\xff]"),
    DATE_OF_BIRTH: re.compile(rb"(?:19|20)\d\d(?:0[1-9]|1[0-2])"),
    PHONE_NUMBER: re.compile(rb"\d[^|]*\d[^|]*\d[^|]*\d"),
    STREET_ADDRESS: re.compile(rb"[^\W\d_]{2}|[\x80-\xff]"),
}
_ANYTHING = re.compile(rb"[A-Za-z0-9]")
_SEGMENTS: dict[bytes, dict[int, EntityType]] = {
    b"PID": {
        **dict.fromkeys((2, 3, 4, 21), LABELS["MEDICAL_RECORD_NUMBER"].type),
        **dict.fromkeys((5, 6, 9), PERSON),
        **dict.fromkeys((13, 14), PHONE_NUMBER),
        7: DATE_OF_BIRTH,
        11: STREET_ADDRESS,
        18: LABELS["ACCOUNT_NUMBER"].type,
        19: US_SSN,
        20: US_DRIVER_LICENSE,
    },
    b"NK1": {2: PERSON, 4: STREET_ADDRESS, 5: PHONE_NUMBER, 6: PHONE_NUMBER},
    b"GT1": {
        **dict.fromkeys((3, 4), PERSON),
        **dict.fromkeys((6, 7), PHONE_NUMBER),
        5: STREET_ADDRESS,
        8: DATE_OF_BIRTH,
        12: US_SSN,
    },
    b"IN1": {16: PERSON, 18: DATE_OF_BIRTH, 19: STREET_ADDRESS, 36: LABELS["INSURANCE_NUMBER"].type},
    b"PV1": {**dict.fromkeys((7, 8, 9, 17), PERSON), 19: LABELS["MEDICAL_RECORD_NUMBER"].type},
    b"ORC": {12: PERSON},
    b"OBR": {16: PERSON},
}
_NAMES = "|".join(name.decode() for name in _SEGMENTS)
_SEGMENT = compile_pattern(rf"(?m)(?:^|[\r\n\t ])(?:{_NAMES})\|[^\r\n]+", captures=False)
_LAST = 40
"""The last field that may contain private text."""


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    if not normalized.source:
        return  # deobfuscation may have removed bars and line ends
    data = normalized.data
    for segment in _SEGMENT.finditer(data):
        start, end = segment.span()
        start = data.index(b"|", start) - 3
        held = _SEGMENTS[data[start : start + 3]]
        at = start
        for number, field in enumerate(data[start:end].split(b"|", _LAST)):
            kind = held.get(number)
            if kind is not None and _HAS.get(kind, _ANYTHING).search(field):
                yield Match(at, at + len(field), 0.85, kind.name)
            at += len(field) + 1


_PID = (
    "PID|1||PATID1234^5^M11||JONES^WILLIAM^A^III||19610615|M|||1 MAIN ST^^AKRON^OH^44306||(216)555-0107|||S||"
    "10006579|123456780|987654^NC"
)

RECOGNIZERS = (
    FunctionRecognizer(
        "hl7_message",
        tuple(dict.fromkeys(kind for held in _SEGMENTS.values() for kind in held.values())),
        (rf"(?:{_NAMES})\|[^\r\n|]*\|[^\r\n|]*\|",),
        _find,
        examples=(
            Example(_PID, "JONES^WILLIAM^A^III", "PERSON"),
            Example(_PID, "PATID1234^5^M11", "MEDICAL_RECORD_NUMBER"),
            Example(_PID, "19610615", "DATE_OF_BIRTH"),
            Example(_PID, "1 MAIN ST^^AKRON^OH^44306", "STREET_ADDRESS"),
            Example(_PID, "123456780", "US_SSN"),
            Example("MSH|^~\\&|A\rNK1|1|DUCK^DAISY|SPO\rPV1|1|I", "DUCK^DAISY", "PERSON"),
            Example("PV1|1|I|2000^2012^01||||004777^ATTEND^AARON^A|||SUR", "004777^ATTEND^AARON^A", "PERSON"),
        ),
        counter_examples=("| PID | USER | CMD |\n|---|---|---|\n| 412 | root | init |", "kill PID|grep it", "PID|1|||"),
    ),
)
