"""Postcodes without a street. They identify a street at most, so their score stays below 0.5 and only strict policies
hide them.
"""

from gateway.detection.recognizer import EntityType
from gateway.detection.recognizers._pattern_table import pattern_table

UK_POSTCODE = EntityType("UK_POSTCODE", "address", "A postcode of the United Kingdom.")
DE_PLZ = EntityType("DE_PLZ", "address", "A postcode of Germany.")

_NO_AREA = frozenset("01000 00000 99999".split())


def _british(value: str) -> bool | None:
    """Excludes Q, V, X as the first letter, I, J, Z as the second, and C, I, K, M, O, V in the last two (BS 7666)."""
    code = value.replace(" ", "").upper()
    if code == "GIR0AA":
        return None
    outward, inward = code[:-3], code[-3:]
    if outward[0] in "QVX" or (outward[1].isalpha() and outward[1] in "IJZ") or set("CIKMOV") & set(inward[1:]):
        return False
    return None


def _german(value: str) -> bool | None:
    return None if value not in _NO_AREA and "01" <= value[:2] <= "99" else False


RECOGNIZERS = pattern_table(__file__, (UK_POSTCODE, DE_PLZ), {"british": _british, "german": _german})
