"""The signed head of the log, in the form of a signed note (C2SP signed-note).

    privacy-gateway/receipts
    <number of records>
    <hash of the last one, base64>

    — privacy-gateway/receipts <base64 of key hash and signature>

It is stored with the records and updated in the same transaction: without it, removing the newest records would leave a
shorter chain that is valid. The hash is the head of a chain, not the root of a Merkle tree.
"""

import re
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from hashlib import sha256

from gateway.receipts.signing import Signer

NAME = "privacy-gateway/receipts"
GENESIS = "0" * 64
_ED25519 = b"\x01"
# Four bytes of key hash, then the signature.
_SIGNATURE_SIZE = 4 + 64
_HASH = re.compile(r"[0-9a-f]{64}")
# Up to 16 digits: 2^53 is the largest number that JSON readers agree on.
_NOTE = re.compile(rf"{NAME}\n(0|[1-9][0-9]{{0,15}})\n([A-Za-z0-9+/]{{43}}=)\n\n")


@dataclass(frozen=True, slots=True)
class Head:
    """The head of the log: the number of records, and the hash of the last one in hex.

    `note` is its signed note where that is at hand; only `is_signed_head` tells whether the signature is right.
    """

    size: int = 0
    hash: str = GENESIS
    note: str = field(default="", compare=False)


def sign_head(head: Head, signer: Signer) -> str:
    """Returns the signed note for a head."""
    text = _text(head)
    signature = b64encode(_key_hash(signer) + signer.sign(text.encode())).decode()
    return f"{text}\n— {NAME} {signature}\n"


def is_signed_head(note: str, head: Head, signer: Signer) -> bool:
    """Tells whether `note` is the signer's note for exactly this head."""
    # Capital hex digits would decode to the same head but chain to another hash.
    if _HASH.fullmatch(head.hash) is None:
        return False
    beginning = f"{_text(head)}\n— {NAME} "
    if not (note.startswith(beginning) and note.endswith("\n")):
        return False
    written = note[len(beginning) : -1]
    try:
        signature = b64decode(written, validate=True)
    except ValueError:
        return False
    # Decoders ignore the last bits of base64; only one spelling of a note is valid.
    if b64encode(signature).decode() != written:
        return False
    return signature[:4] == _key_hash(signer) and signer.verify(signature[4:], _text(head).encode())


def parse_head(note: str) -> Head | None:
    """Parses the head of a note without checking its signature. Returns None for anything else."""
    match = _NOTE.match(note)
    if match is None:
        return None
    try:
        digest = b64decode(match[2], validate=True)
    except ValueError:
        return None
    return Head(int(match[1]), digest.hex(), note)


def is_signed_by_another(note: str, signer: Signer) -> bool:
    """Tells whether `note` names another key. A damaged note names none."""
    _, dash, written = note.rpartition(f"\n— {NAME} ")
    try:
        signature = b64decode(written.strip(), validate=True)
    except ValueError:
        return False
    return bool(dash) and len(signature) == _SIGNATURE_SIZE and signature[:4] != _key_hash(signer)


def _text(head: Head) -> str:
    return f"{NAME}\n{head.size}\n{b64encode(bytes.fromhex(head.hash)).decode()}\n"


def _key_hash(signer: Signer) -> bytes:
    return sha256(NAME.encode() + b"\n" + _ED25519 + signer.public_bytes).digest()[:4]
