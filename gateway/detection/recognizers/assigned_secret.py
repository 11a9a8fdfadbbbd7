"""Secrets nobody has a form for, found by how they are written down: assigned to a telling name, sent in a
header, or said.

A value counts when it looks made to be secret: random enough, or a password that is quoted, has digits or has
signs in it. Code that handles secrets is left alone: types, calls, variables, and the stand-ins that people
write in examples.
"""

from collections.abc import Callable, Iterator, Sequence

import re2

from gateway.detection.recognizer import EntityType, Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._samples import BASE62, BASE64, sample
from gateway.detection.tokens import entropy, word_set
from gateway.detection.view import View

PASSWORD = EntityType("PASSWORD", "secret", "A password or passphrase.")
SECRET = EntityType("SECRET", "secret", "A token, key or other secret of no known vendor.")

_CHOSEN_NAMES = (
    r"pass(?:word|wd|phrase|code)s?|pwd|passwort|kennwort|mot[ _]de[ _]passe|mdp|contraseña|senha|wachtwoord"
)
_MADE_NAMES = (
    r"secret|token|api[_-]?key|apikey|access[_-]?key|account[_-]?key|shared[_-]?access[_-]?key|private[_-]?key|encryption[_-]?key|signing[_-]?key"
    r"|client[_-]?secret|auth[_-]?key|credentials?|license[_-]?key|master[_-]?key|secret[_-]?key"
    r"|webhook[_-]?key|app[_-]?key|service[_-]?key"
)
# `key = `, `"key": `, `key => `, `key := `, `key: String = `, `<key>`
_TYPED = r"(?::?\s?(?i:string|str)\s{0,3})?"
_ASSIGN = rf"(?:[\w\-]{{0,30}}[\"'\]\\]{{0,3}}\s{{0,3}}{_TYPED}(?:[:.?]{{0,3}}={{1,3}}>?|:|>)|[\"'],)\s{{0,6}}"
_QUOTED = r"\\?[\"'`]([^\"'`\r\n\\]{4,512})\\?[\"'`]"
_BARE = r"([^\s\"'`,;|<>(){}\[\]]{4,512})"

_ASSIGNED_PASSWORD = compile_pattern(rf"(?i)(?:{_CHOSEN_NAMES}){_ASSIGN}(?:{_QUOTED}|{_BARE})")
_ASSIGNED_SECRET = compile_pattern(rf"(?i)(?:{_MADE_NAMES}){_ASSIGN}(?:{_QUOTED}|{_BARE})")
_SAID_PASSWORD = compile_pattern(
    rf"(?i)\b(?:{_CHOSEN_NAMES}|pin)\b[^.\n:=]{{0,24}}?\b(?:is|was|to|ist|lautet|est|es|é)\b:?\s{{1,3}}(?:{_QUOTED}|{_BARE})"
)
_BEARER = compile_pattern(r"(?i)\b(?:bearer|basic|token)\s+([A-Za-z0-9_\-.~+/]{16,}={0,2})")
_HEADER = compile_pattern(
    r"(?i)\b(?:x-[a-z\-]*(?:key|token|auth|secret)|api-key|private-token)[\"']?\s*[:=]\s*[\"']?([^\s\"',;]{8,})"
)
_COMMAND = compile_pattern(r"(?:\s-u|--user|--proxy-user)[ =][\"']?[^\s:\"']+:([^\s\"'@]{4,})")

_NEXT_FIELD = compile_pattern(r"&[A-Za-z_][\w\-]*=")
_STAND_INS = word_set(
    "none null nil true false undefined string str int bytes bool boolean text varchar number object any"
    " yes no password passwd pwd secret token changeme change_me example test required optional hidden"
    " redacted masked empty default value input env getenv secretstr the not now self that what when"
)
_IDENTIFIER = compile_pattern(r"^[A-Za-z_]+(?:\.[A-Za-z_]+)*(?:=.*)?$")
_CODE = compile_pattern(
    r"^(?:\$|<|\{\{|%\(|%[A-Z_]+%|\*+$|[xX.*\-_]+$|your|my[_-]|\["
    r"|(?:os|process|env|self|this|config|settings|args|request|params|props|data|user|var|local)\.)"
    r"|^\{+[\w.\- ]*\}+$|\(\)"
)


def _made_secret(value: str) -> bool:
    """Random enough to be generated: 16 characters of base64 have about 3.5 bits each, words fewer."""
    if len(value) < 8 or _is_stand_in(value) or " " in value.strip():
        return False
    if any(char.isdigit() for char in value) and any(char.isalpha() for char in value):
        return entropy(value) >= 2.8
    if len({char for char in value if not char.isalnum()}) >= 4:
        return entropy(value) >= 3.6
    return len(value) >= 16 and value not in {value.lower(), value.upper()} and entropy(value) >= 3.6


def _chosen_password(value: str) -> bool:
    """What people choose: anything but a plain word or a name from a program."""
    return not _is_stand_in(value) and len(set(value)) > 2 and _IDENTIFIER.search(value) is None


def _is_stand_in(value: str) -> bool:
    return value.lower().strip(".:!?") in _STAND_INS or _CODE.search(value) is not None


def _value(match: "re2._Match") -> tuple[int, int, bool]:
    """Span of the value, and whether it stood in quotes. Without quotes, the next field of a form body is no
    part of it.
    """
    if match.span(1) != (-1, -1):
        return (*match.span(1), True)
    start, end = match.span(2)
    next_field = _NEXT_FIELD.search(match[2])
    return start, end if next_field is None else start + next_field.start(), False


def _find(view: View, hits: Sequence[int]) -> Iterator[Match]:
    for hit in hits:
        yield from _FINDERS[hit](view)


def _assigned_passwords(view: View) -> Iterator[Match]:
    for match in _ASSIGNED_PASSWORD.finditer(view.data):
        start, end, quoted = _value(match)
        value = view.text(start, end)
        if _chosen_password(value) or (quoted and value.isalpha() and not _is_stand_in(value)):
            yield Match(start, end, 0.9 if quoted or _made_secret(value) else 0.7, PASSWORD.name)


def _assigned_secrets(view: View) -> Iterator[Match]:
    for match in _ASSIGNED_SECRET.finditer(view.data):
        start, end, quoted = _value(match)
        if _made_secret(view.text(start, end)):
            yield Match(start, end, 0.85 if quoted else 0.75, SECRET.name)


def _said_passwords(view: View) -> Iterator[Match]:
    for match in _SAID_PASSWORD.finditer(view.data):
        start, end, quoted = _value(match)
        while end > start and view.data[end - 1] in b".!?":
            end -= 1
        value = view.text(start, end)
        if _chosen_password(value) or (quoted and not _is_stand_in(value)):
            yield Match(start, end, 0.8, PASSWORD.name)


def _one_group(
    expression: "re2._Regexp", score: float, type_name: str, check: Callable[[str], bool]
) -> Callable[[View], Iterator[Match]]:
    def find(view: View) -> Iterator[Match]:
        for match in expression.finditer(view.data):
            start, end = match.span(1)
            if check(view.text(start, end)):
                yield Match(start, end, score, type_name)

    return find


_FINDERS: tuple[Callable[[View], Iterator[Match]], ...] = (
    _assigned_passwords,
    _assigned_secrets,
    _said_passwords,
    _one_group(_BEARER, 0.9, SECRET.name, _made_secret),
    _one_group(_HEADER, 0.85, SECRET.name, _made_secret),
    _one_group(_COMMAND, 0.85, PASSWORD.name, _chosen_password),
)

_random, _b64 = sample(32, BASE62), sample(40, BASE64)
_word = "Tr0ub4dor" + "&3"

RECOGNIZERS = (
    FunctionRecognizer(
        "secret.assigned",
        (SECRET, PASSWORD),
        (
            rf"(?i)(?:{_CHOSEN_NAMES})(?:[\w\-]*[\"'\]\\]*\s*(?:(?i:string|str)\s*)?[:.?=>]|[\"'],)",
            rf"(?i)(?:{_MADE_NAMES})(?:[\w\-]*[\"'\]\\]*\s*(?:(?i:string|str)\s*)?[:.?=>]|[\"'],)",
            rf"(?i)\b(?:{_CHOSEN_NAMES}|pin)\b[^.\n:=]*\b(?:is|was|to|ist|lautet|est|es|é)\b",
            r"(?i)\b(?:bearer|basic|token)\s+[A-Za-z0-9_\-.~+/]{16}",
            r"(?i)\b(?:x-[a-z\-]*(?:key|token|auth|secret)|api-key|private-token)[\"']?\s*[:=]",
            r"(?:\s-u|--user|--proxy-user)[ =][\"']?[^\s:\"']+:",
        ),
        _find,
        examples=(
            Example(f"DB_PASSWORD={_word}", _word, "PASSWORD"),
            Example(f'{{"password": "{_word}"}}', _word, "PASSWORD"),
            Example(f"Server=a;User Id=b;Password={_word};", _word, "PASSWORD"),
            Example(f"my password is {_word}.", _word, "PASSWORD"),
            Example(f'client_secret: "{_random}"', _random),
            Example(f"export APP_TOKEN={_random}", _random),
            Example(f"Authorization: Bearer {_random}", _random),
            Example(f"Authorization: Basic {_b64}=", f"{_b64}="),
            Example(f"X-Api-Key: {_random}", _random),
            Example(f"AccountKey={_b64}==;", f"{_b64}=="),
            Example(f"curl -u jane:{_word} https://a.io", _word, "PASSWORD"),
        ),
        counter_examples=(
            "password: str",
            "password = os.environ['PASSWORD']",
            "The password is required.",
            "token = get_token(user)",
            'api_key="<your key>"',
            "secret: ${SECRET}",
            "password=********",
            "max_tokens: 4096",
            "tokens, sessions",
            "the bearer of bad news",
        ),
    ),
)
