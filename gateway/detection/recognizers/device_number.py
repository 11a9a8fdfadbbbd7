"""Device identifiers: phones (IMEI, 3GPP TS 23.003), SIM cards (ITU-T E.118), subscribers (IMSI) and installations.

A UUID alone is not personal, so it gets a low score.
"""

from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer
from gateway.detection.recognizers._checks import digits_of, luhn
from gateway.detection.recognizers._samples import HEX, sample

IMEI = EntityType("IMEI", "device", "The number of a mobile phone.")
IMSI = EntityType("IMSI", "device", "The number of a mobile subscriber.")
ICCID = EntityType("ICCID", "device", "The number of a SIM card.")
DEVICE_ID = EntityType("DEVICE_ID", "device", "The identifier of a device or installation.")

_UUID = r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"
_DEVICE_CUE = (
    r"(?i)\b(?:(?:android|apple|device|hardware|machine|advertising|vendor|installation|phone)[ _-]?"
    r"(?:id|identifier|uuid)|udid|idfa|idfv|gaid|aaid|adid|hwid|meid|esn|geräte-?id|serial(?: ?(?:number|no\.?|#))?"
    r"|seriennummer|serien-?nr\.?|n° de série|numéro de série|número de serie|numero di serie|número de série"
    r"|serienummer|s/n)[\"']?[\s:=#]{1,3}(?:(?:is|ist|est|es|è|é)[\s:]{1,2})?[\"']?"
)


def _phone(value: str) -> bool | None:
    digits = digits_of(value)
    return None if luhn(digits) and len(set(digits)) > 2 else False


def _sim(value: str) -> bool | None:
    """Some issuers omit the check digit, so a failed check leaves the score of the form."""
    return None if len(set(digits_of(value))) > 2 else False


def _serial(value: str) -> bool | None:
    """Requires at least six characters, two of them digits."""
    signs = [char for char in value if char.isalnum()]
    return None if len(signs) >= 6 and sum(char.isdigit() for char in signs) >= 2 and len(set(signs)) > 3 else False


_uuid = "-".join((sample(8, HEX), *[sample(4, HEX)] * 3, sample(12, HEX)))

RECOGNIZERS = (
    PatternRecognizer(
        "device.imei",
        IMEI,
        (
            Pattern(
                r"\b\d{15}\b|\b\d{2}[ \-]\d{6}[ \-]\d{6}[ \-]\d\b", 0.5, prefilter=r"(?i)\bimei", needs_context=True
            ),
        ),
        context=("imei",),
        validator=_phone,
        examples=(
            Example("IMEI: 490154203237518", "490154203237518", score=0.9),
            Example("imei 49-015420-323751-8", "49-015420-323751-8"),
        ),
        counter_examples=("IMEI: 490154203237517", "490154203237518"),
    ),
    PatternRecognizer(
        "device.imsi",
        IMSI,
        (Pattern(r"(?i)\bimsi\b[^\d\n]{1,12}(\d{14,15})\b", 0.9, group=1),),
        examples=(Example("IMSI 310150123456789", "310150123456789"),),
        counter_examples=("the IMSI is sent",),
    ),
    PatternRecognizer(
        "device.iccid",
        ICCID,
        (Pattern(r"\b89\d{17,18}\b|\b89\d{2}(?: \d{4}){3,4}(?: \d{1,4})?\b", 0.3),),
        context=("iccid", "sim", "sim card", "esim", "sim-karte", "carte sim", "tarjeta sim"),
        validator=_sim,
        examples=(Example("the SIM card 8949020000012345678 is lost", "8949020000012345678"),),
        counter_examples=("89 people", "8888888888888888888"),
    ),
    PatternRecognizer(
        "device.announced",
        DEVICE_ID,
        (
            Pattern(
                _DEVICE_CUE + rf"({_UUID}|[0-9A-Fa-f]{{16}}|[A-Za-z0-9]+(?:[\-:][A-Za-z0-9]+)*)\b",
                0.8,
                group=1,
                prefilter=_DEVICE_CUE + "[0-9A-Za-z]",
            ),
        ),
        validator=_serial,
        examples=(
            Example(f'"device_id": "{_uuid}"', _uuid),
            Example("Seriennummer: C02XL0THJGH5", "C02XL0THJGH5"),
            Example("serial number is 5CD-1234-XYZ", "5CD-1234-XYZ"),
        ),
        counter_examples=("device id: unknown", "serial number 12", "the serial killer of 1999", "device_id = devices"),
    ),
    PatternRecognizer(
        "device.uuid",
        DEVICE_ID,
        (Pattern(rf"\b{_UUID}\b", 0.1),),
        examples=(Example(f"at {_uuid} it", _uuid, score=0.1),),
        counter_examples=(_uuid[:-1], "0123-4567"),
    ),
)
