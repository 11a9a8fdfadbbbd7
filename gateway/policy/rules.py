"""Selects the rule for an entity.

A rule inherits what it omits from the next less specific one. From least to most specific:

    otherwise < strict.otherwise < rules[group] < rules[TYPE] < strict.rules[group] < strict.rules[TYPE]

The strict rules apply only in strict mode. A rule that changes the action drops the options of the previous action.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gateway.detection.recognizer import OWN_GROUP
from gateway.models import Action, PrivacyMode


@dataclass(frozen=True, slots=True)
class RuleOptions:
    """Options of an action. None: depends on the entity type (gateway/protection/operators.py)."""

    keep_last: int | None = None
    mask_with: str = "*"
    to: str | None = None
    oldest_year: int | None = None
    hash_length: int = 12


@dataclass(frozen=True, slots=True)
class Rule:
    """The action for entities with at least `min_score` (0-1)."""

    action: Action
    min_score: float
    options: RuleOptions = RuleOptions()


RuleDict = Mapping[str, Any]


class RuleBook:
    """The rules of one resolved policy. Caches a rule per entity type, group and mode."""

    __slots__ = ("_known", "_otherwise", "_rules", "_strict", "_strict_otherwise", "own_types")

    def __init__(
        self,
        otherwise: RuleDict,
        rules: Mapping[str, RuleDict],
        strict_otherwise: RuleDict,
        strict_rules: Mapping[str, RuleDict],
        own_types: frozenset[str],
    ) -> None:
        self._otherwise = otherwise
        self._rules = rules
        self._strict_otherwise = strict_otherwise
        self._strict = strict_rules
        self.own_types = own_types
        self._known: dict[tuple[str, str, PrivacyMode], Rule] = {}

    def rule_for(self, type: str, group: str, mode: PrivacyMode) -> Rule:
        key = (type, group, mode)
        rule = self._known.get(key)
        if rule is None:
            rule = self._known[key] = self.compute(type, group, mode)
        return rule

    def named(self) -> frozenset[str]:
        """Returns all types and groups that have a rule."""
        return frozenset(self._rules) | frozenset(self._strict)

    def compute(self, type: str, group: str, mode: PrivacyMode) -> Rule:
        """Computes a rule without caching. The mask of a secret shows none of its characters."""
        rule = self._computed(type, group, mode)
        if group == "secret" and rule.action is Action.MASK:
            return replace(rule, options=replace(rule.options, keep_last=0))
        return rule

    def _computed(self, type: str, group: str, mode: PrivacyMode) -> Rule:
        """A strict rule for a group cannot weaken a standard rule for its types."""
        if type in self.own_types:
            # Ignore the detector's group: a rule that keeps that group must not reveal what the policy's own list
            # hides.
            group = OWN_GROUP
        standard = self.layered(type, group, PrivacyMode.STANDARD)
        if mode is PrivacyMode.STANDARD:
            return standard
        strict = self.layered(type, group, PrivacyMode.STRICT)
        if is_weaker(strict.action, standard.action):
            strict = replace(standard, min_score=strict.min_score)
        if standard.action is Action.KEEP:
            return strict
        return replace(strict, min_score=min(standard.min_score, strict.min_score))

    def layered(self, type: str, group: str, mode: PrivacyMode) -> Rule:
        """Merges the layers without checking that strict mode is at least as strict."""
        strict = mode is PrivacyMode.STRICT
        layers = [
            self._otherwise,
            self._strict_otherwise if strict else {},
            self._rules.get(group, {}),
            self._rules.get(type, {}),
            self._strict.get(group, {}) if strict else {},
            self._strict.get(type, {}) if strict else {},
        ]
        rule = Rule(Action.PLACEHOLDER, 0.5)
        for layer in layers:
            rule = _over(rule, layer)
        return rule


def is_weaker(action: Action, than: Action) -> bool:
    """Whether an action reveals more than another. `keep` is the weakest action, `block` the strongest."""
    strength = {Action.KEEP: 0, Action.BLOCK: 2}
    return strength.get(action, 1) < strength.get(than, 1)


def _over(rule: Rule, layer: RuleDict) -> Rule:
    if not layer:
        return rule
    action = Action(layer.get("action", rule.action))
    options = rule.options if action is rule.action else RuleOptions()
    given = {key: value for key, value in layer.items() if key not in ("action", "min_score")}
    return Rule(action, float(layer.get("min_score", rule.min_score)), replace(options, **given) if given else options)
