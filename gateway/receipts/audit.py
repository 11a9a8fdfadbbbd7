"""The whole log, read from the database itself: every record verified, or every record written out.

For a look from outside the running gateway. It may append meanwhile: each chunk is a snapshot of its own, and the head
is read together with the last one, so that the two agree.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from gateway.errors import NotFound
from gateway.receipts.checkpoint import Head
from gateway.receipts.consistency import check_checkpoint
from gateway.receipts.drafts import is_request_id
from gateway.receipts.records import Record, decoded
from gateway.receipts.signing import Signer
from gateway.receipts.verify import (
    ChainWalk,
    Check,
    Verification,
    check_belonging,
    check_filing,
    check_head,
    check_outcome,
    check_record,
    parse,
)
from gateway.store import ReadOnlyStore, Repositories
from gateway.store.rows import StoredHead, StoredReceipt, StoredRecord

FORMAT = "privacy-gateway/receipts-export"
FORMAT_VERSION = 1

_CHUNK = 1000

type Progress = Callable[[int], None]
"""Is told how many records were read since it was told last."""


@dataclass(frozen=True, slots=True)
class Audit:
    """What came of verifying the whole log. `broken_at` is the sequence of the first record that is not as written."""

    checks: tuple[Check, ...]
    size: int
    head: str
    broken_at: int | None
    policies: frozenset[str]
    """The hashes of policies that the receipts name."""

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


def audit(look: ReadOnlyStore, signer: Signer, remembered: Head | None, progress: Progress) -> Audit:
    """Recomputes every record, its signature, its place in the chain, and the signed head; and compares the log with
    the checkpoint that was `remembered` before. Raises Unavailable.
    """
    walk = ChainWalk()
    policies: set[str] = set()
    faults: dict[str, tuple[int, str]] = {}
    reading = _Reading(look, progress)
    for rows in reading:
        walk.feed(rows)
        for row in rows:
            for check in _checks(look, row, signer):
                if not check.ok:
                    faults.setdefault(check.name, (row.sequence, f"sequence {row.sequence}: {check.detail}"))
            policy = (parse(row.body) or {}).get("policy")
            if isinstance(policy, dict):
                policies.add(str(policy.get("hash")))
    checks = [walk.check()]
    for name in ("hash", "signature", "outcome_receipt"):
        fault = faults.get(name)
        checks.append(Check(name, fault is None, fault[1] if fault else None))
    checks.append(check_head(walk, reading.head, signer))
    checks.append(look.read(lambda stored: check_checkpoint(stored.receipts, remembered, signer)))
    broken = [sequence for sequence, _ in faults.values()] + ([walk.size + 1] if walk.broken else [])
    return Audit(tuple(checks), walk.size, walk.head, min(broken, default=None), frozenset(policies))


def verify_receipt(
    look: ReadOnlyStore, signer: Signer, remembered: Head | None, request_id: str, progress: Progress
) -> Verification:
    """One receipt and the chain that it stands in. Raises NotFound (`receipt_not_found`), Unavailable."""
    filed = find(look, request_id)
    checks = [*check_record(filed.record, signer), check_filing(filed.record)]
    if filed.outcome is not None:
        checks += check_outcome(filed.record, filed.outcome, signer)
    walk = ChainWalk()
    reading = _Reading(look, progress)
    for rows in reading:
        walk.feed(rows)
    checks += [walk.check(), check_head(walk, reading.head, signer)]
    checks.append(look.read(lambda stored: check_checkpoint(stored.receipts, remembered, signer)))
    return Verification(request_id, tuple(checks), walk.size, walk.head)


def find(look: ReadOnlyStore, request_id: str) -> StoredReceipt:
    """Whoever made the request. Raises NotFound (`receipt_not_found`)."""
    filed = None
    if is_request_id(request_id):
        filed = look.read(lambda stored: stored.receipts.find(request_id, None))
    if filed is None:
        message = "There is no such receipt. `receipts list` shows those there are."
        raise NotFound(message, code="receipt_not_found", param="request_id")
    return filed


def size_of(look: ReadOnlyStore) -> int:
    """How many records there are, receipts and outcomes together."""
    return look.read(lambda stored: stored.receipts.count())


def export(look: ReadOnlyStore, signer: Signer, progress: Progress) -> Iterator[dict[str, Any]]:
    """The log as JSON objects: a header with the public key, every record in the order of the chain, the signed head.

    docs/receipts.md describes the format, and how to verify it with nothing of this gateway.
    """
    yield {
        "type": "header",
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "key_id": signer.key_id,
        "public_key": signer.public_bytes.hex(),
    }
    reading = _Reading(look, progress)
    for rows in reading:
        for row in rows:
            yield {"type": decoded(row.kind), "record": Record.from_stored(row).as_dict()}
    if (head := reading.head) is not None:
        yield {"type": "head", "size": head.size, "hash": decoded(head.hash), "checkpoint": decoded(head.checkpoint)}


class _Reading:
    """Every record in ascending order, in chunks; afterwards `head` is the head that belongs to the last of them."""

    def __init__(self, look: ReadOnlyStore, progress: Progress) -> None:
        self._look = look
        self._progress = progress
        self.head: StoredHead | None = None

    def __iter__(self) -> Iterator[list[StoredRecord]]:
        after: int | None = None

        def step(stored: Repositories) -> tuple[list[StoredRecord], StoredHead | None]:
            return stored.receipts.after(after, _CHUNK), stored.receipts.head()

        while True:
            rows, self.head = self._look.read(step)
            yield rows
            self._progress(len(rows))
            if len(rows) < _CHUNK:
                return
            after = rows[-1].sequence


def _checks(look: ReadOnlyStore, row: StoredRecord, signer: Signer) -> Iterator[Check]:
    yield from check_record(row, signer)
    if row.kind == b"outcome":
        filed = look.read(lambda stored: stored.receipts.find(decoded(row.request_id), None))
        yield check_belonging(filed.record if filed else None, row)
