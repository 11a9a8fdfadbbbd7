"""Runs all checks on an answer and lets the policy decide on their findings."""

from collections import Counter
from collections.abc import Iterator, Sequence

from gateway.detection.overlaps import overlapping
from gateway.guard.context import AnswerPart, GuardContext, Hit, Source
from gateway.guard.encodings import Encodings
from gateway.guard.exfiltration import leaving
from gateway.guard.instructions import instructions
from gateway.guard.links import in_links
from gateway.guard.part_views import Reading, readings, runs, split
from gateway.guard.placeholder_checks import Tags
from gateway.guard.tool_calls import exfiltrating
from gateway.guard.untrusted_destinations import UntrustedDestinations
from gateway.guard.value_leaks import ProtectedValues, new_values
from gateway.guard.verdict import KINDS, GuardAction, GuardFinding, Kind, Severity, Verdict
from gateway.placeholders import Found
from gateway.policy.document import GuardDocument

_ORDER: tuple[GuardAction, ...] = ("pass", "flag", "redact", "replace")


def inspect(parts: Sequence[AnswerPart], context: GuardContext, rules: GuardDocument) -> Verdict:
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
    for index, hit in _Inspection(context, frozenset(actions)).hits(parts):
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


class _Inspection:
    """What is prepared once for all parts of an answer."""

    def __init__(self, context: GuardContext, kinds: frozenset[Kind]) -> None:
        self._context = context
        self._kinds = kinds
        self._source = Source(context.request)
        self._untrusted = UntrustedDestinations(Source(context.request, named_for=frozenset()), by_name=True)
        self._tags = Tags(context)
        self._values = ProtectedValues(context)
        self._encodings = Encodings(context, self._tags, self._values)

    def hits(self, parts: Sequence[AnswerPart]) -> Iterator[tuple[int, Hit]]:
        """The findings of the kinds that the policy asks for, each with its part, offsets of the part's text."""
        entities = self._context.entities
        # Two readings of a part have findings in common.
        found: dict[int, dict[Hit, None]] = {}
        for indices in runs(parts):
            for index, hit in self._in_run([parts[index] for index in indices]):
                found.setdefault(indices[index], {})[hit] = None
        for index, part in enumerate(parts):
            hits = [*found.get(index, ())]
            if index < len(entities) and entities[index] and Kind.NEW_SENSITIVE_VALUE in self._kinds:
                taken = [(hit.start, hit.end) for hit in hits]
                hits += new_values(part.text, entities[index], self._context, self._source, taken)
            yield from ((index, hit) for hit in hits if hit.kind in self._kinds)

    def _in_run(self, parts: Sequence[AnswerPart]) -> Iterator[tuple[int, Hit]]:
        """The findings in parts that a reader puts together."""
        if parts[0].kind == "data":
            # Nothing a person reads: a value has no business there.
            found = self._context.placeholders.find(parts[0].text)
            yield from ((0, Hit(Kind.PLACEHOLDER_IN_URL, hit.start, hit.end, Severity.HIGH)) for hit in found)
        for reading in readings(parts):
            for hit in self._in_reading(reading):
                for index, start, end in split(parts, *reading.to_source(hit.start, hit.end)):
                    yield index, Hit(hit.kind, start, end, hit.severity)

    def _in_reading(self, reading: Reading) -> Iterator[Hit]:
        text, source = reading.text, self._source
        yield from self._tags.foreign(text, source)
        yield from self._values.hits(text)
        found = self._context.placeholders.find(text)
        if found:
            yield from in_links(text, found, self._context.placeholders, self._context.scope, self._untrusted)
        if found and (reading.json or reading.names_a_place):
            yield from self._sending(reading, found)
        if "//" in text or "www." in text:
            yield from self._encodings.hits(text, found, source)
        yield from instructions(reading, found, source, self._untrusted)

    def _sending(self, reading: Reading, found: Sequence[Found]) -> Iterator[Hit]:
        """Tool calls, commands, programs and forms that send a placeholder to an untrusted destination."""
        if reading.json:
            named = Source(self._context.request, named_for=frozenset(hit.placeholder for hit in found))
            yield from exfiltrating(reading, found, self._context, UntrustedDestinations(named, by_name=False))
            return
        going = leaving(reading.text, [hit.start for hit in found], self._untrusted)
        for hit in found:
            if going.get(hit.start):
                yield Hit(Kind.PLACEHOLDER_IN_MARKUP, hit.start, hit.end, Severity.HIGH)
            elif hit.start in going:
                yield Hit(Kind.INSTRUCTION_TO_SEND, hit.start, hit.end, Severity.MEDIUM)
