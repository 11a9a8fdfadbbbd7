"""Explains what was found in a text to who sent it: every finding, and the text with the findings marked."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from gateway.corrections.lists import Corrections
from gateway.detection import EntityType
from gateway.detection.overlaps import meets
from gateway.models import Action, Entity, PrivacyMode
from gateway.policy.model import Policy
from gateway.protection.protector import Protector
from gateway.protection.reasons import Kept, Reason, reason_of, settings_that_hide, settings_that_keep, why_kept
from gateway.text.fields import Span, TextField


class Explained(NamedTuple):
    """One finding. `kept` is None for what is hidden, else why it is left in clear. `settings` would change that."""

    type: str
    start: int
    end: int
    action: Action
    reason: Reason
    recognizer: str
    score: float
    kept: Kept | None
    settings: tuple[str, ...]


class Explanation(NamedTuple):
    """The findings in a text, sorted by start. `marked_text` has their numbers, from 1, those of kept ones with `?`."""

    findings: tuple[Explained, ...]
    marked_text: str


def explain(
    protector: Protector,
    text: str,
    policy: Policy,
    mode: PrivacyMode,
    *,
    remember_for: str | None = None,
    corrections: Corrections | None = None,
) -> Explanation:
    """Returns what would be found in a text under a policy and the caller's corrections. Blocks."""
    blocks = [[TextField({"text": text}, "text", text)]]
    (found,) = protector.find(blocks, policy, mode, block=False, remember_for=remember_for, corrections=corrections)
    (spans,) = found.spans
    findings = [_hidden(span, policy, protector.types) for span in spans]
    findings += [_kept(one, text, policy, protector.types, mode) for one in _in_clear(found.kept, spans)]
    findings.sort(key=lambda one: (one.start, -one.end))
    return Explanation(tuple(findings), "".join(piece for piece, _ in marked(text, findings)))


def marked(text: str, findings: Sequence[Explained]) -> Iterator[tuple[str, Explained | None]]:
    """Yields a text in pieces, each with its finding: `[1:Jane]` for a hidden one, `[2?:Bonn]` for a kept one.

    A finding that overlaps the one before, which both are kept, is not marked.
    """
    at = 0
    for number, one in enumerate(findings, 1):
        if at <= one.start:
            yield text[at : one.start], None
            yield f"[{number}{'?' if one.kept else ''}:{text[one.start : one.end]}]", one
            at = one.end
    yield text[at:], None


def _hidden(span: Span, policy: Policy, types: Mapping[str, EntityType]) -> Explained:
    found = span.type, span.start, span.end, span.action, reason_of(span), span.recognizer, span.score
    return Explained(*found, None, settings_that_hide(span, policy, types))


def _kept(one: Entity, text: str, policy: Policy, types: Mapping[str, EntityType], mode: PrivacyMode) -> Explained:
    why = why_kept(one, text[one.start : one.end], policy, types, mode)
    found = one.type, one.start, one.end, Action.KEEP, reason_of(one), one.recognizer, one.score
    return Explained(*found, why, settings_that_keep(one, why))


def _in_clear(kept: Sequence[Entity], hidden: Sequence[Span]) -> list[Entity]:
    """Returns the kept entities of which nothing is hidden; of those in the same place, the most certain."""
    covered = [(span.start, span.end) for span in hidden]
    best: dict[tuple[int, int], Entity] = {}
    for one in kept:
        place = one.start, one.end
        if not meets(covered, *place) and (place not in best or best[place].score < one.score):
            best[place] = one
    return [*best.values()]
