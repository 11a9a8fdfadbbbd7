"""Applies a caller's corrections to findings, within what the policy permits.

A value is left in clear as a whole only: what contains more than it stays hidden, and so does every part of another
hidden value. Secrets, blocked types and types outside `may_allow` are never left in clear.
"""

from collections.abc import Mapping, Sequence

from gateway.corrections.lists import Corrections
from gateway.detection import EntityType, group_of
from gateway.models import CORRECTION, Action, Entity, PrivacyMode
from gateway.policy.model import Policy
from gateway.text.fields import Span

type Stretches = list[tuple[int, int]]
"""Start and end of each part of a text that a caller has left in clear."""


class Allowing:
    """Tells which findings the corrections of a request leave in clear under a policy."""

    def __init__(
        self, corrections: Corrections, policy: Policy, mode: PrivacyMode, types: Mapping[str, EntityType]
    ) -> None:
        self._corrections = corrections
        self._policy = policy
        self._mode = mode
        self._types = types
        self._permitted: dict[tuple[str, str], bool] = {}
        self.find = corrections.find

    def permits(self, type: str, recognizer: str) -> bool:
        """Whether the policy lets a caller have findings of a recognizer left in clear."""
        key = type, recognizer
        if (known := self._permitted.get(key)) is None:
            group = group_of(type, self._types)
            known = recognizer != CORRECTION and self._policy.may_allow_of(type, group, recognizer)
            known = known and self._policy.rule_for(type, group, self._mode).action is not Action.BLOCK
            self._permitted[key] = known
        return known

    def allows(self, found: Entity | Span, value: str) -> bool:
        """Whether a finding with this value is left in clear."""
        return self.permits(found.type, found.recognizer) and self._corrections.allows(found.type, value)

    def leaves(self, text: str, found: Span, clear: Stretches) -> bool:
        """Whether a repeated value is left in clear. If it is allowed there by itself, it becomes part of `clear`."""
        if not self.permits(found.type, found.recognizer):
            return False
        if any(start <= found.start and found.end <= end for start, end in clear):
            return True
        if self._corrections.allows(found.type, text[found.start : found.end]):
            clear.append((found.start, found.end))
            return True
        return False

    def outside(self, candidates: Sequence[Entity], clear: Stretches, kept: list[Entity]) -> list[Entity]:
        """Returns the candidates that are not a part of an allowed value; `kept` gets the others."""
        hidden: list[Entity] = []
        for each in candidates:
            is_part = any(start <= each.start and each.end <= end for start, end in clear)
            (kept if is_part and self.permits(each.type, each.recognizer) else hidden).append(each)
        return hidden
