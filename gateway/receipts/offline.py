"""Verifies a proof about the log with nothing but public keys.

docs/receipt-format.md describes the files. Nothing in them is trusted: whatever they hold, the answer is a list of
checks, and nothing is raised.
"""

import re
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

import rfc8785
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from gateway.receipts.checkpoint import Checkpoint, verifier_key, verify_checkpoint
from gateway.receipts.merkle import extends, included_root, leaf_hash
from gateway.receipts.signing import GivenKeys, Keys, Verifier
from gateway.receipts.verify import Check, LogState, Verification, check_outcome, check_record
from gateway.store.rows import LARGEST_NUMBER, StoredRecord

PROOF = {"format": "privacy-gateway/receipt-proof", "version": 1}
CONSISTENCY = {"format": "privacy-gateway/consistency-proof", "version": 1}

HEX = re.compile(r"[0-9a-f]{64}")
_NOTE_KEY = re.compile(r"[^+\s]+\+[0-9a-f]{8}\+([A-Za-z0-9+/]{44})")

type Json = Mapping[str, Any]


def parse_key(text: str) -> Verifier:
    """Reads a public key: 64 hex digits, PEM, or the form that verifiers of signed notes take. Raises ValueError."""
    if HEX.fullmatch(text):
        return Verifier(Ed25519PublicKey.from_public_bytes(bytes.fromhex(text)))
    if text.startswith("-----BEGIN PUBLIC KEY-----"):
        try:
            key = load_pem_public_key(text.encode())
        except UnsupportedAlgorithm:
            key = None
        if isinstance(key, Ed25519PublicKey):
            return Verifier(key)
    match = _NOTE_KEY.fullmatch(text)
    verifier = Verifier(Ed25519PublicKey.from_public_bytes(b64decode(match[1])[1:])) if match else None
    if verifier is None or verifier_key(verifier) != text:
        raise ValueError("not an Ed25519 public key")
    return verifier


def verify_proof(proof: Json, keys: GivenKeys) -> Verification:
    """Verifies a receipt and that it is in the log of the checkpoint that comes with it."""
    receipt = proof.get("receipt")
    receipt = receipt if isinstance(receipt, dict) else {}
    outcome = receipt.get("outcome")
    row = stored_record("receipt", {name: value for name, value in receipt.items() if name != "outcome"})
    misfit = find_misfit(proof, PROOF, {"public_key", "receipt", "checkpoint", "inclusion"}, keys)
    checks = [Check("format", misfit), *check_record(row, keys)]
    if outcome is not None:
        checks += check_outcome(row, stored_record("outcome", outcome), keys)
    signed = _checkpoint(proof.get("checkpoint"), keys)
    checks.append(Check("head", None if signed else "the checkpoint is not signed with this key"))
    is_included = signed is not None and _is_included(row, proof.get("inclusion"), signed)
    checks.append(Check("inclusion", None if is_included else _NOT_INCLUDED))
    state = LogState(signed.size, "", signed.root) if signed else LogState(0, "", b"")
    return Verification(tuple(checks), state, str(receipt.get("request_id")))


def verify_consistency(proof: Json, keys: GivenKeys) -> Verification:
    """Verifies that one checkpoint extends another."""
    misfit = find_misfit(proof, CONSISTENCY, {"public_key", "old", "new", "consistency"}, keys)
    old, new = (_checkpoint(proof.get(name), keys) for name in ("old", "new"))
    path = _path(proof.get("consistency"), {"hashes"})
    ok = old and new and path is not None and extends(old.size, old.root, new.size, new.root, path)
    head = None if old and new else "the checkpoints are not both signed with this key"
    detail = None if ok else "the proof does not lead from the older root to the newer one"
    checks = (Check("format", misfit), Check("head", head), Check("consistency", detail))
    return Verification(checks, LogState(new.size, "", new.root) if new else LogState(0, "", b""))


_NOT_INCLUDED = "the proof does not lead from the receipt to the root that the checkpoint signs"


def find_misfit(value: Json, format: Json, members: set[str], keys: GivenKeys) -> str | None:
    """Says why a file, or its first line, is not of a format that `members` belong to, or names an unknown key."""
    # Python's equality has 2 == 2.0 and 1 == True.
    if any(type(value.get(name)) is not type(wanted) or value[name] != wanted for name, wanted in format.items()):
        return "it is not of a known format and version"
    if value.keys() != format.keys() | members:
        return "it has other members than the format has"
    if not has_plain_numbers(value):
        return UNUSUAL_NUMBER
    if not any(verifier.public_bytes.hex() == value["public_key"] for verifier in keys.verifiers):
        return "it names another public key"
    return None


UNUSUAL_NUMBER = "a number is not an integer from 0 to 2^53 - 1"


def has_plain_numbers(value: object) -> bool:
    """Whether every number is an integer as the format has them. The canonical form of 1.0 would be that of 1."""
    if isinstance(value, dict):
        return all(map(has_plain_numbers, value.values()))
    if isinstance(value, list):
        return all(map(has_plain_numbers, value))
    return not isinstance(value, float) and (not isinstance(value, int) or 0 <= value <= LARGEST_NUMBER)


def _is_included(row: StoredRecord, proof: object, signed: Checkpoint) -> bool:
    path = _path(proof, {"leaf_index", "tree_size", "hashes"})
    if path is None or not isinstance(proof, dict):
        return False
    index, size = integer(proof.get("leaf_index")), integer(proof.get("tree_size"))
    fits = (index, size) == (row.sequence - 1, signed.size)
    return fits and included_root(leaf_hash(row.body or b""), index, size, path) == signed.root


def _path(proof: object, members: set[str]) -> list[bytes] | None:
    hashes = proof.get("hashes") if isinstance(proof, dict) and proof.keys() == members else None
    if not isinstance(hashes, list) or not all(isinstance(each, str) and HEX.fullmatch(each) for each in hashes):
        return None
    return [bytes.fromhex(each) for each in hashes]


def _checkpoint(note: object, keys: Keys) -> Checkpoint | None:
    return verify_checkpoint(note, keys) if isinstance(note, str) else None


def stored_record(kind: str, record: object) -> StoredRecord:
    """The row that a served record was made from: its canonical form (RFC 8785), hash and signature."""
    record = record if isinstance(record, dict) else {}
    body = {name: value for name, value in record.items() if name not in {"hash", "signature"}}
    try:
        canonical = rfc8785.dumps(body)
    except (rfc8785.CanonicalizationError, RecursionError):
        canonical = b""
    return StoredRecord(
        integer(record.get("sequence")),
        kind.encode(errors="replace"),
        text_bytes(record.get("request_id")),
        canonical,
        text_bytes(record.get("hash")),
        text_bytes(record.get("signature")),
    )


def integer(value: object) -> int:
    """A number of a file; -1 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def text_bytes(value: object) -> bytes | None:
    """A text of a file as a stored column; None for anything else."""
    return value.encode(errors="replace") if isinstance(value, str) else None
