"""Payment card numbers: the issuers' ranges (ISO/IEC 7812-1) with their lengths, and the Luhn digit."""

import re

from gateway.detection.entropy import phrases
from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer
from gateway.detection.recognizers._checks import digits_of, luhn, separators

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


_CONTEXT = phrases(
    """
    card, credit, debit, visa, mastercard, amex, american express, discover, diners, jcb, maestro, cvv,
    cvc, expiry, payment, pan, charge, kreditkarte, kartennummer, carte, tarjeta, carta, cartão
    """
)
_FOURS = r"\d{4}[ .\-]\d{4}[ .\-]\d{4}[ .\-]\d{4}"
_PREFILTER = r"\d(?:[ .\-]?\d){13}"
_AMEX = r"\d{4}[ .\-]\d{6}[ .\-]\d{4,5}"

# Joined to a word, as when columns were copied: a word of four letters that is not a hexadecimal number, a currency, or
# the field separator of a magnetic stripe.
_WORD_BEFORE = r"(?:[g-zG-Z][A-Za-z]{3}|[A-Za-z][g-zG-Z][A-Za-z]{2}|[A-Za-z]{2}[g-zG-Z][A-Za-z]|[A-Za-z]{3}[g-zG-Z])"
_WORD_AFTER = r"(?:[A-Z]{3}\b|D\d{4}|[g-zG-Z\x{c0}-\x{17f}][A-Za-z\x{c0}-\x{17f}]{3})"
_NAMED = (
    r"(?i)\b(?:(?:credit|debit|bank|payment|atm) ?card|kreditkarten?|bankkarte|carte (?:bancaire|de crédit)"
    r"|tarjeta(?: de (?:crédito|débito))?|carta di credito|cartão(?: de (?:crédito|débito))?)"
    r"(?:-?nummer| ?(?:number|no\.?|#|num\.?))?"
    r"[\s:#=]{1,3}(?:(?:is|ist|est|es|è|é)[\s:]{1,2})?"
)

_EXPIRY = (
    r"(?i:\b(?:exp(?:iry|ires|iration)?\.?(?: date)?|valid (?:thru|until|to)|gültig bis|expire le|cad(?:uca|ucidad|\.)"
    r"|vence|scad(?:enza|\.)))[\s:=]{1,3}((?:0[1-9]|1[0-2]) ?[/\-] ?(?:20)?[2-4]\d)\b"
)

RECOGNIZERS = (
    PatternRecognizer(
        "payment_card.long",
        CREDIT_CARD,
        (
            Pattern(rf"\b(?:{_FOURS}|{_AMEX})\b", 0.3, prefilter=_PREFILTER, retry=True),
            Pattern(r"\b(?:\d{1,3}\.)?\d{14,19}\b", 0.3, prefilter=r"\d{14}"),
            Pattern(rf"\b{_FOURS}[ .\-]\d{{3}}\b", 0.3, prefilter=_FOURS, retry=True),
            Pattern(rf"{_WORD_BEFORE}(\d{{15,16}})(?:\D|$)", 0.3, group=1, prefilter=r"[A-Za-z]\d{15}"),
            Pattern(rf"\b(\d{{15,16}}){_WORD_AFTER}", 0.3, group=1, prefilter=r"\d{15}\pL"),
            Pattern(
                r"\b(?:\d{8}[ .\-]\d{8}|\d{4}[ .\-]\d{8}[ .\-]\d{4}|\d{4}[ .\-]\d{4}[ .\-]\d{8}|\d{4}(?:\t\d{4}){3})\b",
                0.3,
                prefilter=r"\d{8}[ .\-]\d{4}|\d{4}[ .\-]\d{8}|\d{4}\t\d{4}\t\d{4}",
                needs_context=True,
            ),
        ),
        context=_CONTEXT,
        validator=_card,
        examples=(
            Example("4012888888881881 4012-8888-8888-1881", "4012-8888-8888-1881", score=1.0),
            Example("Card: 4111 1111 1111 1111, thanks", "4111 1111 1111 1111", score=1.0),
            Example("４１１１１１１１１１１１１１１１", "４１１１１１１１１１１１１１１１", score=1.0),
            Example("4111\u200b1111\u200b1111\u200b1111", "4111\u200b1111\u200b1111\u200b1111", score=1.0),
            Example("amex 3714 496353 98431", "3714 496353 98431", score=1.0),
            Example("my card is 122000000000003", "122000000000003"),
            Example("4111 1111 1111 1111 123 is number and code", "4111 1111 1111 1111", score=1.0),
            Example("room 1234 4111 1111 1111 1111", "4111 1111 1111 1111", score=1.0),
            Example("Visa4111111111111111", "4111111111111111", score=1.0),
            Example("Karte:4111111111111111gültig", "4111111111111111", score=1.0),
            Example("4111111111111111EUR", "4111111111111111", score=1.0),
            Example("PAN=4111111111111111D2709", "4111111111111111", score=1.0),
            Example("card 41111111 11111111", "41111111 11111111"),
            Example("card 4111 11111111 1111", "4111 11111111 1111"),
            Example("card\t4111\t1111\t1111\t1111", "4111\t1111\t1111\t1111"),
        ),
        counter_examples=(
            "4012-8888-8888-1882",
            "0000 0000 0000 0000",
            "at 1712345678901234567 ns",
            "a4111111111111111",
            '{"Y": 0.3894785940647125, "X": 0.4111111111111111}',
        ),
    ),
    PatternRecognizer(
        "payment_card.short",
        CREDIT_CARD,
        (Pattern(r"\b\d{12,15}\b", 0.4, needs_context=True),),
        context=_CONTEXT,
        validator=_short_card,
        examples=(Example("Please charge the card 630427373398.", "630427373398"),),
        counter_examples=("EAN 4006381333931", "1748503543012", "Please charge the card 630427373399."),
    ),
    PatternRecognizer(
        "payment_card.named",
        CREDIT_CARD,
        (Pattern(_NAMED + r"(\d(?:[ \-]?\d){11,18})\b", 0.7, group=1, prefilter=_NAMED + r"\d{4}"),),
        validator=_named_card,
        examples=(Example("points won on credit card 060426070011 last year", "060426070011"),),
        counter_examples=("credit card 060426070012", "credit card fees of 2019"),
    ),
    PatternRecognizer(
        "payment_card.track",
        CARD_TRACK,
        (
            Pattern(r"%?B\d{12,19}\^[^\^\n?]{2,26}\^\d{4}[^\n?]{0,60}\??", 0.95, prefilter=r"B\d{12,19}\^"),
            Pattern(r";\d{12,19}=\d{4,30}\??", 0.95),
        ),
        validator=_track,
        examples=(
            Example(
                "swiped %B4111111111111111^DOE/JANE^30121010000000000000? ok",
                "%B4111111111111111^DOE/JANE^30121010000000000000?",
            ),
            Example("got ;4111111111111111=30121010000012300000? now", ";4111111111111111=30121010000012300000?"),
        ),
        counter_examples=("x;4111111111111112=3012101", "B4111^x^"),
    ),
    PatternRecognizer(
        "payment_card.security_code",
        CVV,
        (
            Pattern(
                r"(?i)\b(?:cvv2?|cvc2?|card (?:security|verification) (?:code|value|number)|kartenprüfnummer"
                r"|prüfziffer der karte|cryptogramme(?: visuel)?|código de seguridad)[\s:=#\"']{1,4}"
                r"(?:(?:is|ist|est|es|was)[\s:]{1,2})?(\d{3,4})\b",
                0.85,
                group=1,
            ),
        ),
        examples=(Example("CVV: 123", "123"), Example("the cvc is 4711", "4711")),
        counter_examples=("cvv 12345", "CVC of 2020 cells"),
    ),
    PatternRecognizer(
        "payment_card.expiry",
        CARD_EXPIRY,
        (
            Pattern(_EXPIRY, 0.4, group=1),
            # Directly after the number, it needs no other context.
            Pattern(rf"(?:\d[ \-]?){{12,18}}\d[ ,;|/]{{1,3}}{_EXPIRY}", 0.75, group=1, prefilter=_EXPIRY),
        ),
        context=_CONTEXT,
        examples=(
            Example("card 4111 1111 1111 1111, exp 09/29", "09/29"),
            Example("4111 1111 1111 1111 cad. 09/27", "09/27"),
        ),
        counter_examples=("exp 13/29", "expired in 2019"),
    ),
)
