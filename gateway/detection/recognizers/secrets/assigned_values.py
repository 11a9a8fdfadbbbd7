"""Finds secrets by the name they are assigned to. Rules: `assigned_values.toml`."""

import re
from collections.abc import Iterator

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Match, compile_pattern
from gateway.detection.recognizers.secrets import _value_checks as checks
from gateway.detection.recognizers.secrets import _value_classifier as values
from gateway.detection.recognizers.secrets._assignments import Assignment, assignments
from gateway.detection.recognizers.secrets._locator import table
from gateway.detection.recognizers.secrets._names import Kind, is_place, kind_below, kind_of
from gateway.detection.recognizers.secrets._vocabulary import ADJECTIVE, WORDS, compile_words

_ENVIRONMENT = re.compile(r"[A-Z][A-Z0-9_]{3,60}")
_ACCOUNT_NEAR = compile_words(r"(?i)\b(?:<<accounts>>)\"?[ \t]*[:=]")
# A `key` after one of these is a password.
_NETWORK = compile_pattern(r"(?i)\b(?:wi-?fi|wlan|ssid|wpa[23]?)\b")
_LEAST_OF_NETWORK = 8
"""Characters of the shortest key of a wireless network (IEEE 802.11, annex J.4)."""
_NEAR = 120
_DEFINED, _LONGEST_CALL = re.compile(rb"\bdefine\s*\(\s*[\"']$"), 16
# A word that names a secret is a variable, or the translation of a label.
_NAMED_FOR_IT = compile_words(r"passwor[dt]|passwd|secret|^(?:<<passwords>>|<<passwords_abroad>>)$")
_LEAST_OF_WORD = 5
_LEAD = re.compile(rb"[ \t]*(?:[#;\-*>$][ \t]+|export[ \t]+|set[ \t]+|[\w.]+\.)?")
_TRAIL = re.compile(rb"\s*|[ \t]+(?:#|//|;).*", re.DOTALL)
_SEPARATORS = frozenset((b";", b"&", b" ", b'"', b"'"))
_OTHER_SETTING = compile_words(
    r"(?i)\b(?:<<accounts>>|user[ _]?id|uid|name|host|server|data source|initial catalog|database|dbname|db|dsn|driver"
    r"|port|service|addr(?:ess)?)=[^=\s,()]"
)
_SECTION = re.compile(rb"(?m)^\[[^\]\n]+\][ \t]*\r?$")
_SECTION_NEAR = 400
_FAIL = compile_pattern(r"(?i)fail[\w\-]*:")
_OPENED, _CLOSED = frozenset((b",", b"{", b"(", b"[")), frozenset((b"}", b")", b"]"))
_OF_WORDS = ("psk", "passphrase")
"""Ends of the names of what is often made of words."""
_LONGEST_PHRASE = 80
_LENGTH_OF_GROUPS = 19


def _assigned(normalized: NormalizedText) -> Iterator[Match]:
    for one in assignments(normalized.data):
        kind = _kind(normalized.data, one)
        if kind is not None and one.end - one.start >= 4:
            yield from _checked(normalized, one, kind)


def _kind(data: bytes, one: Assignment) -> Kind | None:
    name = one.name.lower()
    if name == "token" and is_place(data, one.at):
        return None
    kind = kind_of(one.name)
    if kind is None and name == "key":
        kind = kind_below(data, one.at)
        if kind is None and one.end - one.start >= _LEAST_OF_NETWORK:
            kind = Kind.PASSWORD if _NETWORK.search(data, max(0, one.at - _NEAR), one.at) else None
    return kind


def _checked(normalized: NormalizedText, one: Assignment, kind: Kind) -> Iterator[Match]:
    value = normalized.text(one.start, one.end)
    end, score, found = one.end, 0.9 if one.quoted else 0.75, None
    if kind is Kind.PASSWORD and (words := _words(normalized, one, value)):
        end, found = one.start + len(words.encode()), checks.PASSWORD
    elif not one.quoted and _is_expression(normalized.data, one, value):
        return
    elif one.join in {",", "(", "", "|"} and not _DEFINED.search(
        normalized.data[max(0, one.at - _LONGEST_CALL) : one.at]
    ):
        # A list, a call or a mere neighbour, where only values count that no program would use as a name.
        is_no_name = values.is_strong(value) or values.is_made(value) or values.is_of_letters(value)
        sure = is_no_name and not value.startswith("-") and "\\" not in value
        found = checks.by_kind(kind, value, one.quoted) if sure else None
    elif kind is Kind.PASSWORD and not one.quoted and _is_plain_password(normalized.data, one, value):
        score, found = 0.6, checks.PASSWORD
    elif kind is not Kind.PASSWORD or not _is_verdict(normalized.data, one, value):
        found = checks.by_kind(kind, value, one.quoted)
    if found is not None:
        yield Match(one.start, end, score, found.name)


def _words(normalized: NormalizedText, one: Assignment, value: str) -> str:
    """Returns a password in groups of letters, or a passphrase that is expected or sets an environment variable."""
    of_words = one.name.lower().endswith(_OF_WORDS)
    if one.quoted:
        set_ = one.join == "=" and _ENVIRONMENT.fullmatch(one.name)
        return value if (of_words or set_) and values.is_phrase(value, least=3 if of_words else 2) else ""
    line = normalized.text(one.start, one.start + _LONGEST_PHRASE).partition("\n")[0].rstrip()
    if values.is_app_password(groups := line[:_LENGTH_OF_GROUPS]):
        return groups
    return line if of_words and one.join == "=" and values.is_phrase(line) else ""


def _is_verdict(data: bytes, one: Assignment, value: str) -> bool:
    """Returns whether it is the result of a test: `pass: 12`, `--- PASS: TestLogin2`."""
    if one.name == "PASS" and value.isalnum() and not values.is_gibberish(value):
        return _ACCOUNT_NEAR.search(data, max(0, one.start - _NEAR), one.start) is None
    return value.isdigit() and one.name.strip("-_.$").lower() in {"pass", "pw"}


def _is_expression(data: bytes, one: Assignment, value: str) -> bool:
    """Returns whether an unquoted value after `=>` or before a semicolon is code: it is, unless it can be no name."""
    if one.join.endswith(("=>", "->", "<-")):
        return not values.is_made(value) or not value.isascii() or any(char in "(){}[]" for char in value)
    return data[one.end : one.end + 1] == b";" and any(char in "(){}[]" for char in value)


def _is_plain_password(data: bytes, one: Assignment, value: str) -> bool:
    """Returns whether a plain word is a password, for which it has to be set, and not described or computed."""
    # `passWord` is a name in a program.
    if not (value.isalpha() and len(value) >= _LEAST_OF_WORD and (value.islower() or value.istitle())):
        return False
    if values.is_stand_in(value) or _NAMED_FOR_IT.search(value.lower().encode()):
        return False
    first, last = data.rfind(b"\n", 0, one.at) + 1, data.find(b"\n", one.end)
    before, after = data[max(first, one.at - _NEAR) : one.at], data[one.end : len(data) if last < 0 else last]
    alone, ends = _LEAD.fullmatch(before) is not None, _TRAIL.fullmatch(after) is not None
    if one.join == "=" and data[one.start - 1 : one.start] == b"=":
        # In a connection string, a command or a query string, or on a line of its own.
        closed = ends or after[:1] in _SEPARATORS
        among = _OTHER_SETTING.search(before) or _OTHER_SETTING.search(after[:_NEAR]) or before[-1:] in {b"?", b"&"}
        whole = (alone or before[-1:] == b'"') and (after[:1] == b";" or before[-1:] == after[:1])
        named = one.name.startswith("--") or _ENVIRONMENT.fullmatch(one.name) or (whole and one.name[:1].isupper())
        return bool((alone and ends) or (closed and (among or named)))
    described = value in WORDS["no_password"] or ADJECTIVE.search(value)
    if one.join.startswith(">"):
        return value.islower() and after.startswith(b"</") and not described
    if not (value.islower() and ends):
        return False
    if one.join == "=":
        return alone and _SECTION.search(data, max(0, first - _SECTION_NEAR), first) is not None
    if one.join != ":" or data[one.start - 2 : one.start] != b": ":
        return False
    # In an object or a call, it would be a variable.
    above, below = data[max(0, first - _NEAR) : first].rstrip()[-1:], data[one.end : one.end + _NEAR].lstrip()[:1]
    if above in _OPENED or below in _CLOSED:
        return False
    if _ACCOUNT_NEAR.search(data, max(0, one.start - _NEAR), one.start) is not None:
        return True
    verdict = one.name.strip("0123456789").lower() in {"pass", "pw"} or _FAIL.search(
        data, max(0, first - _NEAR), one.end
    )
    return alone and not described and not verdict


RECOGNIZERS = (table("assigned_values", {"assigned": _assigned}),)
