"""Weighs a finding by its type: the harm of leaking it alone, and how far it tells who someone is."""

from dataclasses import dataclass

from gateway.detection.data_files import read_toml


@dataclass(frozen=True, slots=True)
class Weight:
    """`harm` (0-1) of one leaked finding by itself.

    `bits`: how far it narrows down whom the text is about, in bits (33 single out one of all people alive).
    `bond` (0-2): what it adds to other findings if they are about the same person.
    """

    harm: float
    bits: float
    bond: float


_WEIGHTS = {
    table: {name: Weight(**weight) for name, weight in weights.items()}
    for table, weights in read_toml(__file__).items()
}


def weight_of(type: str, group: str) -> Weight:
    """Returns the weight of a type, or else of its group, so that a new type needs none of its own.

    Unknown groups have the weight of `custom`.
    """
    groups = _WEIGHTS["groups"]
    return _WEIGHTS["types"].get(type) or groups.get(group) or groups["custom"]
