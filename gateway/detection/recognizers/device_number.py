"""Device identifiers: phones (IMEI, 3GPP TS 23.003), SIM cards (ITU-T E.118), subscribers (IMSI) and installations.

A UUID alone is not personal, so it gets a low score.
"""

from gateway.detection.recognizer import EntityType
from gateway.detection.recognizers._checks import digits_of, luhn
from gateway.detection.recognizers._pattern_table import pattern_table

IMEI = EntityType("IMEI", "device", "The number of a mobile phone.")
IMSI = EntityType("IMSI", "device", "The number of a mobile subscriber.")
ICCID = EntityType("ICCID", "device", "The number of a SIM card.")
DEVICE_ID = EntityType("DEVICE_ID", "device", "The identifier of a device or installation.")


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


RECOGNIZERS = pattern_table(__file__, (IMEI, IMSI, ICCID, DEVICE_ID), {"phone": _phone, "sim": _sim, "serial": _serial})
