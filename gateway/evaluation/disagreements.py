"""Defines disagreements between labels and detection."""

from dataclasses import dataclass, field
from enum import StrEnum

from gateway.evaluation.loader import GoldSpan
from gateway.evaluation.predictor import Finding


class Kind(StrEnum):
    """Kinds of disagreement, the worst first."""

    MISSED = "missed"
    """Must be hidden, but none of it is."""
    PARTLY = "partly hidden"
    """Must be hidden, but only part of it is."""
    OVER_REDACTED = "over-redaction"
    """Hidden, but labelled to be kept."""
    FALSE_ALARM = "false alarm"
    """Hidden, but not labelled."""
    OTHER_TYPE = "other type"
    """Found with another type."""
    BORDERS = "other borders"
    """Found with other boundaries."""
    UNFOUND = "not found"
    """Not found, and need not be hidden."""
    FALSE_FINDING = "false finding"
    """Found but not labelled, and not hidden."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A disagreement about `text[start:end]`. `type` is the common type."""

    kind: Kind
    type: str
    document: str
    text: str = field(repr=False)
    start: int
    end: int
    labelled: tuple[GoldSpan, ...] = field(repr=False)
    found: tuple[Finding, ...] = field(repr=False)
