"""Checks that the log extends the checkpoint that is remembered outside the database.

The queries are few and short, for starts and health checks. `log_walk` recomputes all records.
"""

from hashlib import sha256

from gateway.receipt_log.checkpoint_file import FILE
from gateway.receipt_log.tree import IncompleteTree, StoredTree
from gateway.receipts.checkpoint import Checkpoint, verify_checkpoint
from gateway.receipts.history import History, follow_history
from gateway.receipts.signing import Verifier
from gateway.receipts.verify import Check, check_filing, signed_checkpoint
from gateway.store import Receipts

_MOST_ROTATIONS = 10_000
_LAST = 256
"""Number of the newest records that are compared with the columns of their rows."""


def read_history(receipts: Receipts, current: Verifier) -> History:
    """Reads the history of a log whose latest key is `current`."""
    rotations = receipts.of_kind("rotation", _MOST_ROTATIONS)[::-1]
    return follow_history(rotations, receipts.of_kind("pruning", 1), current)


def has_records(receipts: Receipts) -> bool:
    """Whether anything was ever recorded. The head shows it even if the records were removed."""
    head = receipts.head()
    return (head is not None and head.size != 0) or receipts.bounds() is not None


def is_new(receipts: Receipts, remembered: Checkpoint | None) -> bool:
    """Whether nothing was ever recorded here, as far as database and checkpoint tell."""
    return not has_records(receipts) and (remembered is None or remembered.size == 0)


def find_fault(receipts: Receipts, remembered: Checkpoint | None, verifier: Verifier, counted: int = 0) -> str | None:
    """Says why nothing may be appended to a log with `counted` records in the usage meters. None for a valid log."""
    history = read_history(receipts, verifier)
    fault = _inconsistency(receipts, remembered, history) or _shortage(receipts, counted) or history.fault
    if fault is not None or is_new(receipts, remembered):
        return fault
    head = receipts.head()
    if head is None:
        return "its head is gone"
    if signed_checkpoint(head, verifier) is None:
        return "its head does not carry this installation's signature"
    if receipts.bounds() != ((history.start.size + 1, head.size) if head.size else None):
        return "it has records before its first or after its last"
    if head.size and receipts.hash_at(head.size) != head.hash:
        return "its head is not its last record"
    for row in receipts.after(max(head.size - _LAST, history.start.size), _LAST):
        if not check_filing(row).ok or row.hash != sha256(row.body or b"").hexdigest().encode():
            return f"its record at sequence {row.sequence} is not stored as what it is"
    return None


def check_checkpoint(receipts: Receipts, remembered: Checkpoint | None, verifier: Verifier, counted: int) -> Check:
    """Checks that the log extends the remembered checkpoint, and has every record that the usage meters count."""
    history = read_history(receipts, verifier)
    fault = _inconsistency(receipts, remembered, history) or _shortage(receipts, counted) or history.fault
    if fault is None and remembered is None and receipts.head() is not None:
        fault = f"{FILE} is missing, so records may have been removed from the end; the next start writes it again"
    return Check("checkpoint", fault)


def _shortage(receipts: Receipts, counted: int) -> str | None:
    head, bounds = receipts.head(), receipts.bounds()
    size = head.size if head is not None else bounds[1] if bounds is not None else 0
    return f"the usage meters count {counted} records, and it has {size}" if counted > size else None


def _inconsistency(receipts: Receipts, remembered: Checkpoint | None, history: History) -> str | None:
    if remembered is None or remembered.size == 0:
        return None
    if verify_checkpoint(remembered.note, history) != remembered:
        return f"{FILE} is damaged, or not of this installation's key"
    size, head = remembered.size, receipts.head()
    if head is None:
        return f"its head is gone, and {FILE} remembers {size} records"
    if head.size < 0:
        return "its head is damaged"
    if head.size < size:
        return f"its head is of {head.size} records, and {FILE} remembers {size}"
    if size < history.start.size:
        # The record of the pruning, which the key signed, takes its place.
        return None
    try:
        extends = StoredTree(receipts).root(size) == remembered.root
    except IncompleteTree:
        extends = False
    return None if extends else f"its first {size} records are not those that {FILE} remembers"
