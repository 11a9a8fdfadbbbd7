"""Made secrets after their name with a blank, an arrow or a dash between: notes, tables, answers of programs."""

import re
from collections.abc import Iterator, Sequence

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._secret_names import Kind, kind_of
from gateway.detection.recognizers._secret_values import is_made, is_very_made
from gateway.detection.recognizers.assigned_secret import SECRET

_NAMED = (
    r"(?i)(?:key|secret|token|credential)s?(?:[ \t]\d{1,2})?"
    # What is said of it: (prod), [None]. Then marks of emphasis, and the link.
    r"(?:[ \t]?(?:\([^()\r\n]{1,24}\)|\[[^\[\]\r\n]{0,24}\]))?"
    r"[*_`]{0,3}[ \t]{0,3}(?:[:=]|[=\-]>|→|-|is\b)?[*_`]{0,3}"
    r"(?:[ \t]{1,4}|[ \t]*\r?\n[ \t]*-[ \t]+)[\"'`]?"
)
_PREFILTER = _NAMED + r"[A-Za-z0-9][A-Za-z0-9+/_\-.~]{15}"
_PLACES = compile_pattern(_NAMED + r"([A-Za-z0-9][A-Za-z0-9+/_\-.~]{15,}={0,2})")
_WORD = re.compile(rb"[A-Za-z]+")
# The words of a name that stand before its last, read backwards: `AWS secret access`, `our Datadog`.
_BEFORE = re.compile(rb"[ \t]?(?:[\w\-]++[ \t]){0,3}[\w\-]*+")
_REACH = 100
_LONGEST = 202
_ENDS = frozenset((b"", *(bytes((sign,)) for sign in b" \t\r\n\"'`*,;)]}<|!?")))


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    data = normalized.data
    for match in _PLACES.finditer(data):
        start, end = match.span(1)
        if data[end : end + 1] not in _ENDS or data[end - 2 : end] == b"..":
            continue  # a part of something else, or what was left of a value
        while data[end - 1] in b".-":
            end -= 1
        value = normalized.text(start, end)
        if value.isdigit() or len(value) > _LONGEST:
            continue
        last = _WORD.match(data, match.start())
        before = _BEFORE.match(data[max(0, match.start() - _REACH) : match.start()][::-1])
        if last is None or before is None:
            continue
        kind = kind_of((before[0][::-1] + last[0]).decode("utf-8", "replace"))
        if is_very_made(value) if kind is Kind.MAYBE_KEY else kind is Kind.SECRET and is_made(value):
            yield Match(start, end, 0.8, SECRET.name)


_made = "q7Zr2mXw9LpV4tKd" + "Hb83nYc6"

RECOGNIZERS = (
    FunctionRecognizer(
        "secret.named",
        (SECRET,),
        (_PREFILTER,),
        _find,
        examples=(
            Example(f"aws_secret_access_key\t{_made}", _made),
            Example(f"API_KEY {_made}", _made),
            Example(f"AWS Secret Access Key [None]: {_made}", _made),
            Example(f"**API key:** `{_made}`", _made),
            Example(f"api key -> {_made}", _made),
            Example(f"the heroku key is {_made}.", _made),
            Example(f"client secret (prod): {_made}", _made),
            Example(f"secrets:\n  - {_made}", _made),
            Example(f"Unseal Key 1: {_made}", _made),
        ),
        counter_examples=(
            f"public key {_made}",
            f"cache key {_made}",
            f"next page token: {_made}",
            "The token is expired since yesterday-morning.",
            "key concepts/introduction-to-tokens",
            "the secret of productivity-2024-edition",
        ),
    ),
)
