"""Counts the entities of a request by type, as the input for risk, route and warnings.

An entity is kept in clear for one of three reasons: the policy keeps its type, its score is too low, or the allow list
names its value. Only the last is not a risk.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gateway.assessment.weights import Weight, weight_of
from gateway.detection import EntityType
from gateway.models import Action, PrivacyMode
from gateway.policy import Policy

_UNSURE = 0.5
"""Factor for entities below the policy's minimum score, in addition to their score."""


class Finding(Protocol):
    """The properties of an entity that count; its position and action do not."""

    @property
    def type(self) -> str: ...
    @property
    def score(self) -> float: ...


@dataclass(slots=True)
class Evidence:
    """The entities of one type. `surest` is the highest confidence (0-1), `amount` their sum."""

    type: str
    group: str
    action: Action
    weight: Weight
    hidden: int = 0
    kept: int = 0
    unsure: int = 0
    surest: float = 0.0
    amount: float = 0.0

    @property
    def present(self) -> int:
        """The number of findings with a sufficient score, hidden or not."""
        return self.hidden + self.kept


def gather(
    entities: Iterable[Finding],
    kept: Iterable[Finding],
    types: Mapping[str, EntityType],
    policy: Policy,
    mode: PrivacyMode,
) -> Sequence[Evidence]:
    """Counts entities by type and sorts by type. `entities` are hidden, `kept` are not."""
    found: dict[str, Evidence] = {}
    least: dict[str, float] = {}
    for is_hidden, some in ((True, entities), (False, kept)):
        for entity in some:
            one = found.get(entity.type)
            if one is None:
                kind = types.get(entity.type)
                group = kind.group if kind is not None else "custom"
                rule = policy.rule_for(entity.type, group, mode)
                weight = weight_of(entity.type, group)
                one = found[entity.type] = Evidence(entity.type, group, rule.action, weight)
                least[entity.type] = rule.min_score
            if is_hidden:
                one.hidden += 1
                confidence = entity.score
            elif entity.score < least[entity.type]:
                one.unsure += 1
                confidence = entity.score * _UNSURE
            elif one.action is Action.KEEP:
                one.kept += 1
                confidence = entity.score
            else:
                continue
            one.amount += confidence
            one.surest = max(one.surest, confidence)
    return [found[type] for type in sorted(found)]
