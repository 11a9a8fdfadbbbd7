"""Values nobody there should know: protected ones in clear, and sensitive ones that the request never held."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gateway.guard.canonical_text import Compacted, compact
from gateway.guard.context import GuardContext, Hit, Source
from gateway.guard.test_values import is_public_mail, is_public_phone, is_specimen
from gateway.guard.verdict import Kind, Severity
from gateway.models import Entity

_WEIGHTY = frozenset({"secret", "financial", "government_id", "health"})
_SHORTEST_WORD = 4
_SHORTEST_NUMBER = 7
# Between two characters of one value stand at most this many others: "+49 (30) 1234", not half a sentence.
_WIDEST_GAP = 4
_GRAM = 4
_MANY = 400_000
_SURE = 0.75
# Public by nature, though financial; or made up by the model as often as not.
_NOBODYS = frozenset({"BIC_CODE", "ABA_ROUTING_NUMBER", "PASSWORD", "SECRET"})
# What a model knows of the world without having been told: one word of it is no leak.
_COMMON_GROUPS = frozenset({"address", "organization", "temporal"})
_NEVER = frozenset({"PLACEHOLDER", "AGE"})
_NEAR = 80
# "5552368" in "5,552,368.10" and in "9.555.2368" is part of another number.
_GOES_ON = re.compile(r"\d[.,]\d")


@dataclass(frozen=True, slots=True)
class Needle:
    """A protected value as it is looked for."""

    compact: str = field(repr=False)
    value: str = field(repr=False)
    as_word: bool
    severity: Severity


class ProtectedValues:
    """The values of a session, found in any spelling that keeps their letters and digits in order."""

    def __init__(self, context: GuardContext) -> None:
        needles = (self._needle(entry.type, entry.value, context) for entry in context.placeholders.entries())
        unique = {(needle.compact, needle.as_word): needle for needle in needles if needle is not None}
        self._needles = tuple(unique.values())

    @staticmethod
    def _needle(kind: str, value: str, context: GuardContext) -> Needle | None:
        plain = compact(value)
        known = context.types.get(kind)
        group = known.group if known is not None else "custom"
        word = value.isalpha()
        if kind in _NEVER or len(plain) < _SHORTEST_WORD or (word and group in _COMMON_GROUPS):
            return None
        if plain.isdigit() and len(plain) < _SHORTEST_NUMBER:
            return None
        return Needle(plain, value, word, Severity.HIGH if group in _WEIGHTY else Severity.MEDIUM)

    def __len__(self) -> int:
        return len(self._needles)

    def within(self, text: str) -> bool:
        """Whether any of the values stands in a text, however cut out of it."""
        hay = compact(text)
        return any(needle.compact in hay for needle in self._needles)

    def hits(self, text: str) -> Iterator[Hit]:
        """Where protected values stand in clear."""
        if not self._needles:
            return
        hay = compact(text)
        present = [needle for needle in self._candidates(hay) if needle.compact in hay]
        if not present:
            return
        mapped = Compacted(text)
        for needle in present:
            at = hay.find(needle.compact)
            while at >= 0:
                end = at + len(needle.compact)
                span = mapped.span(at, end)
                if mapped.widest_gap(at, end) <= _WIDEST_GAP and _stands_alone(text, *span, needle):
                    yield Hit(Kind.PROTECTED_VALUE_IN_CLEAR, *span, needle.severity)
                at = hay.find(needle.compact, at + 1)

    def _candidates(self, hay: str) -> Sequence[Needle]:
        """All values, or those whose beginning occurs, where that is cheaper to know first."""
        if len(hay) * len(self._needles) < _MANY:
            return self._needles
        grams = {hay[index : index + _GRAM] for index in range(len(hay) - _GRAM + 1)}
        return [needle for needle in self._needles if needle.compact[:_GRAM] in grams]


def _stands_alone(text: str, start: int, end: int, needle: Needle) -> bool:
    """Not inside a longer word or number. A single word counts in its own spelling only: "Will" is no "will"."""
    if (start > 0 and text[start - 1].isalnum()) or (end < len(text) and text[end].isalnum()):
        return False
    if _GOES_ON.match(text, end - 1) or (start > 1 and _GOES_ON.match(text, start - 2)):
        return False
    return not needle.as_word or text[start:end] == needle.value


def new_values(
    text: str, entities: Sequence[Entity], context: GuardContext, source: Source, taken: Sequence[tuple[int, int]]
) -> Iterator[Hit]:
    """Sensitive values of an answer that were not in the request. `taken` are stretches already accounted for."""
    spans = list(taken)
    people = [entity for entity in entities if entity.type == "PERSON"]
    for entity in sorted(entities, key=lambda entity: (-entity.score, entity.start - entity.end)):
        severity = _weight(entity, context)
        if severity is None or any(start < entity.end and entity.start < end for start, end in spans):
            continue
        value = text[entity.start : entity.end]
        if severity is Severity.LOW and _is_public(entity, value, people, source):
            continue
        if is_specimen(value) or source.holds_loosely(value):
            continue
        spans.append((entity.start, entity.end))
        yield Hit(Kind.NEW_SENSITIVE_VALUE, entity.start, entity.end, severity)


def _weight(entity: Entity, context: GuardContext) -> Severity | None:
    if entity.recognizer.startswith("policy:"):
        return Severity.MEDIUM
    known = context.types.get(entity.type)
    if known is None or entity.score < _SURE or entity.type in _NOBODYS:
        return None
    if known.group in _WEIGHTY:
        return Severity.HIGH
    return Severity.LOW if entity.type in {"EMAIL_ADDRESS", "PHONE_NUMBER"} else None


def _is_public(entity: Entity, value: str, people: Sequence[Entity], source: Source) -> bool:
    if entity.type == "EMAIL_ADDRESS":
        return is_public_mail(value) or source.holds(value.rpartition("@")[2])
    near = any(abs(person.start - entity.start) <= _NEAR for person in people)
    return is_public_phone(value, of_a_person=near)
