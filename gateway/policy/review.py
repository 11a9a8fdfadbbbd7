"""Reviews policies: warns about likely mistakes, and lists the differences between two."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gateway.detection import EntityType, group_of
from gateway.detection.recognizer import OWN_GROUP
from gateway.models import Action, Notice, PrivacyMode
from gateway.policy.document import GROUPS
from gateway.policy.generalization import default_generalization
from gateway.policy.known_types import nearest
from gateway.policy.model import Policy


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that differs between two policies, with its path. None means that a policy lacks the field."""

    path: str
    before: Any
    after: Any


def warnings(policy: Policy, types: Mapping[str, EntityType], *, others: bool = False) -> tuple[Notice, ...]:
    """Returns warnings about valid but probably unintended rules.

    `types` are those of the recognizers and models in use; `others` says that a detection service may find more.
    """
    odd = (*_unknown_types(policy, types, others), *_idle_rules(policy, types), *_idle_patterns(policy))
    return tuple(Notice(code, message) for code, message in odd)


def _unknown_types(policy: Policy, types: Mapping[str, EntityType], others: bool) -> Iterator[tuple[str, str]]:
    effect = "only the detection service could find it" if others else "its rules have no effect"
    route = policy.route
    named = policy.rule_book.named().union(route.local_types, route.blocked_types, policy.may_allow or ())
    known = {*types, *policy.own_types, *GROUPS}
    for name in sorted(named - known):
        near = nearest(name, known)
        hint = f" Did you mean `{near}`?" if near else ""
        yield "unknown_type", f"No recognizer or model in use finds `{name}`: {effect}.{hint}"


def _idle_rules(policy: Policy, types: Mapping[str, EntityType]) -> Iterator[tuple[str, str]]:
    for name in sorted(policy.rule_book.named() - set(GROUPS)):
        rule = policy.rule_book.compute(name, group_of(name, types), PrivacyMode.STANDARD)
        if rule.action is Action.GENERALIZE and rule.options.to is None and default_generalization(name) is None:
            yield (
                "nothing_coarser",
                f"`{name}` has no default generalization, so its values will be removed. Set `to`.",
            )
    for name in sorted(set(policy.own_types).intersection(types) - policy.rule_book.named()):
        yield (
            "shared_type",
            f"The policy's lists or patterns share the type `{name}` with a recognizer, so the same rule applies to "
            "both, and the rule of the recognizer's group does not. Use another type to separate them.",
        )


def _idle_patterns(policy: Policy) -> Iterator[tuple[str, str]]:
    for pattern in policy.document["patterns"]:
        rule = policy.rule_for(pattern["type"], OWN_GROUP, PrivacyMode.STANDARD)
        if pattern["score"] < rule.min_score and not pattern["context"]:
            yield (
                "idle_pattern",
                f"The pattern `{pattern['name']}` hides nothing: its score is below the `min_score` of its "
                f"type. Raise it.",
            )


def differences(before: Policy, after: Policy) -> tuple[Difference, ...]:
    """Returns the fields in which two resolved policies differ, sorted by path."""
    left, right = dict(_leaves(before.document)), dict(_leaves(after.document))
    return tuple(
        Difference(path, left.get(path), right.get(path))
        for path in sorted({*left, *right})
        if left.get(path) != right.get(path)
    )


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{path}.{inner.get('name', index)}")
    else:
        yield path, value
