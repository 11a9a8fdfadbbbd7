"""What a person wants to know of a policy before using it: what is odd, and what differs from another."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from gateway.detection import EntityType
from gateway.models import Action, Notice, PrivacyMode
from gateway.policy.document import GROUPS
from gateway.policy.generalization import kind_for
from gateway.policy.model import Policy
from gateway.policy.rules import OWN_GROUP


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that two policies do not agree on, by its path; a side that lacks it has None."""

    path: str
    before: Any
    after: Any


def warnings(policy: Policy, types: Mapping[str, EntityType], *, others: bool = False) -> tuple[Notice, ...]:
    """What is allowed but probably not meant. `types` are those looked for; with `others`, more may be found."""
    odd = (*_unknown_types(policy, types, others), *_idle_rules(policy, types), *_idle_patterns(policy))
    return tuple(Notice(code, message) for code, message in odd)


def _unknown_types(policy: Policy, types: Mapping[str, EntityType], others: bool) -> Iterator[tuple[str, str]]:
    effect = "only what the detection service finds can be that" if others else "what is said of it has no effect yet"
    route = policy.route
    named = policy.rules.named() | route.local_types | route.blocked_types
    known = {*types, *policy.own_types, *GROUPS}
    for name in sorted(named - known):
        near = get_close_matches(name, sorted(known), 1, 0.75)
        hint = f" Did you mean `{near[0]}`?" if near else ""
        yield "unknown_type", f"No recognizer or model in use finds `{name}`: {effect}.{hint}"


def _idle_rules(policy: Policy, types: Mapping[str, EntityType]) -> Iterator[tuple[str, str]]:
    for name in sorted(policy.rules.named() - set(GROUPS)):
        group = types[name].group if name in types else OWN_GROUP
        rule = policy.rules.work_out(name, group, PrivacyMode.STANDARD)
        if rule.action is Action.GENERALIZE and rule.options.to is None and kind_for(name) is None:
            yield (
                "nothing_coarser",
                f"Nothing coarser is known for `{name}`: its values will be removed. Say `to` what.",
            )
    for name in sorted(set(policy.own_types).intersection(types) - policy.rules.named()):
        yield (
            "shared_type",
            f"The policy's own findings are called `{name}`, as are some of detection's: the same rule holds for both. "
            "Detection's own group does not count for it.",
        )


def _idle_patterns(policy: Policy) -> Iterator[tuple[str, str]]:
    for pattern in policy.document["patterns"]:
        rule = policy.rule_for(pattern["type"], OWN_GROUP, PrivacyMode.STANDARD)
        if pattern["score"] < rule.min_score and not pattern["context"]:
            yield (
                "idle_pattern",
                f"The pattern `{pattern['name']}` scores less than the `min_score` of its type: it hides nothing.",
            )


def differences(before: Policy, after: Policy) -> tuple[Difference, ...]:
    """The fields in which two resolved policies differ, by path. Their hashes differ whenever anything does."""
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
