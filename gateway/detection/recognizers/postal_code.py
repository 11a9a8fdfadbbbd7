"""Postcodes on their own: in distinctive forms (United Kingdom, Canada, US state and ZIP code), after a label, after
country letters, and, as candidates, after a place name.
"""

from gateway.detection.recognizer import EntityType
from gateway.detection.recognizers._address_parts import CANADIAN_POSTCODE
from gateway.detection.recognizers._pattern_table import pattern_table
from gateway.detection.recognizers._street_words import US_STATES

POSTAL_CODE = EntityType("POSTAL_CODE", "address", "A postal code.")


def _code(value: str) -> bool | None:
    """Excludes repeated digits, round numbers and years."""
    digits = "".join(char for char in value if char.isdigit())
    if len(set(digits)) == 1 and len(digits) > 3:
        return False
    return False if value.isdigit() and (value.endswith("000") or _year(value)) else None


def _year(value: str) -> bool:
    return len(value) == 4 and 1800 <= int(value) <= 2099


RECOGNIZERS = pattern_table(
    __file__, (POSTAL_CODE,), {"code": _code}, us_states=US_STATES, canadian_postcode=CANADIAN_POSTCODE
)
