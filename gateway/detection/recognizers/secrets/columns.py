"""Finds secrets next to their label in columns without a header. Rules: `columns.toml`."""

import re
from collections.abc import Iterator

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import EntityType, Match
from gateway.detection.recognizers.secrets import _value_checks as checks
from gateway.detection.recognizers.secrets import _value_classifier as values
from gateway.detection.recognizers.secrets._locator import checked, table
from gateway.detection.recognizers.secrets._names import Kind, kind_of
from gateway.detection.recognizers.secrets._vocabulary import WORDS, compile_words

_TELLING = r"(?:<<passwords>>|pass(?:key)?|psk|pin|puk|key|secret|token|schlüssel|credential)"
# A remark after the name, and the signs around it: `(prod)`, `}`, `*`.
_CLOSED = r"s?[\"'`*:})\]]{0,3}(?: \([^()\n]{1,24}\))?"
_GAP = r"(?:[ \t]*\t[ \t]*|[ ]{2,}| ?\.{3,} ?(?:: ?)?|[ \t]*(?:\|\|?|│)[ \t]*)"
_PLACES = compile_words(
    rf"(?im)^(?:[ \t>*\-•#+]|\|\|?|│)*((?:[\w$@{{./'\-]+ ){{0,4}}[\w$@{{./'\-]*{_TELLING}){_CLOSED}{_GAP}"
    rf"(?:(?:id|name|css|xpath|class)[:=]\S+{_GAP})?"
    r"[\"'`*]{0,3}([^\s\"'`*|│]\S{3,255})(?:[ \t]*(?:\r?$|\||│)|\t|  )"
)
_PASSWORD_WORD = compile_words(r"(?i)(?:^|[ _\-/])(?:<<passwords>>)s?$")
_PIN = re.compile(r"(?:\bPIN|\bPUK|(?i:\b(?:pin|puk|pass)[ -]?(?:code|key)))$")
_CODE = re.compile(r"\d{4,8}")
# A password, or the name of a field or a machine.
_NUMBERED = re.compile(r"[A-Za-z]+(?:[\-_][A-Za-z]+)*[\-_]?\d{1,2}")
# A plain word counts only near an account.
_ACCOUNT = compile_words(r"(?im)^[ \t>*\-•|│]*(?:<<accounts>>|identifiant)(?:\t|  | ?\.\.\.| ?[|│])")
_NEAR = 160


def _labelled(normalized: NormalizedText) -> Iterator[Match]:
    data = normalized.data
    for match in _PLACES.finditer(data):
        label, (start, end) = match[1].decode("utf-8", "replace"), match.span(2)
        account = _ACCOUNT.search(data, max(0, start - _NEAR), min(len(data), start + _NEAR)) is not None

        def check(value: str, quoted: bool, label: str = label, account: bool = account) -> EntityType | None:
            return None if checks.NO_VALUE.fullmatch(value) else _type(label, value, account=account)

        yield from checked(normalized, start, end, check, 0.75)


def _type(label: str, value: str, *, account: bool) -> EntityType | None:
    kind = kind_of(label)
    if _PASSWORD_WORD.search(label.encode()):
        kind = Kind.PASSWORD
    if _CODE.fullmatch(value):
        return checks.code(value, True) if _PIN.search(label) or (kind is Kind.PASSWORD and account) else None
    if kind is Kind.PASSWORD and (value.isalpha() or _NUMBERED.fullmatch(value) or "/" in value):
        plain = account and value not in WORDS["no_password"] and values.is_chosen(value, quoted=value.isalpha())
        return checks.PASSWORD if plain else None
    return checks.after_name(kind, value, False)


RECOGNIZERS = (table("columns", {"labelled": _labelled}),)
