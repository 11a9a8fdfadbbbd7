"""Finds sensitive values that the request did not contain, except public ones.

Public values are those of documentation, test suites and public offices.
"""

import re
from collections.abc import Iterator, Sequence

import phonenumbers
from phonenumbers import PhoneNumberType

from gateway.destinations.patterns import Patterns
from gateway.detection import group_of
from gateway.detection.unicode_folding import compact
from gateway.guard.context import GuardContext
from gateway.guard.session_values import GRAVE_GROUPS
from gateway.guard.verdict import Hit, Kind, Severity
from gateway.models import Entity

_PATTERNS = Patterns(__file__)
_WORDS = _PATTERNS.words
_TEST_CARDS = re.compile(r"4000000000\d{6}")
_TELLING = _PATTERNS.compiled("telling")
_SERVICES = frozenset(getattr(PhoneNumberType, name) for name in _WORDS["services"])
_FIXED = frozenset({PhoneNumberType.FIXED_LINE, PhoneNumberType.FIXED_LINE_OR_MOBILE})
# 555-0100 to 555-0199.
_FICTIONAL = tuple(f"555{last:04}" for last in range(100, 200))
_SURE = 0.75
# Public by nature, though financial; or made up by the model as often as not.
_NOBODYS = frozenset({"BIC_CODE", "ABA_ROUTING_NUMBER", "PASSWORD", "SECRET"})
_NEAR = 80
_IN_ADDRESSES = frozenset({"URL_WITH_CREDENTIALS", "CONNECTION_STRING"})
_LONGEST_ADDRESS = 300


def new_values(
    text: str, entities: Sequence[Entity], context: GuardContext, taken: Sequence[tuple[int, int]]
) -> Iterator[Hit]:
    """Sensitive values of an answer that were not in the request and do not overlap with the spans `taken`."""
    spans = list(taken)
    people = [entity for entity in entities if entity.type == "PERSON"]
    for entity in sorted(entities, key=lambda entity: (-entity.score, entity.start - entity.end)):
        severity = _weight(entity, context)
        if severity is None or any(start < entity.end and entity.start < end for start, end in spans):
            continue
        value = text[entity.start : entity.end]
        is_public = severity is Severity.LOW and _is_public(entity, value, people, context)
        if is_public or _is_specimen(_whole(text, entity)) or context.source.holds_loosely(value):
            continue
        spans.append((entity.start, entity.end))
        yield Hit(Kind.NEW_SENSITIVE_VALUE, entity.start, entity.end, severity)


def _weight(entity: Entity, context: GuardContext) -> Severity | None:
    if entity.recognizer.startswith("policy:"):
        return Severity.MEDIUM
    if entity.score < _SURE or entity.type in _NOBODYS:
        return None
    if group_of(entity.type, context.types) in GRAVE_GROUPS:
        return Severity.HIGH
    return Severity.LOW if entity.type in {"EMAIL_ADDRESS", "PHONE_NUMBER"} else None


def _whole(text: str, entity: Entity) -> str:
    """Returns a value; a credential with the address around it, whose host may say that it is an example."""
    if entity.type not in _IN_ADDRESSES:
        return text[entity.start : entity.end]
    before = re.split(r"\s", text[max(0, entity.start - _LONGEST_ADDRESS) : entity.start])[-1]
    return before + re.split(r"\s", text[entity.start : entity.end + _LONGEST_ADDRESS])[0]


def _is_specimen(value: str) -> bool:
    """Whether it is a well-known example, or says of itself that it is one."""
    plain = compact(value)
    is_known = plain in _WORDS["examples"] or len(set(plain)) <= 3 or _TEST_CARDS.fullmatch(plain) is not None
    return is_known or _TELLING.search(value) is not None


def _is_public(entity: Entity, value: str, people: Sequence[Entity], context: GuardContext) -> bool:
    if entity.type == "EMAIL_ADDRESS":
        local = re.split(r"[+@]", value.lower())[0]
        is_role = not _WORDS["public_mailboxes"].isdisjoint([local, *re.split(r"[._-]", local)])
        # No real mailbox is under `.example` (RFC 2606), though nothing may be sent there.
        return is_role or value.lower().endswith(".example") or not context.untrusted.mail(value)
    try:
        kind = phonenumbers.number_type(phonenumbers.parse(value, None))
    except phonenumbers.NumberParseException:
        kind = PhoneNumberType.FIXED_LINE
    # A fixed line may be an office's as well as a person's: a person who is named near it decides.
    is_persons = any(abs(person.start - entity.start) <= _NEAR for person in people)
    return compact(value).endswith(_FICTIONAL) or kind in _SERVICES or (kind in _FIXED and not is_persons)
