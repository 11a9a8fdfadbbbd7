"""Geographic coordinates (ISO 6709, RFC 5870). With enough decimals, they amount to a home address."""

import re

from gateway.detection.recognizer import EntityType
from gateway.detection.recognizers._pattern_table import pattern_table

COORDINATES = EntityType("COORDINATES", "address", "A place given by latitude and longitude.")

_NUMBERS = re.compile(r"\d+(?:\.\d+)?")


def _on_earth(value: str) -> bool | None:
    """Checks for at most 90 and 180 degrees, and for enough decimals to tell a street from a city."""
    latitude, longitude = (float(part) for part in _NUMBERS.findall(value)[:2])
    decimals = min(len(part.partition(".")[2]) for part in _NUMBERS.findall(value)[:2])
    return None if latitude <= 90 and longitude <= 180 and (latitude or longitude) and decimals >= 3 else False


RECOGNIZERS = pattern_table(__file__, (COORDINATES,), {"on_earth": _on_earth})
