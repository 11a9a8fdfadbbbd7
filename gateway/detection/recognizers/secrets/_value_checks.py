"""Decides what a located value is. Checks differ in what else could be in the place that a rule describes; tables
name them.
"""

import base64
import binascii
import re
from collections.abc import Callable

from gateway.detection.recognizer import EntityType
from gateway.detection.recognizers.secrets import _value_classifier as values
from gateway.detection.recognizers.secrets._names import Kind
from gateway.detection.recognizers.secrets._vocabulary import EXPRESSIONS, WORDS

PASSWORD = EntityType("PASSWORD", "secret", "A password or passphrase.")
SECRET = EntityType("SECRET", "secret", "A token, key or other secret of no known vendor.")

type Check = Callable[[str, bool], EntityType | None]
"""Gets a value, and whether it is in quotes. Returns its type, or None if it is no secret."""
type NamedCheck = Callable[[Kind | None, str, bool], EntityType | None]
"""The same, for the value of a name of that kind."""

NO_VALUE = re.compile(EXPRESSIONS["no_value"])
_ODD_SIGN = re.compile(r"[!@#$%^&*+?~]")
_ODD_INSIDE = re.compile(r"[!@#$%^&*+~?]\w")
_DIGITS_APART = re.compile(r"\d\D+\d|\d{3}")
_NUMBERED_PHRASE = re.compile(r"[a-z]+(?:-[a-z]+){2,}-?\d+")
_PORTS = re.compile(r"[\d.:\-]+(?:/(?:tcp|udp))?$")
# The rest of `-pthread`, an option of compilers.
_THREADS = re.compile(r"threads?\d*")


def any_value(value: str, _: bool) -> EntityType | None:
    """Accepts any value except a dummy, where only a password can be."""
    return PASSWORD if len(value) >= 4 and not values.is_stand_in(value) else None


def given(value: str, _: bool) -> EntityType | None:
    """Accepts an argument of a program unless it is a number of ports, a switch, or a placeholder in capitals."""
    other = value.isupper() or _PORTS.match(value) or _THREADS.fullmatch(value) or values.is_stand_in(value)
    return None if other or (value.isalpha() and len(value) < 5) else PASSWORD


def configured(value: str, _: bool) -> EntityType | None:
    """Accepts a setting of a device unless it is a keyword such as `message-digest`, which has no digits."""
    keyword = value in WORDS["of_devices"] | WORDS["of_rules"] or ("-" in value and value.replace("-", "").isalpha())
    return None if keyword or values.is_stand_in(value) else PASSWORD


def believed(value: str, _: bool) -> EntityType | None:
    """Accepts a password, but not the name of one."""
    return PASSWORD if values.is_chosen(value, quoted=True) else None


def chosen(value: str, quoted: bool) -> EntityType | None:
    """Accepts a password. Without quotes, the value must not look like a name."""
    return PASSWORD if values.is_chosen(value, quoted=quoted) else None


def mixed(value: str, _: bool) -> EntityType | None:
    """Accepts a password, but not an ordinary word of the text."""
    odd = any(map(str.isdigit, value)) or _ODD_INSIDE.search(value) or values.is_of_letters(value)
    return PASSWORD if odd and values.is_chosen(value, quoted=False) and not NO_VALUE.fullmatch(value) else None


def strong(value: str, _: bool) -> EntityType | None:
    """Accepts a strong password, at a place where any text can be."""
    return PASSWORD if values.is_strong(value) and not NO_VALUE.fullmatch(value) else None


def unmistakable(value: str, quoted: bool) -> EntityType | None:
    """Accepts a value that is hardly ever anything but a password, at a place where any text can be."""
    odd = _ODD_SIGN.search(value) or (value.isalnum() and _DIGITS_APART.search(value)) or values.is_gibberish(value)
    return mixed(value, quoted) if len(value) >= 6 and (odd or _NUMBERED_PHRASE.match(value)) else None


def made(value: str, _: bool) -> EntityType | None:
    """Accepts a generated secret, but not a word."""
    return SECRET if values.is_made(value) else None


def made_no_uuid(value: str, quoted: bool) -> EntityType | None:
    """Accepts a generated secret, at a place where a UUID is a mere number."""
    return None if values.is_uuid(value) else made(value, quoted)


def made_or_strong(value: str, quoted: bool) -> EntityType | None:
    """Accepts a generated secret or a strong password, at a place where any text can be."""
    return None if NO_VALUE.fullmatch(value) else made(value, quoted) or strong(value, quoted)


def code(value: str, _: bool) -> EntityType | None:
    """Accepts a PIN or a code, but not a year or one repeated digit."""
    plain = len(set(value)) <= 1 or value.startswith(("19", "20")) or not any(map(str.isdigit, value))
    return None if plain else PASSWORD


def pair(value: str, _: bool) -> EntityType | None:
    """Accepts `user:password`, unless they are dummies."""
    user, _colon, password = value.partition(":")
    return PASSWORD if password and not (values.is_stand_in(password) or values.is_stand_in(user)) else None


def encoded_pair(value: str, quoted: bool) -> EntityType | None:
    """Accepts base64 of `user:password`, but not a word."""
    decoded = decode(value)
    return pair(decoded, quoted) if decoded is not None and decoded.isprintable() else None


def credential(value: str, quoted: bool) -> EntityType | None:
    """Accepts a token, base64 of `user:password`, or that pair in clear, as users write it for tools that encode it."""
    decoded = decode(value)
    user, colon, password = (value if decoded is None else decoded).partition(":")
    if not colon or not user.isprintable() or not password.isprintable():
        return made(value, quoted) if len(value) >= 16 else None
    if decoded is None:
        return PASSWORD if values.is_strong(password) and not values.is_stand_in(user) else None
    if not password:
        return believed(user, quoted)
    return None if values.is_stand_in(password) and values.is_stand_in(user) else PASSWORD


def decode(value: str) -> str | None:
    """Returns the text that `value` is base64 of, with or without its padding."""
    try:
        return base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def password_hash(value: str, _: bool) -> EntityType | None:
    """Accepts the hash of a password, but not an example of one."""
    return None if values.is_dummy(value[-24:]) else PASSWORD


def base32(value: str, _: bool) -> EntityType | None:
    """Accepts a secret in base32, but not words in capitals, which are shorter and have no digits."""
    random = any(map(str.isdigit, value)) or len(value) >= 24
    return SECRET if random and not values.is_dummy(value) else None


def elevens(value: str, _: bool) -> EntityType | None:
    """Accepts a BitLocker key: each of its groups is eleven times a number of 16 bits."""
    groups = map(int, value.split("-"))
    return SECRET if all(group % 11 == 0 and group < 11 << 16 for group in groups) else None


def oracle_account(value: str, quoted: bool) -> EntityType | None:
    """Accepts `user/password`."""
    return believed(value.partition("/")[2], quoted)


def by_kind(kind: Kind | None, value: str, quoted: bool) -> EntityType | None:
    """Where the name is assigned to the value."""
    if kind is Kind.PASSWORD:
        return chosen(value, quoted)
    if kind is Kind.SECRET:
        return SECRET if values.is_made(value) or (_ODD_SIGN.search(value) and values.is_strong(value)) else None
    return SECRET if kind is Kind.MAYBE_KEY and values.is_very_made(value) else None


def after_name(kind: Kind | None, value: str, quoted: bool) -> EntityType | None:
    """Where only a blank or a comma joins the name to the value, and anything may follow."""
    if kind is Kind.PASSWORD:
        return PASSWORD if quoted and values.is_phrase(value) else mixed(value, quoted)
    return by_kind(kind, value, quoted) if values.is_made(value) else None


def secret_after_name(kind: Kind | None, value: str, quoted: bool) -> EntityType | None:
    """The same, for generated secrets alone."""
    return None if kind is Kind.PASSWORD or value.isdigit() else after_name(kind, value, quoted)
