"""Values that look private and are nobody's: those of documentation, test suites and public desks."""

import re

import phonenumbers
from phonenumbers import PhoneNumberType

from gateway.guard.canonical_text import compact

# Card numbers that payment providers publish for tests, the examples of the IBAN registry, famous false SSNs.
_KNOWN = frozenset(
    """
    4242424242424242 4111111111111111 4012888888881881 4222222222222 4000056655665556 4917610000000000
    5555555555554444 5105105105105100 5200828282828210 5431111111111111 2223003122003222 2223000048400011
    378282246310005 371449635398431 378734493671000 6011111111111117 6011000990139424 6011601160116611 30569309025904
    38520000023237 36227206271667 3056930009020004 3530111333300000 3566002020360505 gb29nwbk60161331926819
    gb82west12345698765432 gb33bukb20201555555555 de89370400440532013000 fr1420041010050500013m02606
    fr7630006000011234567890189 es9121000418450200051332 nl91abna0417164300 at611904300234573201 be68539007547034
    ch9300762011623852957 it60x0542811101000000123456 pt50000201231234567890154 ie29aibk93115212345678
    lu280019400644750000 dk5000400440116243 078051120 219099999 123456789 987654321 457555462
    """.split()
)
_TEST_CARDS = re.compile(r"4000000000\d{6}")
_TELLING = re.compile(
    r"example|sample|dummy|changeme|placeholder|your[-_ ]?(?:key|token|secret|api)|xxxx|0{8}|\.\.\.|…|<[a-z_ -]+>"
    r"|localhost|127\.0\.0\.1|user:pass|username:password|:password@|:secret@|abcdef1234|1234567890abc",
    re.IGNORECASE,
)
# RFC 2606 and 6761: names that will never be anyone's.
_RESERVED_DOMAIN = re.compile(r"(?:^|\.)(?:example\.(?:com|net|org|edu)|example|test|invalid|localhost|local)$")
# RFC 2142, and what desks are called in practice.
_DESKS = frozenset(
    """
    info marketing sales support abuse noc security postmaster hostmaster webmaster usenet news www ftp help helpdesk
    service services contact hello hi team office mail email admin administrator root press media pr jobs job career
    careers hr recruiting recruitment privacy dpo legal compliance billing accounts accounting bug bugs report reports
    list lists dev users announce community committee invoice invoices payments orders order shop store feedback
    newsletter subscribe unsubscribe noreply no-reply donotreply bounce git events booking reservations reception
    research science editor editors letters kontakt anfrage hilfe presse bewerbung datenschutz buchhaltung rechnung
    rezeption contacto ayuda soporte ventas prensa empleo contacter aide recrutement
    """.split()
)
_NOBODY = re.compile(
    r"(?:(?:your|my)(?:name|e?mail|address|company)?|some|any|first|last|user(?:name)?|test|demo|name|you|me"
    r"|someone|somebody|foo|bar|alice|bob|(?:john|jane)[._-]?doe|(?:max|erika|maria)[._-]?mustermann"
    r"|juan[._-]?perez|jean[._-]?dupont|nombre|nom|prenom|vorname|nachname)(?:[._-]\w{1,12}|\d*)"
)
_SERVICES = "TOLL_FREE PREMIUM_RATE SHARED_COST UAN VOICEMAIL FIXED_LINE UNKNOWN"
_NOT_A_PERSONS = frozenset(getattr(PhoneNumberType, name) for name in _SERVICES.split())


def is_specimen(value: str) -> bool:
    """Whether it is a well-known example, or says of itself that it is one."""
    plain = compact(value)
    return (
        plain in _KNOWN
        or len(set(plain)) <= 3
        or _TELLING.search(value) is not None
        or _TEST_CARDS.fullmatch(plain) is not None
    )


def is_public_mail(address: str) -> bool:
    """A reserved domain (RFC 2606), a desk (RFC 2142), or a name that stands for nobody."""
    local, _, domain = address.lower().rpartition("@")
    local = local.partition("+")[0]
    return (
        _RESERVED_DOMAIN.search(domain) is not None
        or local in _DESKS
        or is_nobodys_name(local)
        or any(part in _DESKS for part in re.split(r"[._-]", local))
    )


def is_nobodys_name(local: str) -> bool:
    """Whether the part of an address before its `@`, in lower case, stands for nobody: `your.name`, `jane.doe`."""
    return _NOBODY.fullmatch(local) is not None


def is_public_phone(number: str, *, of_a_person: bool) -> bool:
    """A number of a desk, a service or a film. Where mobile and fixed ones look alike, a person beside it decides."""
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
