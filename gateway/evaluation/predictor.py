"""Runs detection and policy on a text as for a request, and returns what is found and hidden."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from gateway.detection import group_of, resolve_overlaps
from gateway.models import Entity, PrivacyMode
from gateway.policy.model import Policy
from gateway.protection.protector import Protector
from gateway.text.fields import TextField


class Finding(NamedTuple):
    """`text[start:end]` was detected as `type`. `hidden` says whether the policy hides it."""

    type: str
    start: int
    end: int
    score: float
    recognizer: str
    hidden: bool


@dataclass(frozen=True, slots=True)
class Predictor:
    """A detector under a policy.

    `min_score` replaces the policy's minimum scores. It changes what counts as found, never what is hidden.
    """

    protector: Protector
    policy: Policy
    mode: PrivacyMode
    min_score: float | None = None

    def group(self, type_name: str) -> str:
        """Returns the group of a type: `custom` for types that the policy defines."""
        return group_of(type_name, self.protector.types)

    def predict(self, text: str) -> tuple[Finding, ...]:
        """Returns what is hidden and what is found but kept, sorted by start.

        Neither group overlaps itself. A kept finding within a hidden one is left out.
        """
        [found] = self.protector.find([[TextField({}, "text", text)]], self.policy, self.mode, block=False)
        hidden = [Finding(one.type, one.start, one.end, one.score, one.recognizer, True) for one in found.spans[0]]
        kept = [
            Finding(one.type, one.start, one.end, one.score, one.recognizer, False)
            for one in resolve_overlaps(self._counting(found.kept, text))
        ]
        clear = [one for one in kept if not any(each.start <= one.start and one.end <= each.end for each in hidden)]
        return tuple(sorted([*hidden, *clear], key=lambda one: (one.start, one.end)))

    def _counting(self, kept: Iterable[Entity], text: str) -> Iterable[Entity]:
        for one in kept:
            least = self.min_score
            if least is None:
                least = self.policy.rule_for(one.type, self.group(one.type), self.mode).min_score
            if one.score >= least and not self.policy.allows(one.type, text[one.start : one.end]):
                yield one

    def candidates(self, text: str) -> tuple[Entity, ...]:
        """Returns everything that counts as found, before overlaps are resolved: a value may have several types."""
        found = (*self.protector.detect(text), *self.policy.find(text))
        return tuple(self._counting(found, text))
