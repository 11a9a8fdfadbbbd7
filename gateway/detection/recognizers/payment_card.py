"""Payment card numbers: the issuers' ranges (ISO/IEC 7812-1) with their lengths, and the Luhn digit."""

import re

from gateway.detection.recognizer import EntityType
from gateway.detection.recognizers._checks import digits_of, luhn, separators
from gateway.detection.recognizers._pattern_table import pattern_table

CREDIT_CARD = EntityType("CREDIT_CARD", "financial", "The number of a payment card.")
CARD_TRACK = EntityType("CARD_TRACK", "financial", "The content of a payment card's magnetic stripe.")
CVV = EntityType("CVV", "financial", "The security code of a payment card.")
CARD_EXPIRY = EntityType("CARD_EXPIRY", "financial", "The expiry date of a payment card.")

# (first, last, lengths): range of the number's leading digits, inclusive.
_BRANDS: tuple[tuple[str, str, frozenset[int]], ...] = (
    ("34", "34", frozenset({15})),  # American Express
    ("37", "37", frozenset({15})),
    ("300", "305", frozenset({14, 16})),  # Diners Club
    ("3095", "3095", frozenset({14, 16})),
    ("36", "36", frozenset({14, 16})),
    ("38", "39", frozenset({14, 16})),
    ("3528", "3589", frozenset({16, 17, 18, 19})),  # JCB
    ("1800", "1800", frozenset({15})),
    ("2131", "2131", frozenset({15})),
    ("2200", "2204", frozenset({16})),  # Mir
    ("2221", "2720", frozenset({16})),  # Mastercard
    ("51", "55", frozenset({16})),
    ("4", "4", frozenset({16, 19})),  # Visa
    ("50", "50", frozenset({16, 17, 18, 19})),  # Maestro, Dankort, RuPay, Verve
    ("56", "58", frozenset({16, 17, 18, 19})),
    ("60", "60", frozenset({16, 17, 18, 19})),  # Discover, RuPay
    ("62", "65", frozenset({16, 17, 18, 19})),  # UnionPay, Maestro, Discover
    ("67", "67", frozenset({16, 17, 18, 19})),
    ("81", "82", frozenset({16})),  # UnionPay, RuPay
    ("9792", "9792", frozenset({16})),  # Troy
    ("1", "1", frozenset({15})),  # UATP
)
# Barcodes and ids often have 12 or 13 digits; a card of that length requires context words.
_SHORT: tuple[tuple[str, str, frozenset[int]], ...] = (
    ("4", "4", frozenset({13})),
    ("50", "50", frozenset({12, 13, 14, 15})),
    ("56", "69", frozenset({12, 13, 14, 15})),
)


def _of_brand(digits: str, brands: tuple[tuple[str, str, frozenset[int]], ...]) -> bool:
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
