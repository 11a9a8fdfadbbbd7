"""Finds gateway keys in requests, and removes credentials from the answers of upstreams that quote them.

Both recognize these spellings of a value: quoted, percent-encoded, escaped as in JSON or HTML, in base64, base32 or
hexadecimal, in capitals or lower case, in full-width letters, and with invisible characters.
"""

import re
from base64 import b32encode, b64decode, b64encode, urlsafe_b64encode
from binascii import Error
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Self

import re2
from pydantic import SecretStr

from gateway.detection.unicode_folding import FOLDING
from gateway.errors import BadRequest
from gateway.http.types import Field

# Clients of model providers authenticate with these.
PROVIDER_CREDENTIALS = frozenset({b"authorization", b"x-api-key", b"api-key", b"x-goog-api-key"})
# An HTTP/2 client may split its cookies, and a server sets each in a field of its own (RFC 9113 section 8.2.3).
_MAY_REPEAT = frozenset({b"cookie", b"set-cookie"})
_OTHERS = frozenset(b"proxy-authorization x-svc-key x-amz-security-token ocp-apim-subscription-key".split())
CREDENTIAL_HEADERS = PROVIDER_CREDENTIALS | _MAY_REPEAT | _OTHERS
SCRUBBED = b"[credential]"
KEY_PREFIX = b"svck_"
_AWS_KEY_ID = re.compile(rb"\AAWS4-[A-Z0-9-]+ Credential=([^/]+)/")

_SHORTEST_SECRET = 12
_SHORTEST_PART = 16


class KeySearch:
    """Searches bytes for gateway keys: all that have the gateway's prefix, and `secrets`, which have none."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        own = (expression for secret in secrets if secret for expression in _key_spellings(secret))
        self._pattern = _compiled((*_spellings(KEY_PREFIX), *own))

    @classmethod
    def of(cls, secret: SecretStr | None) -> Self:
        """Returns a search that includes the key of the settings, if there is one."""
        return cls([secret.get_secret_value()] if secret else ())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def in_bytes(self, data: bytes) -> bool:
        """Tells whether the bytes hold a gateway key, valid or not, in any spelling."""
        return self._pattern.search(data if data.isascii() else data + b"\n" + _as_shown(data)) is not None

    def in_fields(self, fields: Iterable[Field]) -> bool:
        """Tells whether a name or value of the header fields holds a gateway key."""
        return self.in_bytes(b"\n".join(part for field in fields for part in field))


def refuse_repeated(fields: Iterable[Field]) -> None:
    """Raises BadRequest if a credential is sent twice, because readers disagree on which one counts."""
    seen: set[bytes] = set()
    for name, _ in fields:
        lowered = name.lower()
        if lowered in CREDENTIAL_HEADERS and lowered not in _MAY_REPEAT:
            if lowered in seen:
                shown = lowered.decode("ascii")
                raise BadRequest(f"The header `{shown}` was sent more than once; send it once.", param=shown)
            seen.add(lowered)


def secrets_of(fields: Iterable[Field]) -> frozenset[bytes]:
    """Returns the secrets in header fields without their scheme; for Basic, also the decoded pair and its password."""
    found: set[bytes] = set()
    for name, value in fields:
        if name.lower() not in CREDENTIAL_HEADERS:
            continue
        scheme, _, secret = value.strip().rpartition(b" ")
        found.add(secret)
        if (key_id := _AWS_KEY_ID.search(value)) is not None:
            found.add(key_id[1])
        if scheme.strip().lower() == b"basic":
            with suppress(Error):
                pair = b64decode(secret)
                found |= {pair, pair.partition(b":")[2]}
    return frozenset(secret for secret in found if len(secret) >= _SHORTEST_SECRET)


def scrub_secrets(data: bytes, secrets: frozenset[bytes]) -> bytes:
    """Replaces every spelling of the secrets by `[credential]`."""
    for secret in secrets:
        data = _pattern(secret).sub(SCRUBBED, data)
    return data


def scrub_fields(fields: Iterable[Field], secrets: frozenset[bytes]) -> list[Field]:
    """Scrubs the values of header fields. Leaves out fields whose name contains a secret."""
    if not secrets:
        return list(fields)
    return [
        (name, scrub_secrets(value, secrets)) for name, value in fields if SCRUBBED not in scrub_secrets(name, secrets)
    ]


def _as_shown(data: bytes) -> bytes:
    """Returns the bytes as a reader sees them: full-width characters in ASCII, without invisible ones."""
    return data.decode("utf-8", "replace").translate(FOLDING).encode()


def _key_spellings(secret: str) -> Iterator[bytes]:
    """Yields expressions for a key without prefix. A short one must be a whole word, since it may be part of others."""
    plain, *codes = _spellings(secret.encode())
    short = len(secret) < _SHORTEST_PART
    yield rb"\b" + plain + rb"\b" if short else plain
    yield from () if short else codes


@lru_cache(maxsize=64)
def _pattern(secret: bytes) -> "re2._Regexp":
    return _compiled(_spellings(secret))


def _compiled(expressions: Iterable[bytes]) -> "re2._Regexp":
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.max_mem = 64 << 20
    return re2.compile(b"|".join(expressions), options)


def _spellings(secret: bytes) -> Iterator[bytes]:
    """Yields expressions for the spellings of a secret, the plain one first."""
    yield b"(?i:%s)" % b"".join(map(_escaped, secret))
    yield b"(?i:%s)" % secret.hex().encode()
    for code in _inner_codes(secret, b32encode, 5, 5):
        yield b"(?i:%s)" % code
    for encode in (b64encode, urlsafe_b64encode):
        for code in _inner_codes(secret, encode, 3, 6):
            yield b"".join(map(_base64_character, code))


def _inner_codes(secret: bytes, encode: Callable[[bytes], bytes], group: int, bits: int) -> Iterator[bytes]:
    """Yields the characters that a secret always has in a code (RFC 4648), for each offset in a longer text.

    `group` is the number of bytes that are encoded together, `bits` the number of bits per character.
    """
    for offset in range(group):
        padded = bytes(offset) + secret
        yield encode(padded)[-(-offset * 8 // bits) : len(padded) * 8 // bits]


def _escaped(byte: int) -> bytes:
    """Returns an expression for a byte as itself and as JSON, URLs and HTML escape it, even repeatedly."""
    itself = re2.escape(bytes((byte,)))
    expressions = rb"\\*%s|\\+(?:u00|x)(?i:%02x)|%%(?:25)*(?i:%02x)|&#0*%d;|&#[xX]0*(?i:%x);"
    return b"(?:" + expressions % (itself, byte, byte, byte, byte) + b")"


def _base64_character(byte: int) -> bytes:
    return bytes((byte,)) if chr(byte).isalnum() else _escaped(byte)
