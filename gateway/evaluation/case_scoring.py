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

    def count(self, names: Iterable[str]) -> None:
        """Adds one case to each of the named counts."""
        for name in names:
            setattr(self, name, getattr(self, name) + 1)


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
        findings = predictor.predict(case.text)
        counts, kind = _judge(case, findings, predictor, labels, section)
        for row in (score.total, score.entities.setdefault(case.entity, EntityScore(case.entity))):
            row.count(name for name, is_met in counts.items() if is_met)
        if kind is not None:
            disagreements.append(_disagreement(case, kind, findings))
        advance()
    score.entities = dict(sorted(score.entities.items()))
    return score, disagreements


def _judge(
    case: Case, findings: Iterable[Finding], predictor: Predictor, labels: LabelMap, section: str
) -> tuple[dict[str, bool], Kind | None]:
    """Returns whether the case is in each count of an EntityScore, and how the labels and detection disagree."""
    correct = [
        (one.start, one.end)
        for one in predictor.candidates(case.text)
        if _is_correct(one.type, case.entity, predictor, labels, section)
    ]
    hidden = covered((one.start, one.end) for one in findings if one.hidden)
    if not case.positive:
        kind = Kind.FALSE_ALARM if hidden else Kind.FALSE_FINDING if correct else None
        return {"negative": True, "left_alone": not correct, "untouched": not hidden}, kind
    is_found, is_hidden = bool(correct), bool(hidden)
    if case.spans is not None:
        is_found = all(span in correct for span in case.spans)
        is_hidden = all(significant(case.text, *span) <= hidden for span in case.spans)
    kind = None
    if not is_hidden:
        kind = Kind.PARTLY if hidden else Kind.MISSED
    elif not is_found:
        kind = Kind.BORDERS if correct else Kind.OTHER_TYPE
    return {"positive": True, "found": is_found, "hidden": is_hidden}, kind


def _is_correct(type_name: str, entity: str, predictor: Predictor, labels: LabelMap, section: str) -> bool:
    """Compares names if the entity is one of the gateway's types, and common types otherwise."""
    if entity in predictor.protector.types:
        return type_name == entity
    return labels.common(section, type_name, predictor.group(type_name)) == labels.meaning(section, entity).common


def _disagreement(case: Case, kind: Kind, found: tuple[Finding, ...]) -> Disagreement:
    labelled = tuple(GoldSpan(start, end, case.entity) for start, end in case.spans or ())
    places: list[GoldSpan | Finding] = [*labelled, *found]
    start = min((one.start for one in places), default=0)
    end = max((one.end for one in places), default=len(case.text))
    return Disagreement(kind, case.entity, case.id, case.text, start, end, labelled if case.positive else (), found)
