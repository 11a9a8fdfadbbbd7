"""Estimates the tokens of protected texts."""

from collections.abc import Sequence
from math import ceil

from gateway.placeholders import Placeholders
from gateway.protection.protector import Protected
from gateway.text.token_estimate import estimate, weigh


def size_after(size: int, after: Sequence[str], protected: Protected, placeholders: Placeholders) -> int:
    """Estimates the tokens of the protected texts, from the source's estimate if only placeholders were inserted."""
    minted = [each.placeholder for each in protected.transformations if each.placeholder is not None]
    known = [placeholders.get(placeholder) for placeholder in minted]
    values = [entry.value for entry in known if entry is not None]
    if len(values) < len(protected.transformations):
        return sum(map(estimate, after))
    return max(1, ceil(size - weigh(" ".join(values)) + weigh(" ".join(minted))))
