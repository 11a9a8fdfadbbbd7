"""Verifies one receipt by its place in the Merkle tree, which takes milliseconds in a log of any size."""

from gateway.errors import Unavailable
from gateway.receipt_log.proofs import latest_checkpoint, prove_consistency, prove_inclusion
from gateway.receipt_log.tree import StoredTree
from gateway.receipts.checkpoint import Checkpoint, verify_checkpoint
from gateway.receipts.history import read_history
from gateway.receipts.records import decoded
from gateway.receipts.signing import Verifier
from gateway.receipts.verify import Check, LogState, Verification, check_receipt
from gateway.store import Repositories
from gateway.store.rows import StoredReceipt
from gateway.usage import counted_records

# Up to here, recomputing the whole log takes no longer.
_SHORT = 256


def verify_by_proof(
    stored: Repositories, filed: StoredReceipt, verifier: Verifier, remembered: Checkpoint | None
) -> Verification | None:
    """Verifies a receipt, its outcome, and that both are in a log that extends the `remembered` checkpoint.

    Returns None for a log that is short, or in which anything does not hold: a walk over the log then says where.
    """
    receipts, tree = stored.receipts, StoredTree(stored.receipts)
    history = read_history(receipts, verifier)
    keys, start = history.keys, history.start.size
    try:
        checkpoint = latest_checkpoint(receipts, verifier)
        if (
            checkpoint.size - start <= _SHORT
            or history.fault is not None
            or remembered is None
            or verify_checkpoint(remembered.note, keys) != remembered
        ):
            return None
        for record in (filed.record, filed.outcome):
            if record is not None:
                prove_inclusion(receipts, record, checkpoint, tree)
        if remembered != checkpoint:
            prove_consistency(receipts, remembered, checkpoint, tree)
    except Unavailable:
        return None
    head, last = receipts.head(), receipts.hash_at(checkpoint.size)
    if head is None or head.hash != last or receipts.bounds() != (start + 1, checkpoint.size):
        return None
    if counted_records(stored.usage) > checkpoint.size:
        return None
    checks = (*check_receipt(filed, keys), *(Check(name, ok=True) for name in ("inclusion", "head", "checkpoint")))
    state = LogState(checkpoint.size, decoded(last), checkpoint.root)
    verification = Verification(filed.request_id, checks, state)
    return verification if verification.valid else None
