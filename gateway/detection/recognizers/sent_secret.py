"""Secrets as requests carry them: authorization headers (RFC 6750, RFC 7617), headers of keys, and session cookies
(RFC 6265).
"""

import base64
import binascii
from collections.abc import Iterator, Sequence

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._samples import BASE62, sample
from gateway.detection.recognizers._secret_names import is_place
from gateway.detection.recognizers._secret_values import is_chosen, is_made, is_stand_in, is_strong
from gateway.detection.recognizers.assigned_secret import PASSWORD, SECRET

_SCHEME = compile_pattern(r"(?i)\b(bearer|basic)\\?[\"']?[:=]?\s+\\?[\"']?([A-Za-z0-9_\-.~+/:]{8,}={0,2})")
_AUTHORIZATION = compile_pattern(
    r"(?i)\b(?:proxy-)?authorization\\?[\"']?\s{0,3}(?:[:=]|=>|,)\s{0,4}\\?[\"']?(?:[A-Za-z][A-Za-z\-]*\s+)?"
    r"([^\s\"'<>]{6,})"
)
_HEADER = compile_pattern(
    r"(?i)\b((?:x-[\w\-]*|api|app|access|auth|private|job|deploy|private|vault|subscription|secret|user"
    r"|session)[\-_]?(?:key|token|auth|secret|password)"
    r"|session[ _\-]?id|apikey|token|x-jfrog-art-api)\\?[\"']?\s{0,3}:\s{0,4}\\?[\"']?([^\s\"'\\,;<>]{8,})"
)
_COOKIES = compile_pattern(r"(?i)\b(?:set-)?cookie\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?([^\r\n\"]{6,})")
_COOKIE = compile_pattern(
    r"(?i)(?:^|[;\s])([\w.\-]*(?:sess|sid\b|sid=|auth|token|jwt|remember|login|_at=|csrf|xsrf|secret"
    r"|credential)[\w.\-]*)=([^;,\s]{8,})"
)
# What no script may read opens a session, whatever its name is.
_FIRST_COOKIE = compile_pattern(r"(?i)^\s*([\w.\-]+)=([^;,\s]{8,})[^\r\n]*;\s?HttpOnly\b")
_SESSION = compile_pattern(
    r"\b(?:PHPSESSID|JSESSIONID|ASP\.NET_SessionId|ASPSESSIONID[A-Z]{8}|connect\.sid|laravel_session"
    r"|_gitlab_session|user_session"
    r"|session|sessionid|session_id|CFTOKEN|sid|li_at|c_user|xs|__Secure-[\w\-]{3,40}|__Host-[\w\-]{3,40}"
    r"|remember_user_token)=(s%3A)?([^;,\s\"'&]{16,})"
)


_LONGEST = 4096
"""Bytes; what is longer is no token but a text."""


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    for hit in hits:
        yield from _FINDERS[hit](normalized)


def _schemes(normalized: NormalizedText) -> Iterator[Match]:
    for match in _SCHEME.finditer(normalized.data):
        start, end = match.span(2)
        end = _without(normalized.data, start, end, b".:")
        if end - start > _LONGEST:
            continue
        value = normalized.text(start, end)
        if match[1].lower() == b"basic":
            if _is_basic(value):
                yield Match(start, end, 0.95, PASSWORD.name)
        elif len(value) >= 16 and is_made(value):
            yield Match(start, end, 0.9, SECRET.name)


def _authorizations(normalized: NormalizedText) -> Iterator[Match]:
    for match in _AUTHORIZATION.finditer(normalized.data):
        start, end = match.span(1)
        end = _without(normalized.data, start, end, b"`,;)}]\\")
        if end - start <= _LONGEST and is_made(normalized.text(start, end)):
            yield Match(start, end, 0.9, SECRET.name)


def _headers(normalized: NormalizedText) -> Iterator[Match]:
    for match in _HEADER.finditer(normalized.data):
        start, end = match.span(2)
        end = _without(normalized.data, start, end, b"`)}]")
        if match[1].lower().endswith(b"token") and is_place(normalized.data, match.end(1) - len(b"token")):
            continue
        if end - start <= _LONGEST and is_made(normalized.text(start, end)):
            yield Match(start, end, 0.85, SECRET.name)


def _cookies(normalized: NormalizedText) -> Iterator[Match]:
    for line in _COOKIES.finditer(normalized.data):
        first = line.start(1)
        for cookie in (_COOKIE, _FIRST_COOKIE):
            for match in cookie.finditer(line[1]):
                yield from _session(normalized, first + match.start(2), first + match.end(2))


def _sessions(normalized: NormalizedText) -> Iterator[Match]:
    for match in _SESSION.finditer(normalized.data):
        yield from _session(normalized, *match.span(2))


def _session(normalized: NormalizedText, start: int, end: int) -> Iterator[Match]:
    if end - start <= _LONGEST and is_made(normalized.text(start, end)):
        yield Match(start, end, 0.85, SECRET.name)


def _is_basic(value: str) -> bool:
    """Base64 of `user:password` (RFC 7617, section 2), or of what else somebody sends there."""
    if ":" in value:  # as people write it for tools that encode it
        user, _, password = value.partition(":")
        return is_strong(password) and not is_stand_in(user)
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return len(value) >= 16 and is_made(value)
    user, colon, password = decoded.partition(":")
    if not colon or not decoded.isprintable():
        return len(value) >= 16 and is_made(value)
    return not (is_stand_in(password) and is_stand_in(user)) if password else is_chosen(user, quoted=True)


def _without(data: bytes, start: int, end: int, signs: bytes) -> int:
    """The end without the signs of the text around."""
    while end > start and data[end - 1] in signs:
        end -= 1
    return end


_FINDERS = (_schemes, _authorizations, _headers, _cookies, _sessions)

_random = sample(32, BASE62)
_basic = base64.b64encode(b"jane:" + b"Tr0ub4dor&3").decode()

RECOGNIZERS = (
    FunctionRecognizer(
        "secret.sent",
        (SECRET, PASSWORD),
        (
            r"(?i)\b(?:bearer|basic)\\?[\"']?[:=]?\s+\\?[\"']?[A-Za-z0-9_\-.~+/:]{8}",
            r"(?i)\b(?:proxy-)?authorization\\?[\"']?\s*(?:[:=,])",
            r"(?i)(?:[\-_](?:key|token|auth|secret|password)|session[ _\-]?id|apikey|\btoken|art-api)\\?[\"']?\s*:",
            r"(?i)\bcookie\\?[\"']?\s*[:=]",
            r"(?:(?i:sess[a-z]*[_\-]?(?:id)?)|\bsid|CFTOKEN|_session|li_at|user_token|__Host-[\w\-]+"
            r"|__Secure-[\w\-]+|\bxs)=",
        ),
        _find,
        examples=(
            Example(f"Authorization: Bearer {_random}", _random),
            Example(f"Authorization: Basic {_basic}", _basic, "PASSWORD"),
            Example(f"Authorization: {_random}", _random),
            Example(f"X-Api-Key: {_random}", _random),
            Example(f"Cookie: lang=en; sessionid={_random}; theme=dark", _random),
            Example(f"Set-Cookie: id={_random}; Path=/; HttpOnly", _random),
            Example(f"PHPSESSID={_random}", _random),
            Example(f'{{"sessionId": "{_random}"}}', _random),
        ),
        counter_examples=(
            "the bearer of bad news",
            "Authorization: Bearer $TOKEN",
            "Authorization: Basic <credentials>",
            "X-Api-Key: YOUR_API_KEY",
            "Cookie: theme=dark; lang=en",
            "basic understanding of the token economy",
        ),
    ),
)
