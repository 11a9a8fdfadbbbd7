"""Recognizes values that look private and are nobody's: those of documentation, test suites and public offices."""

import re

import phonenumbers
from phonenumbers import PhoneNumberType

from gateway.guard.canonical_text import compact
from gateway.guard.patterns import Patterns

_PATTERNS = Patterns(__file__)
_WORDS = _PATTERNS.words
_TEST_CARDS = re.compile(r"4000000000\d{6}")
_TELLING, _NOBODY = _PATTERNS.compiled("telling"), _PATTERNS.compiled("nobody", 0)
# RFC 2606 and 6761: names that will never be anyone's.
_RESERVED_DOMAIN = re.compile(r"(?:^|\.)(?:example\.(?:com|net|org|edu)|example|test|invalid|localhost|local)$")
_NOT_A_PERSONS = frozenset(getattr(PhoneNumberType, name) for name in _WORDS["public_numbers"])


def is_specimen(value: str) -> bool:
    """Whether it is a well-known example, or says of itself that it is one."""
    plain = compact(value)
    return (
        plain in _WORDS["examples"]
        or len(set(plain)) <= 3
        or _TELLING.search(value) is not None
        or _TEST_CARDS.fullmatch(plain) is not None
    )


def is_public_mail(address: str) -> bool:
    """Whether an address has a reserved domain (RFC 2606), a public mailbox (RFC 2142) or nobody's name."""
    local, _, domain = address.lower().rpartition("@")
    local = local.partition("+")[0]
    return (
        _RESERVED_DOMAIN.search(domain) is not None
        or is_nobodys_name(local)
        or not _WORDS["public_mailboxes"].isdisjoint([local, *re.split(r"[._-]", local)])
    )


def is_nobodys_name(local: str) -> bool:
    """Whether the part of an address before its `@`, in lower case, is nobody's: `your.name`, `jane.doe`."""
    return _NOBODY.fullmatch(local) is not None


def is_public_phone(number: str, *, of_a_person: bool) -> bool:
    """Whether a number is an office's, a service's or a film's. Where mobile and fixed ones look alike, `of_a_person`,
    which says that a person is named near it, decides."""
    digits = compact(number)
    if re.search(r"55501\d\d$", digits):
        return True
    try:
        kind = phonenumbers.number_type(phonenumbers.parse(number, None))
    except phonenumbers.NumberParseException:
        return not of_a_person
    if kind == PhoneNumberType.FIXED_LINE_OR_MOBILE:
        return not of_a_person
    return kind in _NOT_A_PERSONS and not (of_a_person and kind == PhoneNumberType.FIXED_LINE)
