"""Verifies, proves or exports the log, for commands that run next to the gateway. The gateway may append meanwhile."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from gateway.errors import BadRequest, NotFound, Unavailable
from gateway.receipt_log.log_walk import LogWalk
from gateway.receipt_log.proofs import (
    Consistency,
    Inclusion,
    checkpoint_at,
    latest_checkpoint,
    prove_consistency,
    prove_inclusion,
)
from gateway.receipt_log.receipt_proof import verify_by_proof
from gateway.receipts.checkpoint import Checkpoint
from gateway.receipts.drafts import is_request_id
from gateway.receipts.export_walk import EXPORT
from gateway.receipts.offline import CONSISTENCY, PROOF
from gateway.receipts.records import Receipt, Record, decoded
from gateway.receipts.signing import Keys, Signer, Verifier
from gateway.receipts.verify import Audit, Check, Verification, check_belonging, check_receipt, check_record, parse
from gateway.store import ReadOnlyStore, Repositories
from gateway.store.rows import StoredReceipt, StoredRecord

PRUNED_MEANWHILE = "The log was pruned meanwhile. Export it again."

type Progress = Callable[[int], None]
"""Called after each chunk with the number of records in it."""


def audit(store: ReadOnlyStore, verifier: Verifier, remembered: Checkpoint | None, progress: Progress) -> Audit:
    """Recomputes every record, its signature, the chain and the signed head, and checks that the log extends the
    `remembered` checkpoint. Raises Unavailable.
    """
    walk = LogWalk(verifier, remembered)
    policies: set[str] = set()
    faults: dict[str, tuple[int, str]] = {}
    for rows in _chunks(store, walk, progress):
        for row in rows:
            for check in _checks(store, row, walk.keys):
                if not check.ok:
                    faults.setdefault(check.name, (row.sequence, f"sequence {row.sequence}: {check.detail}"))
            policy = (parse(row.body) or {}).get("policy")
            if isinstance(policy, dict):
                policies.add(str(policy.get("hash")))
    chain, *others = walk.checks
    records = [
        Check(name, name not in faults, faults.get(name, (0, None))[1])
        for name in ("hash", "signature", "outcome_receipt")
    ]
    broken = [sequence for sequence, _ in faults.values()] + ([] if chain.ok else [walk.chain.size + 1])
    first, broken_at = walk.start.size + 1, min(broken, default=None)
    return Audit((chain, *records, *others), walk.chain.state, broken_at, frozenset(policies), first)


def verify_receipt(
    store: ReadOnlyStore, verifier: Verifier, remembered: Checkpoint | None, request_id: str, progress: Progress
) -> Verification:
    """Verifies one receipt by its proof, or the whole chain where that is no longer or finds a fault.

    Raises NotFound (`receipt_not_found`), Unavailable.
    """
    filed = find(store, request_id)
    proved = store.read(lambda stored: verify_by_proof(stored, filed, verifier, remembered))
    if proved is not None:
        return proved
    walk = LogWalk(verifier, remembered)
    for _ in _chunks(store, walk, progress):
        pass
    return Verification(request_id, (*check_receipt(filed, walk.keys), *walk.checks), walk.chain.state)


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


def export(store: ReadOnlyStore, verifier: Verifier, progress: Progress) -> Iterator[dict[str, Any]]:
    """Yields the log as JSON objects: a header with the public key, every record in order, and the signed head.

    docs/receipt-format.md describes the format, and how to verify it without this gateway.
    """
    walk, start = LogWalk(verifier), None
    for rows in _chunks(store, walk, progress):
        if start is None:
            start = walk.start
            yield header_line(verifier)
            if start.size:
                yield start_line(start.size, start.hash, walk.pruned.subtrees)
        if walk.start != start:
            raise Unavailable(PRUNED_MEANWHILE)
        for row in rows:
            yield {"type": decoded(row.kind), "record": Record.from_stored(row).as_dict()}
    if (head := walk.head) is not None:
        yield {"type": "head", "size": head.size, "hash": decoded(head.hash), "checkpoint": decoded(head.checkpoint)}


def header_line(verifier: Verifier, **more: str) -> dict[str, Any]:
    """The first line of an export."""
    return {
        "type": "header",
        **EXPORT,
        **more,
        "key_id": verifier.key_id,
        "public_key": verifier.public_bytes.hex(),
    }


def start_line(size: int, hash: str, frontier: Iterable[bytes]) -> dict[str, Any]:
    """The second line of an export that lacks the first `size` records."""
    return {"type": "start", "size": size, "hash": hash, "frontier": [each.hex() for each in frontier]}


def prove(store: ReadOnlyStore, signer: Signer, request_id: str, size: int | None) -> dict[str, Any]:
    """Returns a receipt with the proof that it is among the first `size` records, or in the log as it is.

    Raises NotFound (`receipt_not_found`), BadRequest for another size, Unavailable (`receipt_log_broken`).
    """
    filed = find(store, request_id)

    def read(stored: Repositories) -> Inclusion:
        if size is not None and filed.record.sequence > size:
            raise BadRequest(f"The receipt is not among the first {size} records.", param="size")
        return prove_inclusion(stored.receipts, filed.record, _checkpoint(stored, signer, size))

    receipt = Receipt.from_stored(filed).as_dict()
    return {**PROOF, "public_key": signer.public_bytes.hex(), "receipt": receipt, **store.read(read).as_dict()}


def prove_extension(store: ReadOnlyStore, signer: Signer, old: int, size: int | None) -> dict[str, Any]:
    """Returns the proof that the log of `size` records, or as it is, extends that of `old` records.

    Raises BadRequest for sizes that it never had, Unavailable (`receipt_log_broken`).
    """

    def read(stored: Repositories) -> Consistency:
        new = _checkpoint(stored, signer, size)
        if old > new.size:
            raise BadRequest(f"A log of {new.size} records does not extend one of {old}.", param="old")
        return prove_consistency(stored.receipts, checkpoint_at(stored.receipts, old, signer), new)

    return {**CONSISTENCY, "public_key": signer.public_bytes.hex(), **store.read(read).as_dict()}


def _checkpoint(stored: Repositories, signer: Signer, size: int | None) -> Checkpoint:
    return latest_checkpoint(stored.receipts, signer) if size is None else checkpoint_at(stored.receipts, size, signer)


def _chunks(store: ReadOnlyStore, walk: LogWalk, progress: Progress) -> Iterator[list[StoredRecord]]:
    more = True
    while more:
        more = store.read(walk.step)
        yield walk.rows
        progress(len(walk.rows))


def _checks(store: ReadOnlyStore, row: StoredRecord, keys: Keys) -> Iterator[Check]:
    yield from check_record(row, keys)
    if row.kind == b"outcome":
        filed = store.read(lambda stored: stored.receipts.find(decoded(row.request_id), None))
        yield check_belonging(filed.record if filed else None, row)
