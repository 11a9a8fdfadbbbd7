"""Defines the counts over documents, and the ratios that follow from them."""

from dataclasses import dataclass, field

from gateway.evaluation.labels import Treatment


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _with_f1(prefix: str, precision: float | None, recall: float | None) -> dict[str, float | None]:
    f1 = None
    if precision is not None and recall is not None:
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {f"{prefix}precision": precision, f"{prefix}recall": recall, f"{prefix}f1": f1}


@dataclass(slots=True)
class TypeScore:
    """The counts of one common type. A ratio is None if its denominator is zero."""

    type: str
    gold: int = 0
    found: int = 0
    exact: int = 0
    gold_overlapped: int = 0
    found_overlapped: int = 0

    @property
    def ratios(self) -> dict[str, float | None]:
        """Precision, recall and F1 of exact spans, and by overlap."""
        overlaps = _ratio(self.found_overlapped, self.found), _ratio(self.gold_overlapped, self.gold)
        return {
            **_with_f1("", _ratio(self.exact, self.found), _ratio(self.exact, self.gold)),
            **_with_f1("overlap_", *overlaps),
        }


@dataclass(slots=True)
class LabelScore:
    """The counts of one label: spans that are hidden wholly, and spans of which any part is (`touched`)."""

    label: str
    type: str
    treatment: Treatment
    gold: int = 0
    hidden: int = 0
    touched: int = 0


@dataclass(slots=True)
class DocumentsScore:
    """The counts of a file. `characters` and `characters_*` count letters and digits."""

    documents: int = 0
    private_documents: int = 0
    """Documents with a span that must be hidden."""
    hidden_documents: int = 0
    """Private documents in which every such span is hidden."""
    required: int = 0
    required_hidden: int = 0
    required_touched: int = 0
    keep: int = 0
    keep_touched: int = 0
    hidden_spans: int = 0
    false_alarms: int = 0
    """Hidden spans that overlap no labelled span."""
    characters: int = 0
    characters_hidden_rightly: int = 0
    characters_hidden_wrongly: int = 0
    characters_left: int = 0
    """Characters of spans that must be hidden and are not."""
    types: dict[str, TypeScore] = field(default_factory=dict)
    labels: dict[str, LabelScore] = field(default_factory=dict)

    @property
    def ratios(self) -> dict[str, float | None]:
        """The shares of spans to hide that are hidden wholly (`recall`), and of spans to keep that are touched."""
        rightly = self.characters_hidden_rightly
        return {
            "recall": _ratio(self.required_hidden, self.required),
            "over_redaction": _ratio(self.keep_touched, self.keep),
            "character_precision": _ratio(rightly, rightly + self.characters_hidden_wrongly),
            "character_recall": _ratio(rightly, rightly + self.characters_left),
        }
