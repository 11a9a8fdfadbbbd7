"""Proofs about the log: that a record is in it, and that it extends what it was.

A proof that does not hold is never given: what is stored may have been changed. One receipt is verified by its proofs,
which takes milliseconds in a log of any size.
"""

from hashlib import sha256
from typing import Any

from gateway.errors import BadRequest, Unavailable
from gateway.receipt_log.consistency import read_history
from gateway.receipt_log.tree import IncompleteTree, StoredTree
from gateway.receipts.checkpoint import Checkpoint, sign_checkpoint, verify_checkpoint
from gateway.receipts.merkle import extends, included_root, leaf_hash
from gateway.receipts.records import decoded
from gateway.receipts.signing import Signer, Verifier
from gateway.receipts.verify import Check, LogState, Verification, check_receipt, signed_checkpoint
from gateway.store import Receipts, Repositories
from gateway.store.rows import StoredReceipt, StoredRecord
from gateway.usage import counted_records

# Up to here, recomputing the whole log takes no longer.
_SHORT = 256


def latest_checkpoint(receipts: Receipts, verifier: Verifier) -> Checkpoint:
    """Returns the checkpoint that the log ends with. Raises Unavailable (`receipt_log_broken`)."""
    head = receipts.head()
    checkpoint = signed_checkpoint(head, verifier) if head else None
    if checkpoint is None:
        raise _broken()
    return checkpoint


def checkpoint_at(receipts: Receipts, size: int, signer: Signer) -> Checkpoint:
    """Returns the checkpoint of a size, byte for byte as it was (Ed25519 is deterministic).

    Raises BadRequest for a size that the log never had, Unavailable (`receipt_log_broken`).
    """
    latest = latest_checkpoint(receipts, signer)
    if not 0 <= size <= latest.size:
        raise BadRequest(f"The log has {latest.size} records.", param="size")
    try:
        older = sign_checkpoint(size, StoredTree(receipts).root(size), signer)
    except IncompleteTree:
        if size < (pruned := read_history(receipts, signer).start.size):
            message = f"The first {pruned} records were pruned, so nothing can be proved for fewer."
            raise BadRequest(message, param="size") from None
        raise _broken() from None
    # Only what the signed log extends is signed again.
    prove_consistency(receipts, older, latest)
    return older


def prove_inclusion(
    receipts: Receipts, record: StoredRecord, checkpoint: Checkpoint, tree: StoredTree | None = None
) -> dict[str, Any]:
    """Returns the proof (RFC 6962) that a record is in the log of a checkpoint, in its wire form.

    Several proofs from one snapshot may share its `tree`. Raises Unavailable (`receipt_log_broken`).
    """
    index, body = record.sequence - 1, record.body or b""
    try:
        path = (tree or StoredTree(receipts)).inclusion(index, checkpoint.size)
    except (IncompleteTree, ValueError):
        raise _broken() from None
    is_itself = record.hash == sha256(body).hexdigest().encode()
    if not is_itself or included_root(leaf_hash(body), index, checkpoint.size, path) != checkpoint.root:
        raise _broken()
    inclusion = {"leaf_index": index, "tree_size": checkpoint.size, "hashes": [each.hex() for each in path]}
    return {"inclusion": inclusion, "checkpoint": checkpoint.note}


def prove_consistency(
    receipts: Receipts, old: Checkpoint, new: Checkpoint, tree: StoredTree | None = None
) -> dict[str, Any]:
    """Returns the proof (RFC 6962) that one checkpoint extends another, in its wire form.

    Raises Unavailable (`receipt_log_broken`).
    """
    try:
        path = (tree or StoredTree(receipts)).consistency(old.size, new.size)
    except (IncompleteTree, ValueError):
        raise _broken() from None
    if not extends(old.size, old.root, new.size, new.root, path):
        raise _broken()
    return {"old": old.note, "new": new.note, "consistency": {"hashes": [each.hex() for each in path]}}


def verify_by_proof(
    stored: Repositories, filed: StoredReceipt, verifier: Verifier, remembered: Checkpoint | None
) -> Verification | None:
    """Verifies a receipt, its outcome, and that both are in a log that extends the `remembered` checkpoint.

    Returns None for a log that is short, or in which anything does not hold: a walk over the log then says where.
    """
    receipts, tree = stored.receipts, StoredTree(stored.receipts)
    history = read_history(receipts, verifier)
    start = history.start.size
    try:
        checkpoint = latest_checkpoint(receipts, verifier)
        if (
            checkpoint.size - start <= _SHORT
            or history.fault is not None
            or remembered is None
            or verify_checkpoint(remembered.note, history) != remembered
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
    checks = (*check_receipt(filed, history), *(Check(name) for name in ("inclusion", "head", "checkpoint")))
    state = LogState(checkpoint.size, decoded(last), checkpoint.root)
    verification = Verification(checks, state, filed.request_id)
    return verification if verification.valid else None


def _broken() -> Unavailable:
    message = "Nothing can be proved, because the receipt log is broken. `verify` says where."
    return Unavailable(message, code="receipt_log_broken")
