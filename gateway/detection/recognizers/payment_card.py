"""Payment card numbers: the issuers' ranges (ISO/IEC 7812-1) with their lengths, and the Luhn digit."""

import re
from collections.abc import Sequence

from gateway.detection.data_files import read_toml
from gateway.detection.recognizer import EntityType
from gateway.detection.recognizers._checks import digits_of, luhn, separators
from gateway.detection.recognizers._pattern_table import pattern_table

CREDIT_CARD = EntityType("CREDIT_CARD", "financial", "The number of a payment card.")
CARD_TRACK = EntityType("CARD_TRACK", "financial", "The content of a payment card's magnetic stripe.")
CVV = EntityType("CVV", "financial", "The security code of a payment card.")
CARD_EXPIRY = EntityType("CARD_EXPIRY", "financial", "The expiry date of a payment card.")

type _Ranges = Sequence[tuple[str, str, Sequence[int]]]

_BRANDS, _SHORT = (read_toml(__file__)[name] for name in ("brands", "short"))


def _of_brand(digits: str, brands: _Ranges) -> bool:
    size = len(digits)
    return any(size in lengths and first <= digits[: len(first)] <= last for first, last, lengths in brands)


_IN_FOURS = re.compile(rb"\d{4}[ .\-]\d{4}[ .\-]\d{4}[ .\-]\d{4}\b")
_DECIMALS = re.compile(r"\d{1,3}\.\d{14,19}")


def _card(value: str) -> bool | None:
    digits = digits_of(value)
    if _DECIMALS.fullmatch(value) or len(separators(value)) > 1 or len(set(digits)) < 2 or not luhn(digits):
        return False
    if digits[0] == "1" and len(digits) == 15 and digits[:4] != "1800":
        return None  # one in ten random numbers passes Luhn, and UATP cards are rare
    return True if _of_brand(digits, _BRANDS) else None


def _named_card(value: str) -> bool | None:
    """Requires only the check digit after "credit card", because no list of brands is complete."""
    digits = digits_of(value)
    return None if luhn(digits) and len(set(digits)) > 1 else False


def _track(value: str) -> bool | None:
    number = "".join(char for char in value.lstrip("%B;")[:24].partition("^")[0].partition("=")[0] if char.isdigit())
    return None if luhn(number) else False


def _short_card(value: str) -> bool | None:
    digits = digits_of(value)
    return None if luhn(digits) and _of_brand(digits, _SHORT) else False


def grouped_card(data: bytes, start: int) -> int:
    """Returns the end of a card number in groups of four that starts at `start`, or 0 if there is none."""
    found = _IN_FOURS.match(data, start)
    return found.end() if found is not None and _card(found[0].decode()) else 0


RECOGNIZERS = pattern_table(
    __file__,
    (CREDIT_CARD, CARD_TRACK, CVV, CARD_EXPIRY),
    {"card": _card, "short_card": _short_card, "named_card": _named_card, "track": _track},
)
