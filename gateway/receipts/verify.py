"""Verifies single records, the chain from its genesis, and the signed checkpoint. Pure; never raises for any row.

Someone may have changed the rows, so every column is bytes or None.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

import orjson
import rfc8785

from gateway.receipts.checkpoint import Checkpoint, verify_checkpoint
from gateway.receipts.merkle import Frontier, leaf_hash
from gateway.receipts.records import GENESIS
from gateway.receipts.signing import Keys
from gateway.store.rows import NodeRow, StoredHead, StoredReceipt, StoredRecord


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check; `detail` describes the problem, if there is one, without values."""

    name: str
    detail: str | None = None

    @property
    def ok(self) -> bool:
        return self.detail is None

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "ok": self.ok, **({"detail": self.detail} if self.detail else {})}


class LogState(NamedTuple):
    """A log: the number of records, the hash of the last one, and the root of the Merkle tree over them."""

    size: int
    head: str
    root: bytes

    def as_dict(self) -> dict[str, Any]:
        return {"size": self.size, "head": self.head, "root": self.root.hex()}


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of verifying one receipt and the log, or the log alone: then without a `request_id`."""

    checks: tuple[Check, ...]
    log: LogState
    request_id: str | None = None
    broken_at: int | None = None
    """The sequence of the first record that was changed."""
    first: int = 1
    """The sequence of the first record, which is greater than 1 where those before it are left out."""
    policies: frozenset[str] = frozenset()
    """The hashes of the policies that the receipts name."""

    @property
    def valid(self) -> bool:
        return all(check.ok for check in self.checks)

    def as_dict(self) -> dict[str, Any]:
        """The wire form, which for a receipt is the body of `GET /v1/receipts/{request_id}/verify`."""
        rest = {"checks": [check.as_dict() for check in self.checks], "log": self.log.as_dict()}
        if self.request_id is not None:
            return {"request_id": self.request_id, "valid": self.valid, **rest}
        first = {"first": self.first} if self.first > 1 else {}
        return {"valid": self.valid, "broken_at": self.broken_at, **first, **rest}


class ChainWalk:
    """Follows the chain from its start up to the first break, and grows the Merkle tree over it."""

    def __init__(self, head: str = GENESIS, tree: Frontier | None = None) -> None:
        """`head` and `tree` are those of the records before the first, unless the log starts with its genesis."""
        self._tree = tree or Frontier()
        self.size = self._tree.size
        self.head = head
        self.broken: str | None = None
        self.completed: list[NodeRow] = []
        """The subtrees of stored levels that the last `feed` completed."""

    def feed(self, rows: Iterable[StoredRecord]) -> None:
        """Takes the next records, in ascending order."""
        self.completed.clear()
        for row in rows:
            if self.broken is None:
                self.broken = self._follow(row)

    @property
    def state(self) -> LogState:
        return LogState(self.size, self.head, self._tree.root())

    def check(self) -> Check:
        return Check("chain", self.broken)

    def _follow(self, row: StoredRecord) -> str | None:
        expected = self.size + 1
        if row.sequence != expected:
            return f"breaks at sequence {expected}: the record is missing"
        digest = sha256(row.body or b"").hexdigest()
        if row.hash != digest.encode():
            return f"breaks at sequence {expected}: the record is not what its hash says"
        body = parse(row.body)
        if body is None or not _is_number(body.get("sequence"), expected):
            return f"breaks at sequence {expected}: the record is of another place"
        if body.get("previous_hash") != self.head:
            return f"breaks at sequence {expected}: the record does not follow from the one before"
        if not _is_what_it_is_filed_as(row, body):
            return f"breaks at sequence {expected}: the record is filed as another"
        self.size, self.head = expected, digest
        self.completed += self._tree.push(leaf_hash(row.body or b""))
        return None


def check_record(row: StoredRecord, keys: Keys, *, prefix: str = "") -> list[Check]:
    """Checks hash and signature of a record, recomputed from the JSON that clients receive."""
    body = parse(row.body)
    digest = _recomputed(body)
    verifier = keys.find(body.get("key_id"), row.sequence) if body is not None else None
    hash_ok = digest is not None and digest.hex().encode() == row.hash == sha256(row.body or b"").hexdigest().encode()
    checks = [Check(prefix + "hash", None if hash_ok else "the record is not what its hash says")]
    detail = None
    if verifier is None:
        detail = "signed with another key"
    elif digest is None or not verifier.verify(_from_hex(row.signature), digest):
        detail = "the signature is not of this record"
    return [*checks, Check(prefix + "signature", detail)]


def check_receipt(stored: StoredReceipt, keys: Keys) -> list[Check]:
    """Checks the receipt's record, the columns it is stored under, and its outcome."""
    checks = [*check_record(stored.record, keys), check_filing(stored.record)]
    if stored.outcome is not None:
        checks += check_outcome(stored.record, stored.outcome, keys)
    return checks


def check_outcome(receipt: StoredRecord, outcome: StoredRecord, keys: Keys) -> list[Check]:
    """Checks the outcome's record and that it belongs to this receipt."""
    return [*check_record(outcome, keys, prefix="outcome_"), check_belonging(receipt, outcome)]


def check_belonging(receipt: StoredRecord | None, outcome: StoredRecord) -> Check:
    """Checks that an outcome belongs to this receipt."""
    named = str((parse(outcome.body) or {}).get("receipt_hash")).encode(errors="replace")
    ok = receipt is not None and receipt.hash is not None and named == receipt.hash
    return Check("outcome_receipt", None if ok else "the outcome is of another receipt")


def check_filing(row: StoredRecord) -> Check:
    """Checks that the columns of a record match its body."""
    body = parse(row.body)
    ok = body is not None and _is_number(body.get("sequence"), row.sequence) and _is_what_it_is_filed_as(row, body)
    return Check("filing", None if ok else "the record is filed as another")


def check_head(walk: ChainWalk, row: StoredHead | None, keys: Keys) -> Check:
    """Checks that the log ends where the signed checkpoint says, with its root."""
    detail = None
    if row is None:
        detail = "the signed head is missing"
    elif (signed := signed_checkpoint(row, keys)) is None:
        detail = "the checkpoint is not signed with this key"
    elif walk.broken is not None:
        detail = "the chain breaks before its end"
    elif (walk.size, walk.head.encode()) != (row.size, row.hash):
        detail = f"the chain ends at sequence {walk.size}, the signed head at {row.size}"
    elif walk.state.root != signed.root:
        detail = "the Merkle tree over the records does not have the signed root"
    return Check("head", detail)


def signed_checkpoint(row: StoredHead, keys: Keys) -> Checkpoint | None:
    """Returns the checkpoint of a head, or None unless a key signed it and it is of the same size."""
    try:
        signed = verify_checkpoint((row.checkpoint or b"").decode(), keys)
    except UnicodeDecodeError:
        return None
    return signed if signed is not None and signed.size == row.size else None


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


def _is_number(value: object, wanted: int) -> bool:
    # Python's equality has 1 == True and 1 == 1.0.
    return type(value) is int and value == wanted


def _is_what_it_is_filed_as(row: StoredRecord, body: Mapping[str, Any]) -> bool:
    kind = body.get("event", "outcome" if "receipt_hash" in body else "receipt")
    request_id = body.get("request_id")
    return (
        str(kind).encode(errors="replace") == row.kind
        and isinstance(request_id, str)
        and request_id.encode(errors="replace") == row.request_id
    )


def _from_hex(text: bytes | None) -> bytes:
    """Decodes lower-case hex. Returns no bytes for anything else."""
    try:
        content = bytes.fromhex((text or b"").decode("ascii"))
    except ValueError:
        return b""
    return content if content.hex().encode() == text else b""
