"""Vehicle identification numbers (ISO 3779, check digit of 49 CFR 565.15) and licence plates.

Plates are certain only after context words. `government_numbers.py` covers Turkey, India and Nigeria.
"""

import re

from gateway.detection.data_files import word_lists
from gateway.detection.recognizer import EntityType
from gateway.detection.recognizers._pattern_table import pattern_table

VIN = EntityType("VIN", "device", "The identification number of a vehicle.")
LICENSE_PLATE = EntityType("LICENSE_PLATE", "device", "The licence plate of a vehicle.")
UK_VEHICLE_REGISTRATION = EntityType(
    "UK_VEHICLE_REGISTRATION", "device", "The registration of a vehicle in the United Kingdom."
)
DE_KFZ = EntityType("DE_KFZ", "device", "The licence plate of a vehicle in Germany.")

_NO_AREAS = word_lists(__file__)["no_areas"]
_VALUES = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", (*range(1, 9), *range(1, 6), 7, 9, *range(2, 10)), strict=True))
_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
_MIXED = re.compile(r"(?=.*\d)(?=.*[A-Z])[A-Z0-9 .\-]+")


def _vin(value: str) -> bool | None:
    """Only North America and China require the check digit. Without it, context words are needed."""
    if not re.search(r"\d", value) or not re.search(r"[A-Z]", value) or not value[-3:].isdigit():
        return False
    total = sum(
        (int(char) if char.isdigit() else _VALUES[char]) * weight for char, weight in zip(value, _WEIGHTS, strict=True)
    )
    return None if "0123456789X"[total % 11] == value[8] else False


def _uk_year(value: str) -> bool | None:
    """Checks the age identifier (02-29 from March, 51-79 from September) and three letters without I and Q."""
    plate = value.replace(" ", "").upper()
    known = plate[0] in "ABCDEFGHKLMNOPRSVWY" and plate[1] in "ABCDEFGHJKLMNOPRSTUVWXY"
    age = int(plate[2:4])
    return None if known and (2 <= age <= 29 or 51 <= age <= 79) and not set("IQ") & set(plate[4:]) else False


def _german(value: str) -> bool | None:
    return False if re.split(r"[ \-]", value, maxsplit=1)[0].lower() in _NO_AREAS else None


def _plate(value: str) -> bool | None:
    if re.split(r"[ \-]", value, maxsplit=1)[0].lower() in _NO_AREAS:
        return False
    return None if _MIXED.fullmatch(value.upper()) and 4 <= sum(char.isalnum() for char in value) <= 9 else False


RECOGNIZERS = pattern_table(
    __file__,
    (VIN, LICENSE_PLATE, UK_VEHICLE_REGISTRATION, DE_KFZ),
    {
        "vin": _vin,
        "plate": _plate,
        "uk_year": _uk_year,
        "german": _german,
    },
)
