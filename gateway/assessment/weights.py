"""What a finding of a type weighs: how much harm it does alone, and how much it says about who someone is.

The figures are judgements, not measurements; docs/assessment.md gives the reasons. What is meant to be right is
their order. A type that is not named here weighs what its group weighs, so a new recognizer needs no entry.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weight:
    """`harm` (0-1): what one leaked finding does by itself.

    `bits`: how far it narrows down whom the text is about, in bits (33 single out one of all people alive).
    `bond` (0-2): what it adds to the others when they are about the same person.
    """

    harm: float
    bits: float
    bond: float


NOTHING = Weight(0.0, 0.0, 0.0)

_GROUPS = {
    "secret": Weight(0.78, 0, 0.4),
    "government_id": Weight(0.52, 30, 0.9),
    "financial": Weight(0.42, 26, 0.8),
    "health": Weight(0.40, 24, 1.2),
    "custom": Weight(0.30, 10, 0.5),
    "account": Weight(0.18, 26, 0.5),
    "address": Weight(0.12, 22, 0.7),
    "contact": Weight(0.10, 28, 0.3),
    "person": Weight(0.10, 18, 0.5),
    "device": Weight(0.08, 26, 0.3),
    "network": Weight(0.06, 18, 0.3),
    "organization": Weight(0.03, 8, 0.3),
    "temporal": Weight(0.01, 3, 0.1),
}

_TYPES = {
    "PRIVATE_KEY": Weight(0.86, 0, 0.4),
    "CONNECTION_STRING": Weight(0.80, 0, 0.4),
    "PASSWORD": Weight(0.72, 0, 0.4),
    "US_SSN": Weight(0.58, 30, 0.9),
    "CREDIT_CARD": Weight(0.50, 26, 0.8),
    "CRYPTO": Weight(0.30, 26, 0.5),
    "BIC_CODE": Weight(0.03, 6, 0.1),
    "ABA_ROUTING_NUMBER": Weight(0.05, 6, 0.1),
    "DATE_OF_BIRTH": Weight(0.18, 15, 1.0),
    "AGE": Weight(0.02, 6, 0.3),
    "GENDER": Weight(0.0, 1, 0.2),
    "NRP": Weight(0.12, 3, 0.6),
    "TITLE": NOTHING,
    "LOCATION": Weight(0.03, 7, 0.3),
    "POSTAL_CODE": Weight(0.05, 14, 0.6),
    "URL": Weight(0.02, 4, 0.1),
    # Literal text that looks like a placeholder and has no value.
    "PLACEHOLDER": NOTHING,
}


def weight_of(type: str, group: str) -> Weight:
    """Returns the weight of a type, or else of its group. Unknown groups have the weight of `custom`."""
    known = _TYPES.get(type)
    return known if known is not None else _GROUPS.get(group, _GROUPS["custom"])
