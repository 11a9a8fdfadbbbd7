"""The places where people and detection do not say the same, for somebody to look at."""

from dataclasses import dataclass, field
from enum import StrEnum

from gateway.evaluation.loader import GoldSpan
from gateway.evaluation.predictor import Finding


class Kind(StrEnum):
    """What is wrong, the worst first."""

    MISSED = "missed"
    """Must be hidden and stands in clear, to the last character."""
    PARTLY = "partly hidden"
    """Must be hidden; something of it stands in clear."""
    OVER_REDACTED = "over-redaction"
    """Hidden, although it is labelled as something to keep."""
    FALSE_ALARM = "false alarm"
    """Hidden, although nobody labelled anything there."""
    OTHER_TYPE = "other type"
    """Found, as something else."""
    BORDERS = "other borders"
    """Found, but from or to another character."""
    UNFOUND = "not found"
    """Not found; it may stand in clear."""
    FALSE_FINDING = "false finding"
    """Found where nobody labelled anything; left in clear."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One place of a labelled text. `type` is the common type of what it is about; `at` is where."""

    kind: Kind
    type: str
    document: str
    text: str = field(repr=False)
    start: int
    end: int
    labelled: tuple[GoldSpan, ...] = field(repr=False)
    found: tuple[Finding, ...] = field(repr=False)
