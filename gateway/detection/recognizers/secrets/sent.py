"""Secrets as requests carry them: authorization headers (RFC 6750, RFC 7617), headers of keys, and session cookies
(RFC 6265).
"""

import base64
import binascii

from gateway.detection.recognizer import EntityType, Example
from gateway.detection.recognizers._samples import BASE62, sample
from gateway.detection.recognizers.secrets import _value_classifier as values
from gateway.detection.recognizers.secrets._locator import rule, table

_OPEN = r"\\?[\"']?"
_JOIN = rf"{_OPEN}\s{{0,3}}[:=]\s{{0,3}}{_OPEN}"
_SESSION_GATE = (
    r"(?i)(?:sess(?:ion)?(?:[ _\-]?id)?|remember\w*|_at|user_token|\bsid|[._\-]sid|CFTOKEN|li_at|c_user|\bxs"
    r"|__(?:Secure|Host)-[\w\-]+|ASPSESSIONID\w+)\\?[\"']?\s{0,3}[:=]"
)
_SESSION = (
    r"(?:(?:[\w.\-]*(?:sess(?:ion)?(?:[ _\-]?id)?|remember\w*|_at|user_token)|(?:[\w.\-]*[._\-])?sid)"
    r"|ASPSESSIONID[A-Z]{8}|CFTOKEN|li_at|c_user|xs|__(?:Secure|Host)-[\w\-]+)"
)


def _credential(value: str, quoted: bool) -> EntityType | None:
    """A token, or base64 of `user:password`, or that pair as people write it for tools that encode it."""
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        decoded = value
    user, colon, password = decoded.partition(":")
    if not colon or not decoded.isprintable():
        return values.long_made(value, quoted)
    if decoded is value:
        return values.PASSWORD if values.is_strong(password) and not values.is_stand_in(user) else None
    if not password:
        return values.believed(user, quoted)
    return None if values.is_stand_in(password) and values.is_stand_in(user) else values.PASSWORD


_random = sample(32, BASE62)
_pair = base64.b64encode(b"jane:" + b"Tr0ub4dor&3").decode()

_RULES = (
    rule(rf"(?i)\b(?:bearer|basic){_OPEN}[:=]?\s+{_OPEN}", r"([A-Za-z0-9_\-.~+/:]{8,}={0,2})", _credential, score=0.95),
    rule(
        rf"(?i)\bauthorization{_OPEN}\s{{0,3}}(?:[:=]|=>|,)\s{{0,4}}{_OPEN}(?:[A-Za-z][A-Za-z\-]*\s+)?",
        r"([^\s\"'<>]{6,})",
        values.made,
        score=0.9,
    ),
    # Cookies by their name; what no script may read opens a session, whatever its name is
    rule(rf"(?i)\b{_SESSION}{_JOIN}(?:s%3A)?", r"([^;,\s\"'&]{8,})", values.made, gate=_SESSION_GATE),
    rule(rf"(?i)\bset-cookie{_JOIN}[\w.\-]+=", r"([^;,\s]{8,})[^\r\n]*;\s?HttpOnly\b", values.made, score=0.85),
)

RECOGNIZERS = (
    table(
        "sent",
        _RULES,
        examples=(
            Example(f"Authorization: Bearer {_random}", _random, "SECRET"),
            Example(f"Authorization: Basic {_pair}", _pair),
            Example(f"Authorization: {_random}", _random, "SECRET"),
            Example(f"X-Api-Key: {_random}", _random, "SECRET"),
            Example(f"Cookie: lang=en; sessionid={_random}; theme=dark", _random, "SECRET"),
            Example(f"Set-Cookie: id={_random}; Path=/; HttpOnly", _random, "SECRET"),
            Example(f"PHPSESSID={_random}", _random, "SECRET"),
            Example(f'{{"sessionId": "{_random}"}}', _random, "SECRET"),
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
