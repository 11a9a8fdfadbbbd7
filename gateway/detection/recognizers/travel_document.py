"""The machine-readable zone of passports, visas and identity cards (ICAO Doc 9303), line by line: name, number, dates
of birth and expiry, separated by fillers.
"""

import re

from gateway.detection.recognizer import EntityType
from gateway.detection.recognizers._checks import icao_digit
from gateway.detection.recognizers._pattern_table import pattern_table

TRAVEL_DOCUMENT_ZONE = EntityType(
    "TRAVEL_DOCUMENT_ZONE", "government_id", "A line of the machine-readable zone of a passport, visa or identity card."
)

_DATES = re.compile(r"(\d{6})(\d)[A-Z<]{0,3}[MFX<](\d{6})(\d)")
_NUMBER = re.compile(r"[A-Z][A-Z<][A-Z<]{3}([A-Z0-9<]{9})(\d)")


def _dated(value: str) -> bool | None:
    """Verifies the check digits of both dates. With fillers, the form suffices."""
    dates = _DATES.search(value)
    if "<<" in value:
        return None
    return bool(dates and icao_digit(dates[1]) == dates[2] and icao_digit(dates[3]) == dates[4])


def _numbered(value: str) -> bool:
    """Verifies the check digit of the document number."""
    number = _NUMBER.match(value)
    return bool(number and icao_digit(number[1]) == number[2])


RECOGNIZERS = pattern_table(__file__, (TRAVEL_DOCUMENT_ZONE,), {"dated": _dated, "numbered": _numbered})
