"""Checks that the log extends the checkpoint that is remembered outside the database.

The queries are few and short, for starts and health checks. `log_walk` recomputes all records.
"""

from gateway.receipts.checkpoint import Head, is_signed_head
from gateway.receipts.checkpoint_file import FILE
from gateway.receipts.signing import Signer
from gateway.receipts.verify import Check, is_signed
from gateway.store.interfaces import Receipts


def has_records(receipts: Receipts) -> bool:
    """Whether anything was ever recorded. If the records were removed, the head still tells."""
    head = receipts.head()
    return (head is not None and head.size != 0) or receipts.bounds() is not None


def is_new(receipts: Receipts, remembered: Head | None) -> bool:
    """Whether nothing was ever recorded here, as far as database and checkpoint tell."""
    return not has_records(receipts) and (remembered is None or remembered.size == 0)


def find_fault(receipts: Receipts, remembered: Head | None, signer: Signer) -> str | None:
    """Says why nothing may be appended to this log, without values. None for a valid log."""
    if is_new(receipts, remembered):
        return None
    fault = _inconsistency(receipts, remembered, signer)
    if fault is not None:
        return fault
    head = receipts.head()
    if head is None:
        return "its head is gone"
    if not is_signed(head, signer):
        return "its head does not carry this installation's signature"
    if receipts.bounds() != ((1, head.size) if head.size else None):
        return "it has records before its first or after its last"
    return None


def check_checkpoint(receipts: Receipts, remembered: Head | None, signer: Signer) -> Check:
    """Checks that the log extends the remembered checkpoint."""
    fault = _inconsistency(receipts, remembered, signer)
    return Check("checkpoint", fault is None, fault)


def _inconsistency(receipts: Receipts, remembered: Head | None, signer: Signer) -> str | None:
    if remembered is None or remembered.size == 0:
        return None
    if not is_signed_head(remembered.note, remembered, signer):
        return f"{FILE} is damaged, or not of this installation's key"
    size, head = remembered.size, receipts.head()
    if head is None:
        return f"its head is gone, and {FILE} remembers {size} records"
    if head.size < 0:
        return "its head is damaged"
    if head.size < size:
        return f"its head is of {head.size} records, and {FILE} remembers {size}"
    if receipts.hash_at(size) != remembered.hash.encode():
        return f"the record at sequence {size} is not the one that {FILE} remembers"
    return None
