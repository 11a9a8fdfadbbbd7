"""The machine-readable zone of passports, visas and identity cards (ICAO Doc 9303), line by line: name, number, dates
of birth and expiry, separated by fillers.
"""

import re

from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer

TRAVEL_DOCUMENT_ZONE = EntityType(
    "TRAVEL_DOCUMENT_ZONE", "government_id", "A line of the machine-readable zone of a passport, visa or identity card."
)

_DATES = re.compile(r"(\d{6})(\d)[A-Z<]{0,3}[MFX<](\d{6})(\d)")
_NUMBER = re.compile(r"[A-Z][A-Z<][A-Z<]{3}([A-Z0-9<]{9})(\d)")
_NAMES = r"[A-Z]+(?:<[A-Z]+)*<<[A-Z]+(?:<[A-Z]+)*<{2,}"


def _digit(field: str) -> str:
    """Computes the check digit: weights 7, 3, 1; A is 10, fillers are 0."""
    values = (0 if char == "<" else int(char, 36) for char in field)
    return str(sum(value * (7, 3, 1)[at % 3] for at, value in enumerate(values)) % 10)


def _dated(value: str) -> bool | None:
    """Verifies the check digits of both dates. With fillers, the form suffices."""
    dates = _DATES.search(value)
    if "<<" in value:
        return None
    return bool(dates and _digit(dates[1]) == dates[2] and _digit(dates[3]) == dates[4])


def _numbered(value: str) -> bool:
    """Verifies the check digit of the document number."""
    number = _NUMBER.match(value)
    return bool(number and _digit(number[1]) == number[2])


RECOGNIZERS = (
    PatternRecognizer(
        "travel_document.names",
        TRAVEL_DOCUMENT_ZONE,
        (Pattern(rf"\b[PVIAC][A-Z<][A-Z]{{3}}{_NAMES}", 0.9), Pattern(rf"(?m)^{_NAMES}$", 0.7)),
        blobs=True,
        examples=(
            Example("P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<", "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<"),
            Example("front\nERIKSSON<<ANNA<MARIA<<<<<<<<<<\nback", "ERIKSSON<<ANNA<MARIA<<<<<<<<<<"),
        ),
        counter_examples=("MASK<<BITS", "x = FLAG<<SHIFT<<1;", "<<EOF"),
    ),
    PatternRecognizer(
        "travel_document.dates",
        TRAVEL_DOCUMENT_ZONE,
        (
            Pattern(r"\b[A-Z0-9<]{9}[\d<][A-Z<]{3}\d{7}[MFX<]\d{7}[A-Z0-9<]{8,16}", 0.9, prefilter=r"\d{7}[MFX<]\d{7}"),
            Pattern(r"\b\d{7}[MFX<]\d{7}[A-Z<]{3}[A-Z0-9<]{11}\d\b", 0.9),
        ),
        validator=_dated,
        blobs=True,
        examples=(
            Example("L898902C36UTO7408122F1204159ZE184226B<<<<<10", "L898902C36UTO7408122F1204159ZE184226B<<<<<10"),
            Example("7408122F1204159UTO<<<<<<<<<<<6", "7408122F1204159UTO<<<<<<<<<<<6"),
        ),
        counter_examples=("L898902C36UTO7408123F1204159ZE184226B1234510",),
    ),
    PatternRecognizer(
        "travel_document.number",
        TRAVEL_DOCUMENT_ZONE,
        (Pattern(r"\b[IAC][A-Z<][A-Z<]{3}[A-Z0-9<]{9}\d[A-Z0-9<]{7,}<{4,}", 0.9, prefilter=r"<{4}"),),
        validator=_numbered,
        blobs=True,
        examples=(Example("I<UTOD231458907<<<<<<<<<<<<<<<", "I<UTOD231458907<<<<<<<<<<<<<<<"),),
        counter_examples=("I<UTOD231458908<<<<<<<<<<<<<<<",),
    ),
)
