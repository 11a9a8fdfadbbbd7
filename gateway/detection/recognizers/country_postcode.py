"""Postcodes without a street. They identify a street at most, so their score stays below 0.5 and only strict policies
hide them.
"""

from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer

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


RECOGNIZERS = (
    PatternRecognizer(
        "country_postcode.british",
        UK_POSTCODE,
        (
            Pattern(r"\b(?:[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}|GIR ?0AA)\b", 0.4),
            Pattern(r"\b[A-Z]{1,2}\d[A-Z\d]?\d[A-Z]{2}\b", 0.2),
        ),
        validator=_british,
        examples=(
            Example("Send to postcode EC2A 1NT please", "EC2A 1NT", score=0.3),
            Example("EC1A1BB", "EC1A1BB", score=0.2),
        ),
        counter_examples=("QA1 1AA", "M1 1CA", "1A1 1AA", "AB12 3CDE"),
    ),
    PatternRecognizer(
        "country_postcode.german",
        DE_PLZ,
        (
            Pattern(r"(?i)\b(?:plz|postleitzahl)[\s:.=]{1,3}(\d{5})\b", 0.45, group=1),
            Pattern(r"^\s*(\d{5})\s*$", 0.1, group=1),
        ),
        validator=_german,
        examples=(Example("PLZ: 10115", "10115", score=0.4), Example("10115", "10115", score=0.1)),
        counter_examples=("PLZ 00000", "PLZ: 101150", "Zimmer 10115"),
    ),
)
