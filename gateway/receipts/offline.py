"""Verifies an export of the log, or a proof about it, with nothing but the public key.

docs/receipt-format.md describes the files. Nothing in them is trusted: whatever they hold, the answer is a list of
checks, and nothing is raised.
"""

import re
from base64 import b64decode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from gateway.errors import BadRequest
from gateway.http.strict_json import parse_object
from gateway.receipts.checkpoint import Checkpoint, verifier_key, verify_checkpoint
from gateway.receipts.merkle import extends, included_root, leaf_hash
from gateway.receipts.signing import Verifier
from gateway.receipts.verify import (
    Audit,
    ChainWalk,
    Check,
    LogState,
    Verification,
    check_head,
    check_outcome,
    check_record,
)
from gateway.store.rows import StoredHead, StoredRecord

EXPORT = {"format": "privacy-gateway/receipts-export", "version": 2}
PROOF = {"format": "privacy-gateway/receipt-proof", "version": 1}
CONSISTENCY = {"format": "privacy-gateway/consistency-proof", "version": 1}

_HEX = re.compile(r"[0-9a-f]{64}")
_NOTE_KEY = re.compile(r"[^+\s]+\+[0-9a-f]{8}\+([A-Za-z0-9+/]{44})")

type Json = Mapping[str, Any]


def parse_key(text: str) -> Verifier:
    """Reads a public key: 64 hex digits, or the form that verifiers of signed notes take. Raises ValueError."""
    if _HEX.fullmatch(text):
        return Verifier(Ed25519PublicKey.from_public_bytes(bytes.fromhex(text)))
    match = _NOTE_KEY.fullmatch(text)
    verifier = Verifier(Ed25519PublicKey.from_public_bytes(b64decode(match[1])[1:])) if match else None
    if verifier is None or verifier_key(verifier) != text:
        raise ValueError("not an Ed25519 public key")
    return verifier


class ExportWalk:
    """Verifies an export line by line, with the memory of a few bytes for each receipt."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier
        self._chain = ChainWalk()
        self._lines = 0
        self._faults: dict[str, str] = {}
        self._receipts: set[bytes] = set()
        self._seen: set[bytes] = set()
        self._head: StoredHead | None = None

    def feed(self, line: bytes) -> None:
        """Takes the next line."""
        self._lines += 1
        try:
            value = parse_object(line)
        except BadRequest as error:
            self._fault("format", f"line {self._lines}: {error.message}")
            return
        kind = value.get("type")
        if self._lines == 1:
            self._header(value)
        elif self._head is not None:
            self._fault("format", f"line {self._lines} is after the last")
        elif kind == "head":
            self._head = StoredHead(
                _integer(value.get("size")), _bytes(value.get("hash")), _bytes(value.get("checkpoint"))
            )
        else:
            self._record(str(kind), value.get("record"))

    def result(self) -> Audit:
        """Returns the checks, after the last line."""
        names = ("format", "hash", "signature", "outcome_receipt")
        records = [Check(name, name not in self._faults, self._faults.get(name)) for name in names]
        chain, head = self._chain.check(), check_head(self._chain, self._head, self._verifier)
        broken = None if chain.ok else self._chain.size + 1
        return Audit((*records, chain, head), self._chain.state, broken)

    def _header(self, value: Json) -> None:
        if value.get("type") != "header" or {name: value.get(name) for name in EXPORT} != EXPORT:
            self._fault("format", "the first line is not the header of an export in a known version")
        elif value.get("public_key") != self._verifier.public_bytes.hex():
            self._fault("format", "the header names another public key")

    def _record(self, kind: str, record: object) -> None:
        row = stored_record(kind, record)
        for check in check_record(row, self._verifier):
            if not check.ok:
                self._fault(check.name, f"line {self._lines}: {check.detail}")
        self._chain.feed([row])
        if (filing := _digest(row.kind, row.request_id)) in self._seen:
            self._fault("outcome_receipt", f"line {self._lines}: the request has such a record already")
        self._seen.add(filing)
        if kind == "receipt":
            self._receipts.add(_digest(row.request_id, row.hash))
        elif (
            not isinstance(record, dict)
            or _digest(row.request_id, _bytes(record.get("receipt_hash"))) not in self._receipts
        ):
            self._fault("outcome_receipt", f"line {self._lines}: the outcome is of no receipt before it")

    def _fault(self, name: str, detail: str) -> None:
        self._faults.setdefault(name, detail)


def verify_proof(proof: Json, verifier: Verifier) -> Verification:
    """Verifies a receipt and that it is in the log of the checkpoint that comes with it."""
    receipt = proof.get("receipt")
    receipt = receipt if isinstance(receipt, dict) else {}
    outcome = receipt.get("outcome")
    row = stored_record("receipt", {name: value for name, value in receipt.items() if name != "outcome"})
    checks = check_record(row, verifier)
    if outcome is not None:
        checks += check_outcome(row, stored_record("outcome", outcome), verifier)
    signed = _checkpoint(proof.get("checkpoint"), verifier)
    checks.append(Check("head", signed is not None, None if signed else "the checkpoint is not signed with this key"))
    detail = None if signed is not None and _is_included(row, proof.get("inclusion"), signed) else _NOT_INCLUDED
    checks.append(Check("inclusion", detail is None, detail))
    state = LogState(signed.size, "", signed.root) if signed else LogState(0, "", b"")
    return Verification(str(receipt.get("request_id")), tuple(checks), state)


def verify_consistency(proof: Json, verifier: Verifier) -> Audit:
    """Verifies that one checkpoint extends another."""
    old, new = (_checkpoint(proof.get(name), verifier) for name in ("old", "new"))
    path = _path(proof.get("consistency"))
    ok = old and new and path is not None and extends(old.size, old.root, new.size, new.root, path)
    head = None if old and new else "the checkpoints are not both signed with this key"
    detail = None if ok else "the proof does not lead from the older root to the newer one"
    checks = (Check("head", head is None, head), Check("consistency", detail is None, detail))
    return Audit(checks, LogState(new.size, "", new.root) if new else LogState(0, "", b""), None)


_NOT_INCLUDED = "the proof does not lead from the receipt to the root that the checkpoint signs"


def _is_included(row: StoredRecord, proof: object, signed: Checkpoint) -> bool:
    path = _path(proof)
    if path is None or not isinstance(proof, dict):
        return False
    index, size = _integer(proof.get("leaf_index")), _integer(proof.get("tree_size"))
    fits = (index, size) == (row.sequence - 1, signed.size)
    return fits and included_root(leaf_hash(row.body or b""), index, size, path) == signed.root


def _path(proof: object) -> list[bytes] | None:
    hashes = proof.get("hashes") if isinstance(proof, dict) else None
    if not isinstance(hashes, list) or not all(isinstance(each, str) and _HEX.fullmatch(each) for each in hashes):
        return None
    return [bytes.fromhex(each) for each in hashes]


def _checkpoint(note: object, verifier: Verifier) -> Checkpoint | None:
    return verify_checkpoint(note, verifier) if isinstance(note, str) else None


def stored_record(kind: str, record: object) -> StoredRecord:
    """The row that a served record was made from: its canonical form (RFC 8785), hash and signature."""
    record = record if isinstance(record, dict) else {}
    body = {name: value for name, value in record.items() if name not in {"hash", "signature"}}
    try:
        canonical = rfc8785.dumps(body)
    except (rfc8785.CanonicalizationError, RecursionError):
        canonical = b""
    return StoredRecord(
        _integer(record.get("sequence")),
        kind.encode(errors="replace"),
        _bytes(record.get("request_id")),
        canonical,
        _bytes(record.get("hash")),
        _bytes(record.get("signature")),
    )


def _integer(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def _bytes(value: object) -> bytes | None:
    return value.encode(errors="replace") if isinstance(value, str) else None


def _digest(*columns: bytes | None) -> bytes:
    """Stands for columns in a set, in less memory than they take."""
    return sha256(b"\x00".join(column or b"" for column in columns)).digest()[:16]
