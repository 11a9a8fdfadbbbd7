"""The stored form of corrections: keyed digests of allowed values, sealed denied values, and a MAC over all of them.

All keys are derived (HKDF-SHA256, RFC 5869) from a random one, which is stored wrapped under a key derived from the
installation key, so that the lists outlive a new installation key. Denied values are encrypted with AES-256-GCM, bound
to the other members of their row and padded to one size. Nonces are random, of 96 bits: at most some ten thousand rows
are ever sealed under a key, so two share one with a probability below 2^-68.

The MAC covers every member of every row and the number of changes. A row that was altered, added or removed from
outside makes all of them unusable; only the whole database could be put back to an earlier state.
"""

import hmac
import os
from collections.abc import Iterable
from hashlib import sha256

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from gateway.corrections.lists import AllowDigests
from gateway.store.rows import CorrectionRow

_FORMAT = b"privacy-gateway corrections v1"
_NONCE = 12
_LENGTH = 2
_PADDED = 1024
KEY_SIZE = 32


def wrap(key: bytes, installation_key: bytes) -> bytes:
    """Encrypts the key of the corrections under the installation key."""
    nonce = os.urandom(_NONCE)
    return nonce + _wrapping(installation_key).encrypt(nonce, key, _FORMAT)


def unwrap(wrapped: bytes, installation_key: bytes) -> bytes | None:
    """Decrypts the key of the corrections. Returns None if another installation key wrapped it, or it was altered."""
    try:
        return _wrapping(installation_key).decrypt(wrapped[:_NONCE], wrapped[_NONCE:], _FORMAT)
    except (InvalidTag, ValueError):
        return None


class Sealing:
    """Digests, seals and checks the rows under one key."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._cipher = AESGCM(_derived(key, b"denied"))
        self._mac_key = _derived(key, b"rows")

    def digests_of(self, owner: str) -> AllowDigests:
        """Returns what makes the digests of an owner's allowed values."""
        return AllowDigests(_derived(self._key, b"allowed by " + owner.encode()))

    def seal(self, row: CorrectionRow, value: str) -> CorrectionRow:
        """Returns a row with its value."""
        nonce, content = os.urandom(_NONCE), value.encode()
        padded = (len(content).to_bytes(_LENGTH) + content).ljust(_PADDED, b"\0")
        return row._replace(content=nonce + self._cipher.encrypt(nonce, padded, _bound(row)))

    def open(self, row: CorrectionRow) -> str | None:
        """Returns the value of a row, None if it was altered."""
        try:
            padded = self._cipher.decrypt(row.content[:_NONCE], row.content[_NONCE:], _bound(row))
        except (InvalidTag, ValueError):
            return None
        return padded[_LENGTH : _LENGTH + int.from_bytes(padded[:_LENGTH])].decode()

    def mac(self, revision: int, rows: Iterable[CorrectionRow]) -> bytes:
        """Returns the MAC over all rows, in any order."""
        digest = hmac.new(self._mac_key, str(revision).encode(), "sha256")
        for row in sorted(rows):
            digest.update(sha256(_bound(row)).digest() + sha256(row.content).digest())
        return digest.digest()


def _bound(row: CorrectionRow) -> bytes:
    """Returns all members of a row but its content, each with its length."""
    members = [_FORMAT, *(str(member).encode("utf-8", "surrogatepass") for member in row[:-1])]
    return b"".join(len(member).to_bytes(4) + member for member in members)


def _wrapping(installation_key: bytes) -> AESGCM:
    return AESGCM(_derived(installation_key, b"wrapping"))


def _derived(key: bytes, purpose: bytes) -> bytes:
    return HKDF(SHA256(), KEY_SIZE, salt=_FORMAT, info=purpose).derive(key)
