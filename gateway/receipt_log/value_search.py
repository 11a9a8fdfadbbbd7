"""Finds the receipts of the requests that had a value protected, by its digest. The digests are not part of the log."""

from typing import NamedTuple

from gateway.receipts.records import Receipt
from gateway.store import Receipts
from gateway.store.rows import MORE_VALUES


class SoughtValue(NamedTuple):
    """The digest of a value, and the mark of the key that it was made with."""

    digest: bytes
    mark: bytes


class FoundReceipts(NamedTuple):
    """A page of receipts, newest first, and how many there are in all.

    `complete` is false if the log has receipts with values whose digests are not there, or are of another key.
    """

    receipts: list[Receipt]
    total: int
    complete: bool


def find_receipts(receipts: Receipts, sought: SoughtValue, limit: int, offset: int) -> FoundReceipts:
    """Finds a page of receipts. Each 64 records of the log cost one lookup."""
    rows, total = receipts.with_value(sought.digest, limit, offset)
    complete = receipts.value_key() == sought.mark and not receipts.with_value(MORE_VALUES, 0, 0)[1]
    return FoundReceipts([Receipt.from_stored(row) for row in rows], total, complete)


def use_value_key(receipts: Receipts, mark: bytes) -> None:
    """Notes with which key digests are made from now on. What is in the log already may not have any of it."""
    if receipts.value_key() == mark:
        return
    bounds = receipts.bounds()
    receipts.set_value_key(mark)
    if bounds is not None:
        receipts.add_values([(MORE_VALUES, bounds[1])])
