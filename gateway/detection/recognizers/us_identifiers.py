"""United States numbers: Social Security (SSA, POMS RM 10201) and ITIN (IRS) in their usual notation, and driving
licences of any form after context words. `government_numbers.py` finds unseparated digits.
"""

from gateway.detection.recognizer import EntityType
from gateway.detection.recognizers._checks import digits_of, separators
from gateway.detection.recognizers._numbers.number import is_number
from gateway.detection.recognizers._pattern_table import pattern_table

US_SSN = EntityType("US_SSN", "government_id", "A United States Social Security number.")
US_ITIN = EntityType("US_ITIN", "government_id", "A United States individual taxpayer identification number.")
US_DRIVER_LICENSE = EntityType("US_DRIVER_LICENSE", "government_id", "The number of a driving licence of a US state.")


def _ssn(value: str) -> bool | None:
    return None if len(separators(value)) == 1 and is_number("US_SSN", digits_of(value)) else False


def _itin(value: str) -> bool | None:
    return None if len(separators(value)) == 1 and is_number("US_ITIN", digits_of(value)) else False


def _licence(value: str) -> bool | None:
    return None if sum(char.isdigit() for char in value) >= 4 else False


RECOGNIZERS = pattern_table(
    __file__, (US_SSN, US_ITIN, US_DRIVER_LICENSE), {"ssn": _ssn, "itin": _itin, "licence": _licence}
)
