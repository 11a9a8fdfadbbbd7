"""Placeholders on their way out in a link: in a URL the request did not hold, in markup that loads itself, or encoded.

Where a link begins and which links the request held is decided by the rule that also keeps placeholders closed there
(gateway/placeholders/url_policy.py); a value is reported here exactly where it is not restored.
"""

import base64
import binascii
import codecs
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from urllib.parse import unquote

from gateway.guard.context import GuardContext, Hit, Source
from gateway.guard.hidden_hosts import leads_home
from gateway.guard.placeholder_checks import Tags
from gateway.guard.regex_search import expression, matches
from gateway.guard.untrusted_destinations import PHONE, UntrustedDestinations
from gateway.guard.value_leaks import ProtectedValues
from gateway.guard.verdict import Kind, Severity
from gateway.placeholders import Found, Placeholders, RestoreScope

URL = expression(r"(?:\b[a-z][a-z0-9+.-]{1,20}:)?//[^\s\pZ\"'<>`\\]+|\bwww\.[^\s\pZ\"'<>`\\]+")
_BEFORE = 600
# What a reader's program fetches by itself, without anybody choosing to.
_LOADING = re.compile(
    r"!\[[^\]\n]*\]\(\s*<?[^)\n]*\Z"
    r"|<(?:img|iframe|script|link|object|embed|video|audio|source|svg|image|form|input|body|meta|base|style"
    r"|track)\b[^>]*\Z"
    r"|\burl\([^)]*\Z"
    r"|\[[^\]\n]+\]:[ \t]*<?\S*\Z",
    re.IGNORECASE,
)
# Addresses that lead to a program of the reader's (RFC 6068, RFC 3966, RFC 5724), or hold one, instead of to a server.
_SCHEME = re.compile(
    r"(?:\]\(\s*<?|=\s*[\"']?|[\s<>(\"'`]|^)(?:(mailto|tel|sms|smsto|callto|sips?|xmpp|facetime)"
    r"(?::|&colon;|&#0*58;)([^\s\"'<>)]*)"
    r"|(javascript|vbscript|data)(?::|&colon;|&#0*58;)([^\n]*))\Z",
    re.IGNORECASE,
)
_NUMBER = re.compile(PHONE)
# What runs, or loads something, where a `data:` address is opened; a table or a picture does not.
_ACTIVE = re.compile(
    r"<script|<\w[^>]*\son\w+\s*=|^text/html[^\n]*//|^(?:text|application)/(?:x-)?javascript|//[^\s\"'<>`]*\Z",
    re.IGNORECASE,
)
_START = re.compile(r"[^\s\"'<>`]*\Z")
_REST = re.compile(r"[^\s\"'<>`)]*")
_TOKEN = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}")
_PARAMETER = re.compile(r"[?&;][\w.-]{1,40}=")
_MAX_TOKEN = 8192
_VOWELS = frozenset("AEY")


def in_links(
    text: str, found: Sequence[Found], placeholders: Placeholders, scope: RestoreScope, untrusted: UntrustedDestinations
) -> Iterator[Hit]:
    """The session's placeholders inside links that the request did not hold. A hit covers the link."""
    closed = placeholders.closed(text, found, RestoreScope("source", scope.source_urls))
    last = -1
    for index in sorted(closed):
        hit = found[index]
        if hit.start < last:
            continue
        before = text[max(0, hit.start - _BEFORE) : hit.start]
        scheme = _SCHEME.search(before)
        if scheme and not _does_harm(scheme, text, hit, untrusted):
            continue
        link = _link(text, hit)
        if not scheme and leads_home(text, link, found, placeholders, untrusted):
            last = link[1]
            continue
        loading = None if scheme else _LOADING.search(before)
        start, last = link
        yield Hit(Kind.PLACEHOLDER_IN_MARKUP if loading else Kind.PLACEHOLDER_IN_URL, start, last, Severity.HIGH)


def _does_harm(scheme: re.Match[str], text: str, hit: Found, untrusted: UntrustedDestinations) -> bool:
    """Whether an address without a server takes a value somewhere: to a stranger, or into a program."""
    if scheme[3]:
        return scheme[3].lower() != "data" or _ACTIVE.search(unquote(scheme[4])) is not None
    rest = _REST.match(text, hit.end)
    whole = unquote(scheme[2] + text[hit.start : rest.end() if rest else hit.end])
    return untrusted.mailbox(whole) or any(map(untrusted.number, _NUMBER.findall(whole.partition("?")[0])))


def _link(text: str, hit: Found) -> tuple[int, int]:
    """The link around a placeholder, as far as it is sure to be one."""
    first = max(0, hit.start - _BEFORE)
    match = _START.search(text[first : hit.start])
    start = first + match.start() if match else hit.start
    opened = text.rfind("](", start, hit.start)
    rest = _REST.match(text, hit.end)
    return (opened + 2 if opened >= 0 else start), (rest.end() if rest else hit.end)


class Encodings:
    """Looks for the session's placeholders, tags and values behind an encoding."""

    def __init__(self, context: GuardContext, tags: Tags, values: ProtectedValues) -> None:
        self._placeholders = context.placeholders
        self._values = values
        self._all_tags = tags

    @cached_property
    def _tags(self) -> list[str]:
        """Those that stand out: a number, or letters with a vowel among them, could be part of anybody's URL."""
        every = self._all_tags.tags
        return [tag for tag in every if not tag.isdigit() and not (tag.isalpha() and _VOWELS & set(tag))]

    def hits(self, text: str, found: Sequence[Found], source: Source) -> Iterator[Hit]:
        """URLs that carry one of them encoded, and that the request did not hold."""
        for start, (said,) in matches(URL, text):
            address = said or ""
            if any(start <= hit.start < start + len(address) for hit in found):
                continue
            url = address.rstrip(").,;:!?*_~|]")
            if self.hides(url) and not source.holds(url):
                yield Hit(Kind.ENCODED_EXFILTRATION, start, start + len(url), Severity.HIGH)

    def hides(self, text: str) -> bool:
        """Percent-encoding (once or twice), base64, base32, hexadecimal, ROT13, reversal, and tags cut to pieces."""
        plain = unquote(unquote(text))
        squeezed = "".join(filter(str.isalnum, _PARAMETER.sub("", plain))).upper()
        if any(tag in squeezed or tag[::-1] in squeezed for tag in self._tags):
            return True
        return any(self._known(decoded) for decoded in _decodings(plain))

    def _known(self, text: str) -> bool:
        return bool(self._placeholders.find(text)) or self._values.within(text)


def _decodings(text: str) -> Iterator[str]:
    yield text[::-1]
    yield codecs.encode(text, "rot13")
    for match in _TOKEN.finditer(text):
        token = match[0].rstrip("=")
        if len(token) <= _MAX_TOKEN:
            # A path before the token looks like part of it; each piece may be the one.
            for piece in {token, *token.split("/")}:
                yield from _decoded(piece)


def _decoded(token: str) -> Iterator[str]:
    for decoder in (_base64, _base32, bytes.fromhex):
        try:
            yield decoder(token).decode("utf-8")
        except (binascii.Error, ValueError):
            continue


def _base64(token: str) -> bytes:
    return base64.b64decode(token.translate(_URL_SAFE) + "=" * (-len(token) % 4), validate=True)


def _base32(token: str) -> bytes:
    return base64.b32decode(token.upper() + "=" * (-len(token) % 8))


_URL_SAFE = str.maketrans("-_", "+/")
