"""The signed checkpoint of the log (C2SP tlog-checkpoint), a signed note (C2SP signed-note).

    privacy-gateway/receipt-log
    <number of records>
    <root of the Merkle tree over them, base64>

    — privacy-gateway/receipt-log <base64 of key hash and signature>

It is stored with the records and updated in the same transaction: without it, removing the newest records would leave a
shorter log that is valid.
"""

import re
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from hashlib import sha256

from gateway.receipts.merkle import EMPTY_ROOT
from gateway.receipts.signing import Keys, Signer, Verifier

ORIGIN = "privacy-gateway/receipt-log"
_ED25519 = b"\x01"
# Four bytes of key hash, then the signature.
_KEY_HASH, _SIGNATURE = 4, 64
# Up to 16 digits: 2^53 is the largest number that JSON readers agree on.
_NOTE = re.compile(
    rf"({ORIGIN}\n(0|[1-9][0-9]{{0,15}})\n([A-Za-z0-9+/]{{43}}=)\n)\n— {ORIGIN} ([A-Za-z0-9+/]+={{0,2}})\n"
)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A size of the log, and the root of the tree over its first `size` records. `note` is the signed form."""

    size: int = 0
    root: bytes = EMPTY_ROOT
    note: str = field(default="", compare=False)

    @property
    def text(self) -> str:
        """The signed text."""
        return f"{ORIGIN}\n{self.size}\n{b64encode(self.root).decode()}\n"


def sign_checkpoint(size: int, root: bytes, signer: Signer) -> Checkpoint:
    text = Checkpoint(size, root).text
    signature = b64encode(_key_hash(signer) + signer.sign(text.encode())).decode()
    return Checkpoint(size, root, f"{text}\n— {ORIGIN} {signature}\n")


def parse_checkpoint(note: str) -> Checkpoint | None:
    """Parses a note without verifying its signature. Returns None for anything else."""
    match = _NOTE.fullmatch(note)
    if match is None:
        return None
    root = b64decode(match[3])
    checkpoint = Checkpoint(int(match[2]), root, note)
    # Decoders ignore the last bits of base64; only one spelling of a note is valid.
    return checkpoint if checkpoint.text == match[1] else None


def verify_checkpoint(note: str, keys: Keys) -> Checkpoint | None:
    """Returns the checkpoint of a note that one of the keys signed. Returns None for anything else."""
    checkpoint = parse_checkpoint(note)
    signature = _signature(note)
    if checkpoint is None or signature is None:
        return None
    text = checkpoint.text.encode()
    is_signed = any(
        signature[:_KEY_HASH] == _key_hash(key) and key.verify(signature[_KEY_HASH:], text) for key in keys.verifiers
    )
    return checkpoint if is_signed else None


def is_signed_by_another(note: str, verifier: Verifier) -> bool:
    """Tells whether `note` names another key. A damaged note names none."""
    signature = _signature(note)
    return signature is not None and signature[:_KEY_HASH] != _key_hash(verifier)


def verifier_key(verifier: Verifier) -> str:
    """Returns the key in the form that verifiers of signed notes take: `<name>+<key hash>+<type and key, base64>`."""
    encoded = b64encode(_ED25519 + verifier.public_bytes).decode()
    return f"{ORIGIN}+{_key_hash(verifier).hex()}+{encoded}"


def _signature(note: str) -> bytes | None:
    match = _NOTE.fullmatch(note)
    if match is None:
        return None
    try:
        signature = b64decode(match[4], validate=True)
    except ValueError:
        return None
    is_canonical = b64encode(signature).decode() == match[4] and len(signature) == _KEY_HASH + _SIGNATURE
    return signature if is_canonical else None


def _key_hash(verifier: Verifier) -> bytes:
    return sha256(ORIGIN.encode() + b"\n" + _ED25519 + verifier.public_bytes).digest()[:_KEY_HASH]
