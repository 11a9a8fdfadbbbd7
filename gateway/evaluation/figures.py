"""Defines the counts over documents, and the ratios that follow from them."""

from dataclasses import dataclass, field

from gateway.evaluation.labels import Treatment


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _f1(precision: float | None, recall: float | None) -> float | None:
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


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
    def precision(self) -> float | None:
        return _ratio(self.exact, self.found)

    @property
    def recall(self) -> float | None:
        return _ratio(self.exact, self.gold)

    @property
    def f1(self) -> float | None:
        return _f1(self.precision, self.recall)

    @property
    def overlap_precision(self) -> float | None:
        return _ratio(self.found_overlapped, self.found)

    @property
    def overlap_recall(self) -> float | None:
        return _ratio(self.gold_overlapped, self.gold)

    @property
    def overlap_f1(self) -> float | None:
        return _f1(self.overlap_precision, self.overlap_recall)


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
    def recall(self) -> float | None:
        """The share of spans to hide that are hidden wholly."""
        return _ratio(self.required_hidden, self.required)

    @property
    def over_redaction(self) -> float | None:
        """The share of spans to keep that are hidden at least in part."""
        return _ratio(self.keep_touched, self.keep)

    @property
    def character_precision(self) -> float | None:
        return _ratio(self.characters_hidden_rightly, self.characters_hidden_rightly + self.characters_hidden_wrongly)

    @property
    def character_recall(self) -> float | None:
        return _ratio(self.characters_hidden_rightly, self.characters_hidden_rightly + self.characters_left)
