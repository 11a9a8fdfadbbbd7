"""Secrets nobody has a form for, found by the name they are assigned to in code, configuration and markup.

A value counts when it looks made to be secret: random enough, or a password that is no plain word. Code that handles
secrets is left alone: types, calls, variables, references, and the stand-ins that people write in examples.
"""

import re
from collections.abc import Iterator, Sequence

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import EntityType, Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._assignments import PREFILTER, TELLING, Assignment, assignments
from gateway.detection.recognizers._said_words import ACCOUNTS
from gateway.detection.recognizers._samples import BASE62, BASE64, sample
from gateway.detection.recognizers._secret_names import Kind, is_place, kind_below, kind_of
from gateway.detection.recognizers._secret_values import (
    is_app_password,
    is_chosen,
    is_gibberish,
    is_made,
    is_phrase,
    is_stand_in,
    is_strong,
    is_uuid,
    is_very_made,
)

PASSWORD = EntityType("PASSWORD", "secret", "A password or passphrase.")
SECRET = EntityType("SECRET", "secret", "A token, key or other secret of no known vendor.")

# `"value" == password`
_COMPARED = compile_pattern(
    rf"(?i)[\"']([^\"'\s]{{4,512}})[\"'][ \t]{{0,4}}[!=]={{1,2}}[ \t]{{0,4}}([\w.$\->]*(?:{TELLING})\w*)"
)
_ODD_SIGN = re.compile(r"[!@#$%^&*?~]")
_ENVIRONMENT = compile_pattern(r"^[A-Z][A-Z0-9_]{3,60}$")
_ACCOUNT_NEAR = compile_pattern(rf"(?i)\b(?:{ACCOUNTS})\"?[ \t]*[:=]")
# What opens a vault beside the id of a role, and what a token of Consul and Nomad is.
_NUMBERED_SECRET = re.compile(r"(?i)secret_?id")
# A `key` below one of these lets people in.
_NETWORK = compile_pattern(r"(?i)\b(?:wi-?fi|wlan|ssid|wpa[23]?)\b")
_LEAST_OF_NETWORK = 8
"""Characters of the shortest key of a wireless network (IEEE 802.11, annex J.4)."""
_NEAR = 120
_OF_WORDS = ("psk", "passphrase")
"""Ends of the names of what is often made of words."""
_LONGEST_PHRASE = 80


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    if 0 in hits:
        for one in assignments(normalized.data):
            match = _judge(normalized, one)
            if match is not None:
                yield match
    if 1 in hits:
        for compared in _COMPARED.finditer(normalized.data):
            start, end = compared.span(1)
            type_name = _type(kind_of(compared[2].decode("utf-8", "replace")), normalized.text(start, end), quoted=True)
            if type_name is not None:
                yield Match(start, end, 0.85, type_name)


def _judge(normalized: NormalizedText, one: Assignment) -> Match | None:
    if one.end - one.start < 4:
        return None
    kind = kind_of(one.name)
    if kind is None and one.name.lower() == "key":
        kind = kind_below(normalized.data, one.at)
        if kind is None and _NETWORK.search(normalized.data, max(0, one.at - _NEAR), one.at):
            kind = Kind.PASSWORD
    if kind is None and _NUMBERED_SECRET.fullmatch(one.name) and is_uuid(normalized.text(one.start, one.end)):
        return Match(one.start, one.end, 0.75, SECRET.name)
    if kind is None or (one.name.lower() == "token" and is_place(normalized.data, one.at)):
        return None
    value = normalized.text(one.start, one.end)
    if kind is Kind.PASSWORD and one.name.lower() == "key" and len(value) < _LEAST_OF_NETWORK:
        return None
    if (
        kind is Kind.PASSWORD
        and not one.quoted
        and is_app_password(groups := normalized.text(one.start, one.start + 19))
    ):
        return Match(one.start, one.start + len(groups), 0.75, PASSWORD.name)
    if one.join == "=" and not one.quoted and one.name.lower().endswith(_OF_WORDS):
        line = normalized.data[one.start : one.start + _LONGEST_PHRASE].partition(b"\n")[0].rstrip()
        if is_phrase(line.decode("utf-8", "replace")):
            return Match(one.start, one.start + len(line), 0.75, PASSWORD.name)
    if not one.quoted and _is_expression(normalized.data, one, value):
        return None
    if one.join in {",", "(", "", "|"}:
        # A list, a call or a mere neighbour, where only values count that no program would use as a name.
        if value.startswith("-") or "\\" in value or not (is_strong(value) or is_made(value)):
            return None
    elif kind is Kind.PASSWORD and not one.quoted and _is_plain_password(normalized, one, value):
        return Match(one.start, one.end, 0.6, PASSWORD.name)
    type_name = _type(kind, value, quoted=one.quoted)
    if one.quoted and _is_words(kind, one, value):
        type_name = PASSWORD.name
    if type_name is None or (kind is Kind.PASSWORD and _is_verdict(normalized, one, value)):
        return None
    return Match(one.start, one.end, 0.9 if one.quoted else 0.75, type_name)


def _is_words(kind: Kind, one: Assignment, value: str) -> bool:
    """A passphrase, where one is expected, or where an environment is set and nobody writes a sentence."""
    if one.name.lower().endswith(_OF_WORDS):
        return is_phrase(value)
    set_ = one.join == "=" and _ENVIRONMENT.match(one.name.encode()) is not None
    return set_ and kind is Kind.PASSWORD and is_phrase(value, least=2)


def _is_verdict(normalized: NormalizedText, one: Assignment, value: str) -> bool:
    """What a test says: `pass: 12`, `--- PASS: TestLogin2`."""
    if one.name == "PASS" and value.isalnum() and not is_gibberish(value):
        return _ACCOUNT_NEAR.search(normalized.data, max(0, one.start - _NEAR), one.start) is None
    return value.isdigit() and one.name.strip("-_.$").lower() in {"pass", "pw"}


def _is_expression(data: bytes, one: Assignment, value: str) -> bool:
    """Without quotes, what `=>` leads to or a semicolon ends is code, unless it could be no name."""
    if one.join.endswith(("=>", "->", "<-")):
        return not is_made(value) or not value.isascii() or any(char in "(){}[]" for char in value)
    return data[one.end : one.end + 1] == b";" and any(char in "(){}[]" for char in value)


def _type(kind: Kind | None, value: str, *, quoted: bool) -> str | None:
    if kind is Kind.PASSWORD:
        return PASSWORD.name if is_chosen(value, quoted=quoted) else None
    if kind is Kind.SECRET:
        return SECRET.name if is_made(value) or (_ODD_SIGN.search(value) and is_strong(value)) else None
    return SECRET.name if kind is Kind.MAYBE_KEY and is_very_made(value) else None


def _is_plain_password(normalized: NormalizedText, one: Assignment, value: str) -> bool:
    """A word as password: where an environment is set, or below the account it opens."""
    data = normalized.data
    if not (value.isascii() and value.isalpha() and value.islower() and len(value) >= 5) or is_stand_in(value):
        return False
    if data[one.end : one.end + 1] not in {b"", b"\n", b"\r"}:
        return False
    if one.join == "=" and data[one.start - 1 : one.start] == b"=" and _ENVIRONMENT.match(one.name.encode()):
        return True
    return one.join == ":" and _ACCOUNT_NEAR.search(data, max(0, one.start - _NEAR), one.start) is not None


_random, _b64 = sample(32, BASE62), sample(40, BASE64)
_word = "Tr0ub4dor" + "&3"

RECOGNIZERS = (
    FunctionRecognizer(
        "secret.assigned",
        (SECRET, PASSWORD),
        (PREFILTER, rf"(?i)[\"'][ \t]*[!=]=+[ \t]*[\w.$\->]*(?:{TELLING})"),
        _find,
        examples=(
            Example(f"DB_PASSWORD={_word}", _word, "PASSWORD"),
            Example(f'{{"password": "{_word}"}}', _word, "PASSWORD"),
            Example(f'{{\\"password\\": \\"{_word}\\"}}', _word, "PASSWORD"),
            Example(f"Server=a;User Id=b;Password={_word};", _word, "PASSWORD"),
            Example(f'client_secret: "{_random}"', _random),
            Example(f"export APP_TOKEN={_random}", _random),
            Example(f'var apiToken string = "{_random}"', _random),
            Example(f"<apiToken>\n  {_random}\n</apiToken>", _random),
            Example(f"define('DB_PASSWORD', '{_word}');", _word, "PASSWORD"),
            Example(f'<add key="Password" value="{_word}" />', _word, "PASSWORD"),
            Example(f"- name: DB_PASSWORD\n  value: {_word}", _word, "PASSWORD"),
            Example(f'if ("{_word}" == password) {{', _word, "PASSWORD"),
            Example(f"AccountKey={_b64}==;", f"{_b64}=="),
            Example("Login: jane\nPassword: " + "sunshine", "sunshine", "PASSWORD"),
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
            "--- PASS: TestLogin2 (0.00s)",
            "tokens, sessions",
            f'publicKey = "{_random}"',
            f'nextPageToken: "{_random}"',
            "self.password = user.password",
        ),
    ),
)
