"""Whether the log extends the checkpoint that is remembered outside the database.

Few and short queries, for a start and a health check; `verify` recomputes all records.
"""

import sqlite_utils

from gateway.receipts.checkpoint import is_signed_head
from gateway.receipts.checkpoint_file import FILE, Checkpoint
from gateway.receipts.queries import read_hash, read_head, read_range
from gateway.receipts.signing import Signer
from gateway.receipts.verify import Check, is_signed


def is_new(db: sqlite_utils.Database, remembered: Checkpoint | None) -> bool:
    """Whether nothing was ever recorded here, as far as database and checkpoint tell."""
    head = read_head(db)
    empty = (head is None or head.size == 0) and read_range(db) is None
    return empty and (remembered is None or remembered.size == 0)


def find_fault(db: sqlite_utils.Database, remembered: Checkpoint | None, signer: Signer) -> str | None:
    """Why nothing may be appended to this log, in words without values; None for one that is good."""
    if is_new(db, remembered):
        return None
    fault = _inconsistency(db, remembered, signer)
    if fault is not None:
        return fault
    head = read_head(db)
    if head is None:
        return "its head is gone"
    if not is_signed(head, signer):
        return "its head does not carry this installation's signature"
    if read_range(db) != ((1, head.size) if head.size else None):
        return "it has records before its first or after its last"
    return None


def check_checkpoint(db: sqlite_utils.Database, remembered: Checkpoint | None, signer: Signer) -> Check:
    """Whether the log holds what the remembered checkpoint says that it held."""
    fault = _inconsistency(db, remembered, signer)
    return Check("checkpoint", fault is None, fault)


def _inconsistency(db: sqlite_utils.Database, remembered: Checkpoint | None, signer: Signer) -> str | None:
    if remembered is None or remembered.size == 0:
        return None
    if remembered.head is None or not is_signed_head(remembered.note, remembered.head, signer):
        return f"{FILE} is damaged, or not of this installation's key"
    size, head = remembered.size, read_head(db)
    if head is None:
        return f"its head is gone, and {FILE} remembers {size} records"
    if head.size < 0:
        return "its head is damaged"
    if head.size < size:
        return f"its head is of {head.size} records, and {FILE} remembers {size}"
    if read_hash(db, size) != remembered.head.hash.encode():
        return f"the record at sequence {size} is not the one that {FILE} remembers"
    return None
