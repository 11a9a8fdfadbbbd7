"""Secrets as requests carry them: authorization headers (RFC 6750, RFC 7617), headers of keys, and session cookies
(RFC 6265).
"""

import base64
import binascii

from gateway.detection.recognizer import EntityType, Example
from gateway.detection.recognizers._samples import BASE62, sample
from gateway.detection.recognizers.secrets._locator import rule, table
from gateway.detection.recognizers.secrets._value_classifier import (
    PASSWORD,
    believed,
    is_stand_in,
    is_strong,
    long_made,
    made,
)

_OPEN = r"\\?[\"']?"
_JOIN = rf"{_OPEN}\s{{0,3}}[:=]\s{{0,3}}{_OPEN}"
_SESSION = (
    r"(?:(?:[\w.\-]*(?:sess(?:ion)?(?:[ _\-]?id)?|remember\w*|_at|user_token)|(?:[\w.\-]*[._\-])?sid)"
    r"|ASPSESSIONID[A-Z]{8}|CFTOKEN|li_at|c_user|xs|__(?:Secure|Host)-[\w\-]+)"
)
_LONGEST = 4096
"""Bytes; what is longer is no token but a text."""


def _basic(value: str, quoted: bool) -> EntityType | None:
    """Base64 of `user:password` (RFC 7617, section 2), or of what else somebody sends there."""
    if ":" in value:  # as people write it for tools that encode it
        user, _, password = value.partition(":")
        return PASSWORD if is_strong(password) and not is_stand_in(user) else None
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        decoded = ""
    user, colon, password = decoded.partition(":")
    if not colon or not decoded.isprintable():
        return PASSWORD if long_made(value, quoted) else None
    if not password:
        return believed(user, quoted)
    return None if is_stand_in(password) and is_stand_in(user) else PASSWORD


_random = sample(32, BASE62)
_pair = base64.b64encode(b"jane:" + b"Tr0ub4dor&3").decode()

RECOGNIZERS = (
    table(
        "sent",
        (
            rule(
                rf"(?i)\bbearer{_OPEN}[:=]?\s+{_OPEN}",
                r"([A-Za-z0-9_\-.~+/:]{8,}={0,2})",
                long_made,
                score=0.9,
                trim=b".:",
                longest=_LONGEST,
            ),
            rule(
                rf"(?i)\bbasic{_OPEN}[:=]?\s+{_OPEN}",
                r"([A-Za-z0-9_\-.~+/:]{8,}={0,2})",
                _basic,
                score=0.95,
                trim=b".:",
                longest=_LONGEST,
            ),
            rule(
                rf"(?i)\bauthorization{_OPEN}\s{{0,3}}(?:[:=]|=>|,)\s{{0,4}}{_OPEN}(?:[A-Za-z][A-Za-z\-]*\s+)?",
                r"([^\s\"'<>]{6,})",
                made,
                score=0.9,
                trim=b"`,;)}]\\",
                longest=_LONGEST,
            ),
            rule(
                rf"(?i)\b(?:x-[\w\-]*(?:key|auth|art-api)|(?:user|session|app)[_\-]?(?:key|auth)){_OPEN}\s{{0,3}}:\s{{0,4}}{_OPEN}",
                r"([^\s\"'\\,;<>]{8,})",
                made,
                score=0.85,
                trim=b"`)}]",
                longest=_LONGEST,
            ),
            # Cookies by their name; what no script may read opens a session, whatever its name is
            rule(rf"(?i)\b{_SESSION}{_JOIN}(?:s%3A)?", r"([^;,\s\"'&]{8,})", made, score=0.85, longest=_LONGEST),
            rule(
                rf"(?i)\bset-cookie{_JOIN}[\w.\-]+=",
                r"([^;,\s]{8,})[^\r\n]*;\s?HttpOnly\b",
                made,
                score=0.85,
                longest=_LONGEST,
            ),
        ),
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
