"""Verifies the log and proves what is in it, for commands that run next to the gateway, which may append meanwhile."""

from typing import Any

from gateway.errors import BadRequest, NotFound
from gateway.receipt_log.log_walk import LogWalk, Progress, walk_log
from gateway.receipt_log.proofs import (
    checkpoint_at,
    latest_checkpoint,
    prove_consistency,
    prove_inclusion,
    verify_by_proof,
)
from gateway.receipt_log.record_checks import RecordChecks
from gateway.receipts.checkpoint import Checkpoint
from gateway.receipts.drafts import is_request_id
from gateway.receipts.offline import CONSISTENCY, PROOF
from gateway.receipts.records import Receipt
from gateway.receipts.signing import Signer, Verifier
from gateway.receipts.verify import Verification
from gateway.store import ReadOnlyStore, Repositories
from gateway.store.rows import StoredReceipt


def audit(store: ReadOnlyStore, verifier: Verifier, remembered: Checkpoint | None, progress: Progress) -> Verification:
    """Recomputes every record, its signature, the chain and the signed head, and checks that the log extends the
    `remembered` checkpoint. Raises Unavailable.
    """
    walk, records, start = LogWalk(verifier, remembered), RecordChecks("sequence"), None
    for rows in walk_log(store, walk, progress):
        if walk.start != start:
            records, start = RecordChecks("sequence"), walk.start
        for row in rows:
            records.feed(row, row.sequence, walk.keys)
    broken_at = records.finish()
    chain, *others = walk.checks
    if not chain.ok:
        broken_at = min(walk.chain.size + 1, broken_at or walk.chain.size + 1)
    checks = (chain, *records.checks("hash", "signature", "outcome_receipt"), *others)
    first, policies = walk.start.size + 1, frozenset(records.policies)
    return Verification(checks, walk.chain.state, broken_at=broken_at, first=first, policies=policies)


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
    for _ in walk_log(store, walk, progress):
        pass
    return walk.verification(filed)


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


def prove(store: ReadOnlyStore, signer: Signer, request_id: str, size: int | None) -> dict[str, Any]:
    """Returns a receipt with the proof that it is among the first `size` records, or in the log as it is.

    Raises NotFound (`receipt_not_found`), BadRequest for another size, Unavailable (`receipt_log_broken`).
    """
    filed = find(store, request_id)

    def read(stored: Repositories) -> dict[str, Any]:
        if size is not None and filed.record.sequence > size:
            raise BadRequest(f"The receipt is not among the first {size} records.", param="size")
        return prove_inclusion(stored.receipts, filed.record, _checkpoint(stored, signer, size))

    receipt = Receipt.from_stored(filed).as_dict()
    return {**PROOF, "public_key": signer.public_bytes.hex(), "receipt": receipt, **store.read(read)}


def prove_extension(store: ReadOnlyStore, signer: Signer, old: int, size: int | None) -> dict[str, Any]:
    """Returns the proof that the log of `size` records, or as it is, extends that of `old` records.

    Raises BadRequest for sizes that it never had, Unavailable (`receipt_log_broken`).
    """

    def read(stored: Repositories) -> dict[str, Any]:
        new = _checkpoint(stored, signer, size)
        if old > new.size:
            raise BadRequest(f"A log of {new.size} records does not extend one of {old}.", param="old")
        return prove_consistency(stored.receipts, checkpoint_at(stored.receipts, old, signer), new)

    return {**CONSISTENCY, "public_key": signer.public_bytes.hex(), **store.read(read)}


def _checkpoint(stored: Repositories, signer: Signer, size: int | None) -> Checkpoint:
    return latest_checkpoint(stored.receipts, signer) if size is None else checkpoint_at(stored.receipts, size, signer)
