"""Secrets beside their label in columns without a header: what tabs, two blanks and more, dots, or the bars of a table
part from it. `Password    value`, `|Token|value|`.
"""

import re
from collections.abc import Iterator, Sequence

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._said_words import ACCOUNTS, NO_PASSWORD, NO_VALUE, PASSWORDS
from gateway.detection.recognizers._samples import BASE62, sample
from gateway.detection.recognizers._secret_names import Kind, kind_of
from gateway.detection.recognizers._secret_values import is_chosen, is_made, is_strong, is_very_made
from gateway.detection.recognizers.assigned_secret import PASSWORD, SECRET

_TELLING = (
    r"(?:pass(?:word|wort|phrase|code|wd|key)?|kennwort|wachtwoord|senha|contrase(?:ñ|n)a|clave|mot de passe|mdp|pwd|pw"
    r"|psk|pin|puk|key|secret|token|schlüssel|credential)"
)
# What is said of it, and the signs around: `(prod)`, `}`, `*`.
_CLOSED = r"s?[\"'`*:})\]]{0,3}(?: \([^()\n]{1,24}\))?"
_GAP = r"(?:[ \t]*\t[ \t]*|[ ]{2,}| ?\.{3,} ?(?:: ?)?|[ \t]*(?:\|\|?|│)[ \t]*)"
_PREFILTER = rf"(?i){_TELLING}{_CLOSED}(?:\t|  | ?\.\.\.| ?[|│])"
_PLACES = compile_pattern(
    rf"(?im)^(?:[ \t>*\-•#+]|\|\|?|│)*((?:[\w$@{{./'\-]+ ){{0,4}}[\w$@{{./'\-]*{_TELLING}){_CLOSED}{_GAP}"
    rf"(?:(?:id|name|css|xpath|class)[:=]\S+{_GAP})?"
    r"[\"'`*]{0,3}([^\s\"'`*|│]\S{3,255})(?:[ \t]*(?:\r?$|\||│)|\t|  )"
)
_PASSWORD_WORD = compile_pattern(rf"(?i)(?:^|[ _\-/])(?:{PASSWORDS})s?$")
_PIN = re.compile(r"(?:\bPIN|\bPUK|(?i:\b(?:pin|puk|pass)[ -]?(?:code|key)))$")
_CODE = re.compile(r"\d{4,8}")
# `1.2.0rc1`, `2024-01-02T10:00Z`
_MEASURE = re.compile(r"v?\d+(?:\.\d+)+[\w.+\-]*|\d{4}-\d\d-\d\d[T_]?[\d:.]*Z?")
# A password, or the name of a field or a machine.
_NUMBERED = re.compile(r"[A-Za-z]+(?:[\-_][A-Za-z]+)*[\-_]?\d{1,2}")
# The account that a plain word opens stands beside it.
_ACCOUNT = compile_pattern(rf"(?im)^[ \t>*\-•|│]*(?:{ACCOUNTS}|identifiant)(?:\t|  | ?\.\.\.| ?[|│])")
_NEAR = 160
_ENDS = "\"'`*|│,;"


def _find(normalized: NormalizedText, _: Sequence[int]) -> Iterator[Match]:
    data = normalized.data
    for match in _PLACES.finditer(data):
        start, end = match.span(2)
        value = normalized.text(start, end)
        bare = value.rstrip(_ENDS)
        end -= len(value.encode()) - len(bare.encode())
        label = match[1].decode("utf-8", "replace")
        if len(bare) < 4 or NO_VALUE.fullmatch(bare) or _MEASURE.fullmatch(bare):
            continue
        type_name = _type(normalized, label, bare, start)
        if type_name is not None:
            yield Match(start, end, 0.75, type_name)


def _type(normalized: NormalizedText, label: str, value: str, at: int) -> str | None:
    if _CODE.fullmatch(value):
        told = _PIN.search(label) or (_is_password(label) and _beside_account(normalized.data, at))
        return PASSWORD.name if told and len(set(value)) > 1 else None
    kind = kind_of(label)
    if kind is Kind.PASSWORD or _is_password(label):
        return PASSWORD.name if _could_be_password(normalized, value, at) else None
    if kind is Kind.SECRET:
        return SECRET.name if is_made(value) else None
    return SECRET.name if kind is Kind.MAYBE_KEY and is_very_made(value) else None


def _is_password(label: str) -> bool:
    return _PASSWORD_WORD.search(label.encode()) is not None


def _could_be_password(normalized: NormalizedText, value: str, at: int) -> bool:
    if _NUMBERED.fullmatch(value) or "/" in value:
        return is_chosen(value, quoted=False) and _beside_account(normalized.data, at)
    if is_strong(value):
        return True
    if value.isalpha():
        return value not in NO_PASSWORD and is_chosen(value, quoted=True) and _beside_account(normalized.data, at)
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and is_chosen(value, quoted=False)


def _beside_account(data: bytes, at: int) -> bool:
    return _ACCOUNT.search(data, max(0, at - _NEAR), min(len(data), at + _NEAR)) is not None


_word = "Wat3rfall" + "!"
_made = sample(32, BASE62)

RECOGNIZERS = (
    FunctionRecognizer(
        "secret.aligned",
        (PASSWORD, SECRET),
        (_PREFILTER,),
        _find,
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
