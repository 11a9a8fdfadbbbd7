"""Vehicle identification numbers (ISO 3779, check digit of 49 CFR 565.15) and licence plates.

Plates are certain only after context words. `government_numbers.py` covers Turkey, India and Nigeria.
"""

import re

from gateway.config.data_files import word_lists
from gateway.detection.entropy import phrases
from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer

VIN = EntityType("VIN", "device", "The identification number of a vehicle.")
LICENSE_PLATE = EntityType("LICENSE_PLATE", "device", "The licence plate of a vehicle.")
UK_VEHICLE_REGISTRATION = EntityType(
    "UK_VEHICLE_REGISTRATION", "device", "The registration of a vehicle in the United Kingdom."
)
DE_KFZ = EntityType("DE_KFZ", "device", "The licence plate of a vehicle in Germany.")

_AREAS = word_lists(__file__)
_VALUES = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", (*range(1, 9), *range(1, 6), 7, 9, *range(2, 10)), strict=True))
_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
_PLATE_WORDS = phrases(
    """
    license plate, licence plate, number plate, plate number, registration plate, plate, plates, vehicle, vehicles, reg,
    registration, car, truck, van, parked, kennzeichen, nummernschild, fahrzeug, auto, pkw, kfz, halter, wagen
    """
)
_PLATE_CUE = (
    r"(?i)(?:\b(?:licen[cs]e|number|registration|car|vehicle)[ _-]plates?(?:[ _-]?(?:number|no\.?|#))?"
    r"|\bplate[ _-](?:number|no\.?|#)"
    r"|\b(?:kfz-?|auto)?kennzeichen|\bnummernschild|\bplaque d'immatriculation|\bimmatriculation"
    r"|\bmatrícula(?: d[eo]l? (?:coche|carro|auto|vehículo|veículo))?"
    r"|\bplaca(?: do (?:carro|veículo)| del (?:coche|vehículo))?|\btarga|\bkenteken|\bregistreringsnummer"
    r"|\bnr rejestracyjny"
    r"|\brendszám|\brekisterinumero|\bpatente del (?:auto|vehículo))"
    r"[\s\"':=#(]{1,4}(?:(?:is|was|reads|ist|lautet|est|es|è|é)[\s:\"']{1,3})?"
)
# Ambiguous words: after them, a plate must be in capitals.
_PLATE_WORD = (
    r"(?i:\b(?:plate|immatricul[ée]{1,2}e?s?|kennz\.|patente|plaka|plaque|reg\.? ?nr\.?|nr rej\.|rejestracja)"
    r"(?i: (?:is|was|est|es))?)"
    r"[\s\"':=#(]{1,4}"
)
_PLAIN_PLATE = (
    r"([A-Z]{2,3}[ \-]?\d{3,4}(?:[ \-]?[A-Z]{1,3})?|\d[A-Z]{3}\d{3}|\d{2} ?[A-Z]{1,3} ?\d{2,4}|[A-Z]{3}\d[A-Z]\d{2})\b"
)
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


def _uk_prefix(value: str) -> bool | None:
    plate = value.upper()
    return False if plate[0] in "IOQUZ" or set("IQ") & set(plate[-3:]) else None


def _uk_suffix(value: str) -> bool | None:
    return False if value[-1].upper() in "IOQUZ" else None


def _german(value: str) -> bool | None:
    return None if re.split(r"[ \-]", value, maxsplit=1)[0].upper() in _AREAS["german_areas"] else False


def _plate(value: str) -> bool | None:
    if re.split(r"[ \-]", value, maxsplit=1)[0].lower() in _AREAS["no_areas"]:
        return False
    return None if _MIXED.fullmatch(value.upper()) and 4 <= sum(char.isalnum() for char in value) <= 9 else False


RECOGNIZERS = (
    PatternRecognizer(
        "vehicle.vin",
        VIN,
        (Pattern(r"\b[A-HJ-NPR-Z0-9]{13}\d{4}\b", 0.55, prefilter=r"\b[A-HJ-NPR-Z0-9]{13}\d{4}\b"),),
        context=(
            "vin",
            "chassis",
            "vehicle identification",
            "fahrgestellnummer",
            "fin",
            "bastidor",
            "telaio",
            "châssis",
        ),
        validator=_vin,
        examples=(Example("the car 1M8GDM9AXKP042788 was sold", "1M8GDM9AXKP042788"),),
        counter_examples=("the part 1M8GDM9A1KP042788", "12345678901234567"),
    ),
    PatternRecognizer(
        "vehicle.vin_announced",
        VIN,
        (
            Pattern(
                r"(?i)\b(?:vin|chassis(?: (?:number|no\.?))?|vehicle identification number|fahrgestellnummer"
                r"|fahrzeug-?ident\w*|fin|bastidor|telaio|châssis)[\s:=#\"'.]{1,4}"
                r"(?:(?:is|ist|est|es)\s)?([A-HJ-NPR-Z0-9]{17})\b",
                0.85,
                group=1,
            ),
        ),
        examples=(Example("FIN/VIN: WVWZZZ1JZXW000001", "WVWZZZ1JZXW000001"),),
        counter_examples=("vin rouge", "VIN: unknown"),
    ),
    PatternRecognizer(
        "vehicle.plate",
        LICENSE_PLATE,
        (
            Pattern(
                _PLATE_CUE + r"([A-Za-z0-9]{1,4}(?:[ .\-]?[A-Za-z0-9]{1,5}){1,3})\b", 0.7, group=1, prefilter=_PLATE_CUE
            ),
            Pattern(_PLATE_WORD + _PLAIN_PLATE, 0.65, group=1, prefilter=_PLATE_WORD),
        ),
        validator=_plate,
        examples=(
            Example("License plate: 7ABC123", "7ABC123"),
            Example("plaque d'immatriculation AB-123-CD", "AB-123-CD"),
            Example("kenteken: 12-ABC-3", "12-ABC-3"),
            Example("a Ford, plate 8ABC123, left", "8ABC123"),
            Example("immatriculé AB-417-CD", "AB-417-CD"),
        ),
        counter_examples=(
            "the license plate is missing",
            "number plate recognition",
            "a plate DIN 2576 of steel",
            "plates with 4 eggs, a plate 12 MM THICK",
            "placa RTX 4070, patente US 1234567",
        ),
    ),
    PatternRecognizer(
        "vehicle.uk",
        UK_VEHICLE_REGISTRATION,
        (Pattern(r"\b[A-Za-z]{2}\d{2} ?[A-Za-z]{3}\b", 0.4),),
        context=_PLATE_WORDS,
        validator=_uk_year,
        examples=(Example("a car with AB51 ABC on it", "AB51 ABC"), Example("BD62XYZ", "BD62XYZ", score=0.3)),
        counter_examples=("AB35 ABC", "IB51 ABC"),
    ),
    PatternRecognizer(
        "vehicle.uk_prefix",
        UK_VEHICLE_REGISTRATION,
        (Pattern(r"\b[A-Z]\d{1,3} ?[A-Z]{3}\b", 0.2),),
        context=_PLATE_WORDS,
        validator=_uk_prefix,
        examples=(Example("number plate A123 BCD", "A123 BCD"),),
        counter_examples=("I123 BCD", "A123 bcd"),
    ),
    PatternRecognizer(
        "vehicle.uk_suffix",
        UK_VEHICLE_REGISTRATION,
        (Pattern(r"\b[A-Z]{3} \d{1,3}[A-Z]\b", 0.15),),
        context=_PLATE_WORDS,
        validator=_uk_suffix,
        examples=(Example("her old car, ABC 123D,", "ABC 123D"),),
        counter_examples=("ABC 123Z",),
    ),
    PatternRecognizer(
        "vehicle.german",
        DE_KFZ,
        (
            Pattern(r"\b[A-ZÄÖÜ]{1,3}[ \-][A-Z]{1,2}[ \-][1-9]\d{0,3}[EH]?\b", 0.3),
            Pattern(r"(?i)^\s*[a-zäöü]{1,3}[ \-][a-z]{1,2}[ \-][1-9]\d{0,3}[eh]?\s*$", 0.3),
            Pattern(r"(?i)\bkennzeichen:? ([a-zäöü]{1,3}[ \-][a-z]{1,2}[ \-]?[1-9]\d{0,3}[eh]?)\b", 0.8, group=1),
        ),
        context=_PLATE_WORDS,
        validator=_german,
        examples=(
            Example("Das Fahrzeug mit Kennzeichen B AB 1234 wurde gesehen.", "B AB 1234"),
            Example("Auto HH-AB-1234", "HH-AB-1234"),
            Example("kennzeichen: ka ef 12h", "ka ef 12h"),
        ),
        counter_examples=("BAB1234", "BXYZ AB 1234", "QQ AB 1234", "was in a 2019"),
    ),
)
