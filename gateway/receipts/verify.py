"""Verifies single records, the chain from its genesis, and the signed head. Pure; never raises for any row.

Someone may have changed the rows, so every column is bytes or None.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import orjson
import rfc8785

from gateway.receipts.checkpoint import GENESIS, Head, is_signed_head
from gateway.receipts.signing import Signer
from gateway.store.rows import StoredHead, StoredReceipt, StoredRecord


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check; `detail` describes the problem, without values."""

    name: str
    ok: bool
    detail: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "ok": self.ok, **({"detail": self.detail} if self.detail else {})}


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of verifying one receipt and the log."""

    request_id: str
    checks: tuple[Check, ...]
    size: int
    head: str

    @property
    def valid(self) -> bool:
        return all(check.ok for check in self.checks)

    def as_dict(self) -> dict[str, Any]:
        """The body of `GET /v1/receipts/{request_id}/verify`."""
        checks = [check.as_dict() for check in self.checks]
        log = {"size": self.size, "head": self.head}
        return {"request_id": self.request_id, "valid": self.valid, "checks": checks, "log": log}


class ChainWalk:
    """Follows the chain from its genesis up to the first break."""

    def __init__(self) -> None:
        self.size = 0
        self.head = GENESIS
        self.broken: str | None = None

    def feed(self, rows: Iterable[StoredRecord]) -> None:
        """Takes the next records, in ascending order."""
        for row in rows:
            if self.broken is None:
                self.broken = self._follow(row)

    def check(self) -> Check:
        return Check("chain", self.broken is None, self.broken)

    def _follow(self, row: StoredRecord) -> str | None:
        expected = self.size + 1
        if row.sequence != expected:
            return f"breaks at sequence {expected}: the record is missing"
        digest = sha256(row.body or b"").hexdigest()
        if row.hash != digest.encode():
            return f"breaks at sequence {expected}: the record is not what its hash says"
        body = parse(row.body)
        if body is None or body.get("sequence") != expected:
            return f"breaks at sequence {expected}: the record is of another place"
        if body.get("previous_hash") != self.head:
            return f"breaks at sequence {expected}: the record does not follow from the one before"
        if not _is_what_it_is_filed_as(row, body):
            return f"breaks at sequence {expected}: the record is filed as another"
        self.size, self.head = expected, digest
        return None


def check_record(row: StoredRecord, signer: Signer, *, prefix: str = "") -> list[Check]:
    """Checks hash and signature of a record, recomputed from the JSON that clients receive."""
    body = parse(row.body)
    digest = _recomputed(body)
    hash_ok = digest is not None and digest.hex().encode() == row.hash == sha256(row.body or b"").hexdigest().encode()
    checks = [Check(prefix + "hash", hash_ok, None if hash_ok else "the record is not what its hash says")]
    detail = None
    if body is None or body.get("key_id") != signer.key_id:
        detail = "signed with a key that is not this installation's"
    elif digest is None or not signer.verify(_from_hex(row.signature), digest):
        detail = "the signature is not of this record"
    return [*checks, Check(prefix + "signature", detail is None, detail)]


def check_receipt(stored: StoredReceipt, signer: Signer) -> list[Check]:
    """Checks the receipt's record, the columns it is stored under, and its outcome."""
    checks = [*check_record(stored.record, signer), check_filing(stored.record)]
    if stored.outcome is not None:
        checks += check_outcome(stored.record, stored.outcome, signer)
    return checks


def check_outcome(receipt: StoredRecord, outcome: StoredRecord, signer: Signer) -> list[Check]:
    """Checks the outcome's record and that it belongs to this receipt."""
    return [*check_record(outcome, signer, prefix="outcome_"), check_belonging(receipt, outcome)]


def check_belonging(receipt: StoredRecord | None, outcome: StoredRecord) -> Check:
    """Checks that an outcome belongs to this receipt."""
    named = str((parse(outcome.body) or {}).get("receipt_hash")).encode(errors="replace")
    ok = receipt is not None and receipt.hash is not None and named == receipt.hash
    return Check("outcome_receipt", ok, None if ok else "the outcome is of another receipt")


def check_filing(row: StoredRecord) -> Check:
    """Checks that the columns of a record match its body."""
    body = parse(row.body)
    ok = body is not None and body.get("sequence") == row.sequence and _is_what_it_is_filed_as(row, body)
    return Check("filing", ok, None if ok else "the record is filed as another")


def check_head(walk: ChainWalk, row: StoredHead | None, signer: Signer) -> Check:
    """Checks that the chain ends at the signed head."""
    detail = None
    if row is None:
        detail = "the signed head is missing"
    elif not is_signed(row, signer):
        detail = "the head does not carry this installation's signature"
    elif walk.broken is None and (walk.size, walk.head.encode()) != (row.size, row.hash):
        detail = f"the chain ends at sequence {walk.size}, the signed head at {row.size}"
    elif walk.broken is not None:
        detail = "the chain breaks before its end"
    return Check("head", detail is None, detail)


def parse(body: bytes | None) -> dict[str, Any] | None:
    """Parses a JSON object. Returns None for anything else."""
    try:
        value = orjson.loads(body or b"")
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def _recomputed(body: dict[str, Any] | None) -> bytes | None:
    if body is None:
        return None
    try:
        return sha256(rfc8785.dumps(body)).digest()
    except (rfc8785.CanonicalizationError, RecursionError):
        return None


def _is_what_it_is_filed_as(row: StoredRecord, body: Mapping[str, Any]) -> bool:
    kind = b"outcome" if "receipt_hash" in body else b"receipt"
    request_id = body.get("request_id")
    return row.kind == kind and isinstance(request_id, str) and request_id.encode(errors="replace") == row.request_id


def is_signed(row: StoredHead, signer: Signer) -> bool:
    """Whether the head carries the signer's signature."""
    try:
        head = Head(row.size, (row.hash or b"").decode("ascii"))
        return is_signed_head((row.checkpoint or b"").decode(), head, signer)
    except ValueError:
        return False


def _from_hex(text: bytes | None) -> bytes:
    """Decodes lower-case hex. Returns no bytes for anything else."""
    try:
        content = bytes.fromhex((text or b"").decode("ascii"))
    except ValueError:
        return b""
    return content if content.hex().encode() == text else b""
