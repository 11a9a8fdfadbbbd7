"""The installation's signing key: Ed25519 (RFC 8032)."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Protocol, Self

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)


class Keys(Protocol):
    """The public keys that a log is verified with: one, or several that followed each other."""

    @property
    def verifiers(self) -> "tuple[Verifier, ...]":
        """The keys that may have signed a checkpoint."""

    def find(self, key_id: object, sequence: int) -> "Verifier | None":
        """Returns the key with this id if it may have signed the record at `sequence`."""


class Verifier:
    """Verifies the signatures of a public key."""

    def __init__(self, public_key: Ed25519PublicKey) -> None:
        self.public_key = public_key
        self.public_bytes: bytes = public_key.public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.key_id: str = key_id(self.public_bytes)

    @property
    def pem(self) -> str:
        """The public key in PEM (SubjectPublicKeyInfo), as openssl reads it."""
        return self.public_key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.key_id}>"

    @property
    def verifiers(self) -> "tuple[Verifier, ...]":
        return (self,)

    def find(self, key_id: object, sequence: int) -> "Verifier | None":
        return self if key_id == self.key_id else None

    def verify(self, signature: bytes, message: bytes) -> bool:
        """Tells whether the key signed `message`."""
        try:
            self.public_key.verify(signature, message)
        except InvalidSignature:
            return False
        return True


class GivenKeys:
    """Public keys from outside, in no order."""

    def __init__(self, verifiers: Iterable[Verifier]) -> None:
        self._by_id = {verifier.key_id: verifier for verifier in verifiers}

    @property
    def verifiers(self) -> tuple[Verifier, ...]:
        return tuple(self._by_id.values())

    def find(self, key_id: object, sequence: int) -> Verifier | None:
        return self._by_id.get(key_id) if isinstance(key_id, str) else None


class Signer(Verifier):
    """Signs messages."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        super().__init__(key.public_key())
        self._key = key

    @classmethod
    def from_pem(cls, pem: bytes) -> Self | None:
        """Reads a private key. Returns None for anything but an Ed25519 key (PKCS #8 in PEM)."""
        try:
            key = load_pem_private_key(pem, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            return None
        return cls(key) if isinstance(key, Ed25519PrivateKey) else None

    def sign(self, message: bytes) -> bytes:
        """Returns the signature, 64 bytes."""
        return self._key.sign(message)


def new_key() -> bytes:
    """Returns a new private key in PEM."""
    return Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def key_id(public_bytes: bytes) -> str:
    """Returns `key_` and the first 16 hex digits of SHA-256 over the raw public key."""
    return "key_" + sha256(public_bytes).hexdigest()[:16]
