"""Applies a caller's corrections to findings, within what the policy permits.

A value is left in clear as a whole only: what contains more than it stays hidden, and so does every part of another
hidden value. Secrets, blocked types and types outside `may_allow` are never left in clear, nor is a value in the place
of a secret: `password = jo@acme.test`. What the policy hides by itself keeps its type and action: a denied value only
adds what is not yet hidden.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from gateway.corrections.lists import Corrections
from gateway.detection import EntityType, group_of
from gateway.models import CORRECTION, Action, Entity, PrivacyMode
from gateway.policy.model import Policy
from gateway.text.fields import Span, Spans

_STAND_IN = "Tr0ub4dor&3xYz9"
"""A password, recognized as one only where something announces one."""
_AROUND = 400
"""Characters on each side of a value that tell what it is."""
_OF_ANY_PART = frozenset({Action.PLACEHOLDER, Action.REDACT})
_LETTERS_OR_DIGITS = re.compile(r"[^\W_]+")

type Stretches = list[tuple[int, int]]
"""Start and end of each part of a text that a caller has left in clear."""


class Allowing:
    """Tells which findings the corrections of a request leave in clear under a policy."""

    def __init__(
        self,
        corrections: Corrections,
        policy: Policy,
        mode: PrivacyMode,
        types: Mapping[str, EntityType],
        detect: Callable[[str], Iterable[Entity]],
    ) -> None:
        self._corrections = corrections
        self._policy = policy
        self._mode = mode
        self._types = types
        self._detect = detect
        self._announced: dict[tuple[str, str], bool] = {}
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

    def allows(self, found: Entity | Span, text: str) -> bool:
        """Whether a finding in a text is left in clear: not where a password would be recognized in its place."""
        value = text[found.start : found.end]
        may = self.permits(found.type, found.recognizer) and self._corrections.allows(found.type, value)
        return may and not self._is_place_of_secret(text, found.start, found.end)

    def _is_place_of_secret(self, text: str, start: int, end: int) -> bool:
        before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
        # An address may be a password and the host after it.
        hosts = {"", text[start + text[start:end].rfind("@") : end] if "@" in text[start:end] else ""}
        return any(self._finds_secret(before, f"{_STAND_IN}{host}{after}") for host in sorted(hosts))

    def _finds_secret(self, before: str, after: str) -> bool:
        if (known := self._announced.get((before, after))) is None:
            start, end = len(before), len(before) + len(_STAND_IN)
            there = (one.type for one in self._detect(before + after) if one.start < end and start < one.end)
            known = self._announced[before, after] = any(group_of(type, self._types) == "secret" for type in there)
        return known

    def leaves(self, text: str, found: Span, clear: Stretches) -> bool:
        """Whether a repeated value is left in clear. If it is allowed there by itself, it becomes part of `clear`."""
        if self._is_part(found, clear):
            return True
        if self.allows(found, text):
            clear.append((found.start, found.end))
            return True
        return False

    def outside(self, candidates: Sequence[Entity], clear: Stretches, kept: list[Entity]) -> list[Entity]:
        """Returns the candidates that are not a part of an allowed value; `kept` gets the others."""
        hidden: list[Entity] = []
        for each in candidates:
            (kept if self._is_part(each, clear) else hidden).append(each)
        return hidden

    def _is_part(self, found: Entity | Span, clear: Stretches) -> bool:
        is_inside = any(start <= found.start and found.end <= end for start, end in clear)
        return is_inside and self.permits(found.type, found.recognizer)


def without_denied(spans: Spans) -> Spans:
    """Returns the spans that are hidden without a caller's corrections."""
    return [span for span in spans if span.recognizer != CORRECTION]


def with_denied(text: str, own: Spans, denied: Sequence[Span]) -> Spans:
    """Returns what is hidden anyway, and the parts of denied values that it does not cover. Both are disjoint."""
    hidden, added = [*own], list[Span]()
    for each in denied:
        there = sorted(span for span in hidden if span.start < each.end and each.start < span.end)
        if each.action is Action.BLOCK or (there and all(_is_same(span, each) for span in there)):
            # As one value with what it contains.
            start, end = min(s.start for s in (each, *there)), max(s.end for s in (each, *there))
            hidden = [span for span in hidden if span not in there]
            hidden.append(each._replace(start=start, end=end))
        else:
            added += _outside(text, each, there)
    return tuple(sorted((*hidden, *added), key=lambda span: span.start))


def _is_same(own: Span, denied: Span) -> bool:
    is_whole = denied.start <= own.start and own.end <= denied.end and own.end - own.start < denied.end - denied.start
    return is_whole and own.type == denied.type and own.action is denied.action in _OF_ANY_PART


def _outside(text: str, denied: Span, own: Spans) -> Iterator[Span]:
    if not own:
        yield denied
        return
    # A mask may show the end of a card number, but not that of any part of a text.
    action = denied.action if denied.action in _OF_ANY_PART else Action.PLACEHOLDER
    ends = [denied.start, *(span.end for span in own)]
    starts = [*(span.start for span in own), denied.end]
    for start, end in zip(ends, starts, strict=True):
        if words := [*_LETTERS_OR_DIGITS.finditer(text, start, max(start, end))]:
            yield denied._replace(start=words[0].start(), end=words[-1].end(), action=action, is_repeat=True)
