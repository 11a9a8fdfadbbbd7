"""Says why something was hidden or left in clear, and which setting would change it, in words of closed sets.

A reason follows from the recognizer, the type, the score, and the mark of repeated values. It never quotes text.
"""

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Literal

from gateway.detection import EntityType, builtin_detector, group_of
from gateway.detection.recognizer import FunctionRecognizer, PatternRecognizer
from gateway.detection.recognizers.government_numbers import LABEL_SCORES, RECOGNIZERS, proven_types
from gateway.models import CORRECTION, NAME_MODEL, OWN_RECOGNIZER, Action, Entity, PrivacyMode
from gateway.policy.model import Policy
from gateway.protection.spreading import SURE
from gateway.text.fields import Span

LITERAL = "literal"
"""The recognizer of look-alikes of placeholders."""
_HIGH = 0.9
_CHECKED = 1.0
_MODELS = frozenset({NAME_MODEL, "onnx"})
_NUMBERS = frozenset(each.id for each in RECOGNIZERS)


class Reason(StrEnum):
    """Why something was found."""

    PATTERN = "pattern"
    CHECKED_PATTERN = "checked_pattern"
    LABEL = "label"
    KNOWN_VALUE = "known_value"
    NAME_MODEL_HIGH = "name_model_high"
    NAME_MODEL_MEDIUM = "name_model_medium"
    NAME_MODEL_LOW = "name_model_low"
    DETECTION_SERVICE = "detection_service"
    POLICY = "policy"
    PLACEHOLDER_LOOKALIKE = "placeholder_lookalike"
    CORRECTION = "correction"

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_SENTENCES: Mapping[str, str] = {
    "pattern": "It has the form of its type.",
    "checked_pattern": "It has the form of its type, and a validator such as a check digit confirmed it.",
    "label": "A label or another word next to it says what it is.",
    "known_value": "The same value was recognized elsewhere in this conversation.",
    "name_model_high": "The name model found it, with high confidence.",
    "name_model_medium": "The name model found it, with medium confidence.",
    "name_model_low": "The name model found it, with low confidence.",
    "detection_service": "The operator's detection service found it.",
    "policy": "A list or a pattern of the policy has it.",
    "placeholder_lookalike": "It looks like a placeholder of this conversation.",
    "correction": "The caller's corrections hide it.",
}

type Kept = Literal["rule", "min_score", "allow_list", "correction"]
"""Why a finding was left in clear: the rule of its type keeps it, its score is too low, the policy allows it, or the
caller's corrections do.
"""


def reason_of(found: Span | Entity) -> Reason:
    """Returns why something was found."""
    recognizer, score = found.recognizer, found.score
    if isinstance(found, Span) and found.is_repeat:
        return Reason.KNOWN_VALUE
    if recognizer in _MODELS:
        if score >= _HIGH:
            return Reason.NAME_MODEL_HIGH
        return Reason.NAME_MODEL_MEDIUM if score >= SURE else Reason.NAME_MODEL_LOW
    if recognizer.startswith(OWN_RECOGNIZER):
        return Reason.POLICY
    if recognizer in _SOLE:
        return _SOLE[recognizer]
    if recognizer in _NUMBERS:
        return _of_number(found.type, score)
    label_scores, is_checked, is_by_label = _scores().get(recognizer, (frozenset(), True, False))
    if is_by_label or score in label_scores:
        return Reason.LABEL
    return Reason.CHECKED_PATTERN if is_checked and score >= _CHECKED else Reason.PATTERN


_SOLE = {
    LITERAL: Reason.PLACEHOLDER_LOOKALIKE,
    CORRECTION: Reason.CORRECTION,
    "presidio": Reason.DETECTION_SERVICE,
}


def settings_that_hide(found: Span, policy: Policy, types: Mapping[str, EntityType]) -> tuple[str, ...]:
    """Returns what would leave it in clear: settings of the policy, or the member of a request."""
    reason = reason_of(found)
    if reason is Reason.PLACEHOLDER_LOOKALIKE:
        return ()
    if reason is Reason.CORRECTION:
        return ("svc_deny",)
    rule, may_change = f"rules.{found.type}", found.action is not Action.BLOCK
    if reason is Reason.POLICY:
        name = found.recognizer.removeprefix(OWN_RECOGNIZER)
        names = ["deny" if name == "deny" else f"patterns.{name}", rule]
    else:
        names = [rule, *([f"{rule}.min_score"] if may_change and found.score < _CHECKED else []), "allow"]
    may_allow = may_change and policy.may_allow_of(found.type, group_of(found.type, types), found.recognizer)
    return (*names, "svc_allow") if may_allow else tuple(names)


def why_kept(found: Entity, value: str, policy: Policy, types: Mapping[str, EntityType], mode: PrivacyMode) -> Kept:
    """Returns why a finding with a value was left in clear."""
    rule = policy.rule_for(found.type, group_of(found.type, types), mode)
    if policy.allows(found.type, value):
        return "allow_list"
    if rule.action is Action.KEEP:
        return "rule"
    return "min_score" if found.score < rule.min_score else "correction"


def settings_that_keep(found: Entity, why: Kept) -> tuple[str, ...]:
    """Returns what would hide a finding that was left in clear."""
    if why in {"allow_list", "correction"}:
        return ("allow" if why == "allow_list" else "svc_allow",)
    rule = f"rules.{found.type}"
    return (f"{rule}.min_score" if why == "min_score" else rule, "svc_deny")


def _of_number(type: str, score: float) -> Reason:
    if type in proven_types():
        return Reason.CHECKED_PATTERN
    return Reason.LABEL if score in LABEL_SCORES else Reason.PATTERN


@cache
def _scores() -> Mapping[str, tuple[frozenset[float], bool, bool]]:
    """Returns the scores that a label gives, whether values may be checked, and whether a label found all of them."""
    found: dict[str, tuple[frozenset[float], bool, bool]] = {}
    for each in builtin_detector().recognizers:
        if isinstance(each, PatternRecognizer):
            found[each.id] = each.label_scores, each.validator is not None, each.by_label
        elif isinstance(each, FunctionRecognizer):
            found[each.id] = frozenset(), True, each.by_label
    return found
