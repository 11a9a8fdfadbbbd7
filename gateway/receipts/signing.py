"""The installation's signing key: Ed25519 (RFC 8032)."""

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Self

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from gateway.config.settings import SettingsError

FILE = "signing.key"


class Signer:
    """Signs, and checks what this installation signed."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public_key: Ed25519PublicKey = key.public_key()
        self.public_bytes: bytes = self.public_key.public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.key_id: str = key_id(self.public_bytes)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.key_id}>"

    @classmethod
    def load(cls, data_dir: Path) -> Self:
        """The key in `data_dir`, where the first start makes one (PKCS #8 in PEM, 0600).

        Several processes may start at once; all of them get the same key. Raises SettingsError when the file is
        damaged. It is not replaced: with a new key, earlier receipts could not be verified any more.
        """
        path = data_dir / FILE
        if not path.exists():
            data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Written aside and linked into place, so that nobody ever reads half a key, and the first link wins.
            with NamedTemporaryFile(dir=data_dir, prefix=FILE) as draft, suppress(FileExistsError):
                pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
                draft.write(pem)
                draft.flush()
                os.fsync(draft.fileno())
                path.hardlink_to(draft.name)
        try:
            key = load_pem_private_key(path.read_bytes(), password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise SettingsError(f"{FILE} in data_dir is damaged: it must hold an Ed25519 key; restore it from a backup")
        return cls(key)

    def sign(self, message: bytes) -> bytes:
        """64 bytes."""
        return self._key.sign(message)

    def verify(self, signature: bytes, message: bytes) -> bool:
        """Whether this installation signed `message`."""
        try:
            self.public_key.verify(signature, message)
        except InvalidSignature:
            return False
        return True


def key_id(public_bytes: bytes) -> str:
    """`key_` and the first 16 hex digits of SHA-256 over the raw public key."""
    return "key_" + sha256(public_bytes).hexdigest()[:16]
