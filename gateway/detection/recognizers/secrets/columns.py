"""Secrets beside their label in columns without a header: what tabs, two blanks and more, dots, or the bars of a table
part from it. `Password    value`, `|Token|value|`.
"""

import re
from collections.abc import Iterator

from gateway.detection.normalized_text import View
from gateway.detection.recognizer import EntityType, Example, Match, compile_pattern
from gateway.detection.recognizers._samples import BASE62, sample
from gateway.detection.recognizers.secrets import _value_classifier as values
from gateway.detection.recognizers.secrets import _vocabulary as words
from gateway.detection.recognizers.secrets._locator import Rule, judged, table
from gateway.detection.recognizers.secrets._names import Kind, kind_of

_TELLING = rf"(?:{words.PASSWORDS}|pass(?:key)?|psk|pin|puk|key|secret|token|schlüssel|credential)"
# What is said of it, and the signs around: `(prod)`, `}`, `*`.
_CLOSED = r"s?[\"'`*:})\]]{0,3}(?: \([^()\n]{1,24}\))?"
_GAP = r"(?:[ \t]*\t[ \t]*|[ ]{2,}| ?\.{3,} ?(?:: ?)?|[ \t]*(?:\|\|?|│)[ \t]*)"
_GATE_GAP = r"(?:\t|  | ?\.\.\.| ?[|│])"
_GATE = (
    r"(?i)(?:pass(?:word|wort|phrase|code|wd|key)?|kennwort|wachtwoord|senha|contrase(?:ñ|n)a|clave|mot de passe|mdp"
    rf"|pwd|pw|psk|pin|puk|key|secret|token|schlüssel|credential){_CLOSED}{_GATE_GAP}"
)
_PLACES = compile_pattern(
    rf"(?im)^(?:[ \t>*\-•#+]|\|\|?|│)*((?:[\w$@{{./'\-]+ ){{0,4}}[\w$@{{./'\-]*{_TELLING}){_CLOSED}{_GAP}"
    rf"(?:(?:id|name|css|xpath|class)[:=]\S+{_GAP})?"
    r"[\"'`*]{0,3}([^\s\"'`*|│]\S{3,255})(?:[ \t]*(?:\r?$|\||│)|\t|  )"
)
_PASSWORD_WORD = compile_pattern(rf"(?i)(?:^|[ _\-/])(?:{words.PASSWORDS})s?$")
_PIN = re.compile(r"(?:\bPIN|\bPUK|(?i:\b(?:pin|puk|pass)[ -]?(?:code|key)))$")
_CODE = re.compile(r"\d{4,8}")
# A password, or the name of a field or a machine.
_NUMBERED = re.compile(r"[A-Za-z]+(?:[\-_][A-Za-z]+)*[\-_]?\d{1,2}")
# The account that a plain word opens stands beside it.
_ACCOUNT = compile_pattern(rf"(?im)^[ \t>*\-•|│]*(?:{words.ACCOUNTS}|identifiant){_GATE_GAP}")
_NEAR = 160


def _find(view: View) -> Iterator[Match]:
    data = view.data
    for match in _PLACES.finditer(data):
        label, (start, end) = match[1].decode("utf-8", "replace"), match.span(2)
        account = _ACCOUNT.search(data, max(0, start - _NEAR), min(len(data), start + _NEAR)) is not None

        def judge(value: str, quoted: bool, label: str = label, account: bool = account) -> EntityType | None:
            return None if words.NO_VALUE.fullmatch(value) else _type(label, value, account=account)

        yield from judged(view, start, end, judge, 0.75)


def _type(label: str, value: str, *, account: bool) -> EntityType | None:
    kind = kind_of(label)
    if _PASSWORD_WORD.search(label.encode()):
        kind = Kind.PASSWORD
    if _CODE.fullmatch(value):
        return values.code(value, True) if _PIN.search(label) or (kind is Kind.PASSWORD and account) else None
    if kind is Kind.PASSWORD and (value.isalpha() or _NUMBERED.fullmatch(value) or "/" in value):
        plain = account and value not in words.NO_PASSWORD and values.is_chosen(value, quoted=value.isalpha())
        return values.PASSWORD if plain else None
    return values.beside(kind, value, False)


_word = "Wat3rfall" + "!"
_made = sample(32, BASE62)

RECOGNIZERS = (
    table(
        "columns",
        (Rule(_GATE, _find),),
        examples=(
            Example(f"User        root\nPassword    {_word}\n", _word),
            Example(f"Passwort\t{_word}", _word),
            Example(f"  WPA2 key (guests)   {_word}", _word),
            Example(f"|Password|{_word}|", _word),
            Example(f"Mot de passe ..... {_word}", _word),
            Example(f"DB_PASSWORD     {_word}    true", _word),
            Example("login     jane\npassword  " + "sunshine", "sunshine"),
            Example("PIN       4829", "4829"),
            Example(f"API Secret            {_made}", _made, "SECRET"),
        ),
        counter_examples=(
            "password     varchar(255)   NO",
            "db-password        Opaque   2   45d",
            "test_password      PASSED   [ 10%]",
            "  --password       PASSWORD for the server",
            "Password           2024-01-02",
            "simple-password    1.2.0rc1",
            "Pass     1204     3",
            "|Password|12 characters|",
            "login    anmelden\npassword  required",
            "Pin    Function",
        ),
    ),
)
