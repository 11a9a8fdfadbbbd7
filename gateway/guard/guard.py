"""Runs all checks on an answer and lets the policy decide on their findings."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gateway.detection.overlaps import overlapping
from gateway.guard.context import GuardContext
from gateway.guard.data_flow import leaving
from gateway.guard.instructions import instructions
from gateway.guard.links import encoded_in_links, in_links
from gateway.guard.new_values import new_values
from gateway.guard.readings import Reading, readings
from gateway.guard.tool_calls import exfiltrating
from gateway.guard.verdict import KINDS, GuardAction, GuardFinding, Hit, Kind, Severity, Verdict
from gateway.placeholders import Found
from gateway.policy.document import GuardDocument
from gateway.text.answers import AnswerText

_ORDER: tuple[GuardAction, ...] = ("pass", "flag", "redact", "replace")


def inspect(parts: Sequence[AnswerText], context: GuardContext, rules: GuardDocument) -> Verdict:
    """Returns the findings in an answer and what the policy makes of them.

    To be called with the answer as it came, before anything is restored. Pure; linear in the answer but for the number
    of protected values.
    """
    actions = {kind: mode for kind, rule in KINDS.items() if (mode := rules.of(rule)) != "off"}
    if not actions:
        return Verdict()
    counts: Counter[tuple[Kind, Severity]] = Counter()
    redacted: dict[int, list[Hit]] = {}
    strictest: GuardAction = "pass"
    for index, hit in _hits(parts, context, kinds=frozenset(actions)):
        action: GuardAction = "flag" if hit.severity is Severity.LOW else actions[hit.kind]
        strictest = max(strictest, action, key=_ORDER.index)
        counts[hit.kind, hit.severity] += 1
        if action == "redact":
            redacted.setdefault(index, []).append(hit)
    findings = tuple(
        GuardFinding(kind, KINDS[kind], severity, count) for (kind, severity), count in sorted(counts.items())
    )
    return Verdict(strictest, findings, {index: _spans(hits) for index, hits in redacted.items()})


def _spans(hits: Sequence[Hit]) -> list[tuple[int, int]]:
    """Sorted and disjoint; what overlaps becomes one."""
    groups = overlapping(sorted(hits, key=lambda hit: hit.start))
    return [(group[0].start, max(hit.end for hit in group)) for group in groups]


def _hits(parts: Sequence[AnswerText], context: GuardContext, *, kinds: frozenset[Kind]) -> Iterator[tuple[int, Hit]]:
    """The findings of some kinds, each with the index of its part, offsets of the part's text."""
    # Two readings of a part have findings in common.
    found: list[dict[Hit, None]] = [{} for _ in parts]
    for reading in readings(parts):
        for hit in _in_reading(reading, context):
            for index, start, end in reading.to_source(hit.start, hit.end):
                found[index][replace(hit, start=start, end=end)] = None
    if Kind.NEW_SENSITIVE_VALUE in kinds:
        for part, entities, hits in zip(parts, context.entities, found, strict=False):
            taken = [(hit.start, hit.end) for hit in hits]
            hits.update(dict.fromkeys(new_values(part.text, entities, context, taken)))
    yield from ((index, hit) for index, hits in enumerate(found) for hit in hits if hit.kind in kinds)


def _in_reading(reading: Reading, context: GuardContext) -> Iterator[Hit]:
    text = reading.text
    yield from context.values.foreign_placeholders(text, context.source)
    yield from context.values.in_clear(text, context.source)
    found = context.placeholders.find(text)
    if reading.kind == "data":
        # Nothing a person reads: a value has no business there.
        yield from (Hit(Kind.PLACEHOLDER_IN_URL, hit.start, hit.end, Severity.HIGH) for hit in found)
    if found:
        yield from in_links(text, context)
    if found and reading.kind == "json":
        yield from exfiltrating(reading, found, context)
    elif found and reading.names_a_place:
        yield from _sent_by_code(text, found, context)
    if "//" in text or "www." in text:
        yield from encoded_in_links(text, found, context)
    yield from instructions(reading, found, context)


def _sent_by_code(text: str, found: Sequence[Found], context: GuardContext) -> Iterator[Hit]:
    """The placeholders that commands, programs and forms send to an untrusted destination."""
    going = leaving(text, [hit.start for hit in found], context.untrusted)
    for hit in found:
        if going.get(hit.start):
            yield Hit(Kind.PLACEHOLDER_IN_MARKUP, hit.start, hit.end, Severity.HIGH)
        elif hit.start in going:
            yield Hit(Kind.INSTRUCTION_TO_SEND, hit.start, hit.end, Severity.MEDIUM)
