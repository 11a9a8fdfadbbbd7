"""Finds the exchanges whose outcome is not written: those that are under way, and those that a crash cut short."""

from gateway.receipts.drafts import EXCHANGES
from gateway.receipts.verify import parse
from gateway.store.interfaces import Receipts
from gateway.store.rows import OpenReceipt


def open_exchanges(receipts: Receipts, first: int, last: int) -> list[OpenReceipt]:
    """Returns the receipts of exchanges from sequence `first` to `last` that have no outcome, in ascending order."""
    found = receipts.without_outcome(first, last)
    return [row for row in found if (parse(row.body) or {}).get("operation") in EXCHANGES]
