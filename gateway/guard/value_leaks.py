"""Finds protected values in clear, and sensitive values that the request did not contain."""

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
# Between two characters of one value are at most this many others: "+49 (30) 1234", not half a sentence.
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
class _Value:
    """A protected value, and its letters and digits, for which texts are searched."""

    compact: str = field(repr=False)
    value: str = field(repr=False)
    severity: Severity


class ProtectedValues:
    """The values of a session, found in any spelling that keeps their letters and digits in order."""

    def __init__(self, context: GuardContext) -> None:
        unique: dict[tuple[str, bool], _Value] = {}
        for entry in context.placeholders.entries():
            plain, is_word = compact(entry.value), entry.value.isalpha()
            known = context.types.get(entry.type)
            group = known.group if known is not None else "custom"
            shortest = _SHORTEST_NUMBER if plain.isdigit() else _SHORTEST_WORD
            if entry.type not in _NEVER and len(plain) >= shortest and not (is_word and group in _COMMON_GROUPS):
                severity = Severity.HIGH if group in _WEIGHTY else Severity.MEDIUM
                unique[plain, is_word] = _Value(plain, entry.value, severity)
        self._values = tuple(unique.values())

    def within(self, text: str) -> bool:
        """Whether a text contains any of the values, within words, too."""
        hay = compact(text)
        return any(value.compact in hay for value in self._values)

    def hits(self, text: str) -> Iterator[Hit]:
        """Where protected values are in clear."""
        if not self._values:
            return
        hay = compact(text)
        present = [value for value in self._candidates(hay) if value.compact in hay]
        if not present:
            return
        mapped = Compacted(text)
        for value in present:
            at = hay.find(value.compact)
            while at >= 0:
                end = at + len(value.compact)
                span = mapped.span(at, end)
                if mapped.widest_gap(at, end) <= _WIDEST_GAP and _stands_alone(text, *span, value):
                    yield Hit(Kind.PROTECTED_VALUE_IN_CLEAR, *span, value.severity)
                at = hay.find(value.compact, at + 1)

    def _candidates(self, hay: str) -> Sequence[_Value]:
        """All values, or those whose beginning occurs, where that is cheaper to know first."""
        if len(hay) * len(self._values) < _MANY:
            return self._values
        grams = {hay[index : index + _GRAM] for index in range(len(hay) - _GRAM + 1)}
        return [value for value in self._values if value.compact[:_GRAM] in grams]


def _stands_alone(text: str, start: int, end: int, value: _Value) -> bool:
    """Not inside a longer word or number. A single word counts in its own spelling only: "Will" is no "will"."""
    if (start > 0 and text[start - 1].isalnum()) or (end < len(text) and text[end].isalnum()):
        return False
    if _GOES_ON.match(text, end - 1) or (start > 1 and _GOES_ON.match(text, start - 2)):
        return False
    return not value.value.isalpha() or text[start:end] == value.value


def new_values(
    text: str, entities: Sequence[Entity], context: GuardContext, source: Source, taken: Sequence[tuple[int, int]]
) -> Iterator[Hit]:
    """Sensitive values of an answer that were not in the request and do not overlap with the stretches `taken`."""
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
