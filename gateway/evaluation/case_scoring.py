"""Figures over cases: short texts that hold a value or only look as if they did.

A positive case is found when every expected span is, exactly and as the right type (anywhere, if nobody said where),
and hidden when the policy hides all of it, as whatever type. A negative one is left alone when nothing of its type is
found, and untouched when nothing in it is hidden at all.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from gateway.evaluation.characters import covered, telling
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
    """All cases of a file, and each entity by name."""

    total: EntityScore = field(default_factory=lambda: EntityScore("all"))
    entities: dict[str, EntityScore] = field(default_factory=dict)


def score_cases(
    cases: Iterable[Case],
    seeker: Predictor,
    labels: LabelMap,
    section: str,
    *,
    advance: Callable[[], None] = lambda: None,
) -> tuple[CasesScore, list[Disagreement]]:
    """The figures, and every case that did not turn out as it should. `advance` is called after each case."""
    score = CasesScore()
    disagreements: list[Disagreement] = []
    for case in cases:
        row, kind = _judge(case, seeker, labels, section)
        score.entities.setdefault(case.entity, EntityScore(case.entity)).add(row)
        score.total.add(row)
        if kind is not None:
            disagreements.append(_place(case, kind, seeker))
        advance()
    score.entities = dict(sorted(score.entities.items()))
    return score, disagreements


def _judge(case: Case, seeker: Predictor, labels: LabelMap, section: str) -> tuple[EntityScore, Kind | None]:
    right = [
        (one.start, one.end)
        for one in seeker.candidates(case.text)
        if _is_right(one.type, case.entity, seeker, labels, section)
    ]
    hidden = covered((one.start, one.end) for one in seeker.seek(case.text) if one.hidden)
    if not case.positive:
        row = EntityScore(case.entity, negative=1, left_alone=not right, untouched=not hidden)
        kind = Kind.FALSE_ALARM if hidden else Kind.FALSE_FINDING
        return row, kind if hidden or right else None
    if case.spans is None:
        row = EntityScore(case.entity, positive=1, found=bool(right), hidden=bool(hidden))
    else:
        needed = [telling(case.text, *span) for span in case.spans]
        found = all(span in right for span in case.spans)
        row = EntityScore(case.entity, positive=1, found=found, hidden=all(one <= hidden for one in needed))
    if row.found and row.hidden:
        return row, None
    if not row.hidden:
        return row, Kind.PARTLY if hidden else Kind.MISSED
    return row, Kind.BORDERS if right else Kind.OTHER_TYPE


def _is_right(type_name: str, entity: str, seeker: Predictor, labels: LabelMap, section: str) -> bool:
    """The entity's own name where it is one of our types; else the same common type."""
    if entity in seeker.protector.types:
        return type_name == entity
    return labels.common(section, type_name, seeker.group(type_name)) == labels.meaning(section, entity).common


def _place(case: Case, kind: Kind, seeker: Predictor) -> Disagreement:
    labelled = tuple(GoldSpan(start, end, case.entity) for start, end in case.spans or ())
    found = seeker.seek(case.text)
    places: list[GoldSpan | Finding] = [*labelled, *found]
    start = min((one.start for one in places), default=0)
    end = max((one.end for one in places), default=len(case.text))
    return Disagreement(kind, case.entity, case.id, case.text, start, end, labelled if case.positive else (), found)
