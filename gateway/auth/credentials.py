"""Finds gateway keys in requests, and removes an upstream's credentials from what it answers.

Both look through the spellings that a value can take on its way: quoted, percent-encoded, escaped as in JSON or HTML,
in base64 or hexadecimal, in full-width or with invisible characters.
"""

from base64 import b64decode, b64encode, urlsafe_b64encode
from binascii import Error
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Self

import re2
from pydantic import SecretStr

from gateway.detection.unicode_folding import FoldingTable
from gateway.errors import BadRequest
from gateway.http.types import Field

CREDENTIAL_HEADERS = frozenset(
    {
        b"authorization",
        b"proxy-authorization",
        b"x-svc-key",
        b"x-api-key",
        b"api-key",
        b"x-goog-api-key",
        b"x-amz-security-token",
        b"ocp-apim-subscription-key",
        b"cookie",
        b"set-cookie",
    }
)
# An HTTP/2 client may split its cookies, and a server sets each in a field of its own (RFC 9113 section 8.2.3).
_MAY_REPEAT = frozenset({b"cookie", b"set-cookie"})
# What clients of model providers authenticate with.
PROVIDER_CREDENTIALS = frozenset({b"authorization", b"x-api-key", b"api-key", b"x-goog-api-key"})
SCRUBBED = b"[credential]"
KEY_PREFIX = b"svck_"

_SHORTEST_SECRET = 12
_SHORTEST_PART = 16
_FOLDS = FoldingTable()


class KeySearch:
    """Tells whether some bytes hold a gateway key. `secrets` are those keys that do not carry the gateway's prefix."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        own = (way for secret in secrets if secret for way in _own_ways(secret))
        self._pattern = _compiled((*_ways(KEY_PREFIX), *own))

    @classmethod
    def of(cls, secret: SecretStr | None) -> Self:
        """One that knows the key of the settings, if there is one."""
        return cls([secret.get_secret_value()] if secret else ())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def in_bytes(self, data: bytes) -> bool:
        """Whether a gateway key stands there in some spelling, revoked and invented ones included."""
        return self._pattern.search(data if data.isascii() else data + b"\n" + _shown(data)) is not None

    def in_fields(self, fields: Iterable[Field]) -> bool:
        """The same for names and values of header fields."""
        return self.in_bytes(b"\n".join(part for field in fields for part in field))


def refuse_repeated(fields: Iterable[Field]) -> None:
    """Raises BadRequest where a credential is sent twice: readers would disagree about which of them counts."""
    seen: set[bytes] = set()
    for name, _ in fields:
        lowered = name.lower()
        if lowered in CREDENTIAL_HEADERS and lowered not in _MAY_REPEAT:
            if lowered in seen:
                shown = lowered.decode("ascii")
                raise BadRequest(f"The header `{shown}` was sent more than once; send it once.", param=shown)
            seen.add(lowered)


def secrets_of(fields: Iterable[Field]) -> frozenset[bytes]:
    """The secrets among header fields, without the scheme before them; of a Basic one also what is encoded in it."""
    found: set[bytes] = set()
    for name, value in fields:
        if name.lower() not in CREDENTIAL_HEADERS:
            continue
        scheme, _, secret = value.strip().rpartition(b" ")
        found.add(secret)
        if scheme.strip().lower() == b"basic":
            with suppress(Error):
                pair = b64decode(secret)
                found |= {pair, pair.partition(b":")[2]}
    return frozenset(secret for secret in found if len(secret) >= _SHORTEST_SECRET)


def scrub_secrets(data: bytes, secrets: frozenset[bytes]) -> bytes:
    """The bytes with every spelling of the secrets replaced by `[credential]`. Upstreams quote keys they refuse."""
    for secret in secrets:
        data = _pattern(secret).sub(SCRUBBED, data)
    return data


def scrub_fields(fields: Iterable[Field], secrets: frozenset[bytes]) -> list[Field]:
    """The same for header fields; one that has a secret in its name is left out."""
    if not secrets:
        return list(fields)
    return [
        (name, scrub_secrets(value, secrets)) for name, value in fields if SCRUBBED not in scrub_secrets(name, secrets)
    ]


def _shown(data: bytes) -> bytes:
    """What a reader sees of the bytes: full-width characters are their ASCII equals, invisible ones are gone."""
    return data.decode("utf-8", "replace").translate(_FOLDS).encode()


def _own_ways(secret: str) -> Iterator[bytes]:
    """The spellings of an operator's own key. A short one may be part of a word that has nothing to do with it."""
    plain, *codes = _ways(secret.encode())
    short = len(secret) < _SHORTEST_PART
    yield rb"\b" + plain + rb"\b" if short else plain
    yield from () if short else codes


@lru_cache(maxsize=64)
def _pattern(secret: bytes) -> "re2._Regexp":
    return _compiled(_ways(secret))


def _compiled(ways: Iterable[bytes]) -> "re2._Regexp":
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.max_mem = 64 << 20
    return re2.compile(b"|".join(ways), options)


def _ways(secret: bytes) -> Iterator[bytes]:
    """Expressions for the spellings of a secret, the plain one first."""
    yield b"".join(map(_spelled, secret))
    yield b"(?i:%s)" % secret.hex().encode()
    for code in dict.fromkeys(_codes(secret)):
        yield b"".join(map(_sign, code))


def _codes(secret: bytes) -> Iterator[bytes]:
    """What stays the same of a secret in base64, wherever in a longer text it begins (RFC 4648 sections 4 and 5)."""
    for offset in range(3):
        padded = bytes(offset) + secret
        first, last = -(-offset * 4 // 3), len(padded) * 8 // 6
        for encode in (b64encode, urlsafe_b64encode):
            yield encode(padded)[first:last]


def _spelled(byte: int) -> bytes:
    """A byte as itself, and as JSON, URLs and HTML write it, any number of times over."""
    itself = re2.escape(bytes((byte,)))
    ways = rb"\\*%s|\\+(?:u00|x)(?i:%02x)|%%(?:25)*(?i:%02x)|&#0*%d;|&#[xX]0*(?i:%x);"
    return b"(?:" + ways % (itself, byte, byte, byte, byte) + b")"


def _sign(byte: int) -> bytes:
    return bytes((byte,)) if chr(byte).isalnum() else _spelled(byte)
