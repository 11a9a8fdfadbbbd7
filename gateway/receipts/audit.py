"""Verifies or exports the whole log, for commands that run next to the gateway. The gateway may append meanwhile."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from gateway.errors import NotFound
from gateway.receipts.checkpoint import Head
from gateway.receipts.drafts import is_request_id
from gateway.receipts.log_walk import LogWalk
from gateway.receipts.records import Record, decoded
from gateway.receipts.signing import Signer
from gateway.receipts.verify import Check, Verification, check_belonging, check_receipt, check_record, parse
from gateway.store import ReadOnlyStore
from gateway.store.rows import StoredReceipt, StoredRecord

FORMAT = "privacy-gateway/receipts-export"
FORMAT_VERSION = 1

type Progress = Callable[[int], None]
"""Called after each chunk with the number of records in it."""


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of verifying the whole log. `broken_at` is the sequence of the first record that was changed."""

    checks: tuple[Check, ...]
    size: int
    head: str
    broken_at: int | None
    policies: frozenset[str]
    """The hashes of the policies that the receipts name."""

    @property
    def valid(self) -> bool:
        return all(check.ok for check in self.checks)

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "valid": self.valid,
            "broken_at": self.broken_at,
            "checks": [check.as_dict() for check in self.checks],
            "log": {"size": self.size, "head": self.head},
        }


def audit(store: ReadOnlyStore, signer: Signer, remembered: Head | None, progress: Progress) -> Audit:
    """Recomputes every record, its signature, the chain and the signed head, and checks that the log extends the
    `remembered` checkpoint. Raises Unavailable.
    """
    walk = LogWalk(signer, remembered)
    policies: set[str] = set()
    faults: dict[str, tuple[int, str]] = {}
    for rows in _chunks(store, walk, progress):
        for row in rows:
            for check in _checks(store, row, signer):
                if not check.ok:
                    faults.setdefault(check.name, (row.sequence, f"sequence {row.sequence}: {check.detail}"))
            policy = (parse(row.body) or {}).get("policy")
            if isinstance(policy, dict):
                policies.add(str(policy.get("hash")))
    chain, head, checkpoint = walk.checks
    records = [
        Check(name, name not in faults, faults.get(name, (0, None))[1])
        for name in ("hash", "signature", "outcome_receipt")
    ]
    broken = [sequence for sequence, _ in faults.values()] + ([] if chain.ok else [walk.chain.size + 1])
    checks = (chain, *records, head, checkpoint)
    return Audit(checks, walk.chain.size, walk.chain.head, min(broken, default=None), frozenset(policies))


def verify_receipt(
    store: ReadOnlyStore, signer: Signer, remembered: Head | None, request_id: str, progress: Progress
) -> Verification:
    """Verifies one receipt and the chain. Raises NotFound (`receipt_not_found`), Unavailable."""
    filed = find(store, request_id)
    walk = LogWalk(signer, remembered)
    for _ in _chunks(store, walk, progress):
        pass
    return Verification(request_id, (*check_receipt(filed, signer), *walk.checks), walk.chain.size, walk.chain.head)


def find(store: ReadOnlyStore, request_id: str) -> StoredReceipt:
    """Returns the receipt of a request, of any key. Raises NotFound (`receipt_not_found`)."""
    filed = None
    if is_request_id(request_id):
        filed = store.read(lambda stored: stored.receipts.find(request_id, None))
    if filed is None:
        message = "There is no such receipt. `receipts list` shows those there are."
        raise NotFound(message, code="receipt_not_found", param="request_id")
    return filed


def size_of(store: ReadOnlyStore) -> int:
    """Counts all records, receipts and outcomes together."""
    return store.read(lambda stored: stored.receipts.count())


def export(store: ReadOnlyStore, signer: Signer, progress: Progress) -> Iterator[dict[str, Any]]:
    """Yields the log as JSON objects: a header with the public key, every record in order, and the signed head.

    docs/receipts.md describes the format, and how to verify it without this gateway.
    """
    yield {
        "type": "header",
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "key_id": signer.key_id,
        "public_key": signer.public_bytes.hex(),
    }
    walk = LogWalk(signer)
    for rows in _chunks(store, walk, progress):
        for row in rows:
            yield {"type": decoded(row.kind), "record": Record.from_stored(row).as_dict()}
    if (head := walk.head) is not None:
        yield {"type": "head", "size": head.size, "hash": decoded(head.hash), "checkpoint": decoded(head.checkpoint)}


def _chunks(store: ReadOnlyStore, walk: LogWalk, progress: Progress) -> Iterator[list[StoredRecord]]:
    more = True
    while more:
        more = store.read(walk.step)
        yield walk.rows
        progress(len(walk.rows))


def _checks(store: ReadOnlyStore, row: StoredRecord, signer: Signer) -> Iterator[Check]:
    yield from check_record(row, signer)
    if row.kind == b"outcome":
        filed = store.read(lambda stored: stored.receipts.find(decoded(row.request_id), None))
        yield check_belonging(filed.record if filed else None, row)
