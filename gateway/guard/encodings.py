"""Finds URLs that carry a placeholder, a tag or a protected value in an encoding."""

import base64
import binascii
import codecs
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from urllib.parse import unquote

from gateway.guard.context import GuardContext, Hit, Source
from gateway.guard.patterns import expression, matches
from gateway.guard.placeholder_checks import Tags
from gateway.guard.value_leaks import ProtectedValues
from gateway.guard.verdict import Kind, Severity
from gateway.placeholders import Found

URL = expression(r"(?:\b[a-z][a-z0-9+.-]{1,20}:)?//[^\s\pZ\"'<>`\\]+|\bwww\.[^\s\pZ\"'<>`\\]+")
_TOKEN = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}")
_PARAMETER = re.compile(r"[?&;][\w.-]{1,40}=")
_MAX_TOKEN = 8192
_VOWELS = frozenset("AEY")
_URL_SAFE = str.maketrans("-_", "+/")


class Encodings:
    """Looks for the session's placeholders, tags and values behind an encoding."""

    def __init__(self, context: GuardContext, tags: Tags, values: ProtectedValues) -> None:
        self._placeholders = context.placeholders
        self._values = values
        self._all_tags = tags

    @cached_property
    def _tags(self) -> list[str]:
        """Those that no other URL contains by chance: no numbers, and no letters with a vowel among them."""
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
