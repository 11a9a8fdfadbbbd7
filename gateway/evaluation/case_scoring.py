"""Scores cases: short texts that contain a value or only appear to.

A positive case is found if every expected span is detected exactly and as the right type (anywhere, if the case names
no spans), and hidden if the policy hides all of it under any type. A negative case is left alone if nothing of its type
is found, and untouched if nothing in it is hidden.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from gateway.evaluation.characters import covered, significant
from gateway.evaluation.disagreements import Disagreement, Kind
from gateway.evaluation.labels import LabelMap
from gateway.evaluation.loader import Case, GoldSpan
from gateway.evaluation.predictor import Finding, Predictor


@dataclass(slots=True)
class EntityScore:
    """Counts of the cases of one entity."""

    entity: str
    positive: int = 0
    found: int = 0
    hidden: int = 0
    negative: int = 0
    left_alone: int = 0
    untouched: int = 0

    def add(self, other: "EntityScore") -> None:
        """Adds the counts of another."""
        self.positive += other.positive
        self.found += other.found
        self.hidden += other.hidden
        self.negative += other.negative
        self.left_alone += other.left_alone
        self.untouched += other.untouched


@dataclass(slots=True)
class CasesScore:
    """The counts of a file: over all cases, and by entity."""

    total: EntityScore = field(default_factory=lambda: EntityScore("all"))
    entities: dict[str, EntityScore] = field(default_factory=dict)


def score_cases(
    cases: Iterable[Case],
    predictor: Predictor,
    labels: LabelMap,
    section: str,
    *,
    advance: Callable[[], None] = lambda: None,
) -> tuple[CasesScore, list[Disagreement]]:
    """Returns the figures and every disagreement. `advance` is called after each case."""
    score = CasesScore()
    disagreements: list[Disagreement] = []
    for case in cases:
        row, kind = _judge(case, predictor, labels, section)
        score.entities.setdefault(case.entity, EntityScore(case.entity)).add(row)
        score.total.add(row)
        if kind is not None:
            disagreements.append(_disagreement(case, kind, predictor))
        advance()
    score.entities = dict(sorted(score.entities.items()))
    return score, disagreements


def _judge(case: Case, predictor: Predictor, labels: LabelMap, section: str) -> tuple[EntityScore, Kind | None]:
    correct = [
        (one.start, one.end)
        for one in predictor.candidates(case.text)
        if _is_correct(one.type, case.entity, predictor, labels, section)
    ]
    hidden = covered((one.start, one.end) for one in predictor.predict(case.text) if one.hidden)
    if not case.positive:
        row = EntityScore(case.entity, negative=1, left_alone=not correct, untouched=not hidden)
        kind = Kind.FALSE_ALARM if hidden else Kind.FALSE_FINDING
        return row, kind if hidden or correct else None
    if case.spans is None:
        row = EntityScore(case.entity, positive=1, found=bool(correct), hidden=bool(hidden))
    else:
        needed = [significant(case.text, *span) for span in case.spans]
        found = all(span in correct for span in case.spans)
        row = EntityScore(case.entity, positive=1, found=found, hidden=all(one <= hidden for one in needed))
    if row.found and row.hidden:
        return row, None
    if not row.hidden:
        return row, Kind.PARTLY if hidden else Kind.MISSED
    return row, Kind.BORDERS if correct else Kind.OTHER_TYPE


def _is_correct(type_name: str, entity: str, predictor: Predictor, labels: LabelMap, section: str) -> bool:
    """Compares names if the entity is one of the gateway's types, and common types otherwise."""
    if entity in predictor.protector.types:
        return type_name == entity
    return labels.common(section, type_name, predictor.group(type_name)) == labels.meaning(section, entity).common


def _disagreement(case: Case, kind: Kind, predictor: Predictor) -> Disagreement:
    labelled = tuple(GoldSpan(start, end, case.entity) for start, end in case.spans or ())
    found = predictor.predict(case.text)
    places: list[GoldSpan | Finding] = [*labelled, *found]
    start = min((one.start for one in places), default=0)
    end = max((one.end for one in places), default=len(case.text))
    return Disagreement(kind, case.entity, case.id, case.text, start, end, labelled if case.positive else (), found)
