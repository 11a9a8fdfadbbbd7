"""Counts the entities of a request by type, as the input for risk, route and warnings.

An entity is kept in clear for one of three reasons: the policy keeps its type, its score is too low, or the allow list
names its value. Only the last is not a risk.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gateway.assessment.weights import Weight, weight_of
from gateway.detection import EntityType, group_of
from gateway.models import Action, PrivacyMode
from gateway.policy.model import Policy

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
    """The entities of one type, with the policy's rule for it.

    `surest` is the highest confidence (0-1), `amount` the sum of all.
    """

    type: str
    group: str
    action: Action
    min_score: float
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
    for is_hidden, findings in ((True, entities), (False, kept)):
        for entity in findings:
            one = found.get(entity.type)
            if one is None:
                group = group_of(entity.type, types)
                rule = policy.rule_for(entity.type, group, mode)
                one = Evidence(entity.type, group, rule.action, rule.min_score, weight_of(entity.type, group))
                found[entity.type] = one
            confidence = entity.score
            if is_hidden:
                one.hidden += 1
            elif entity.score < one.min_score:
                one.unsure += 1
                confidence *= _UNSURE
            elif one.action is Action.KEEP:
                one.kept += 1
            else:
                # On the allow list.
                continue
            one.amount += confidence
            one.surest = max(one.surest, confidence)
    return [found[type] for type in sorted(found)]
