"""The embedded store: one SQLite file, one writer with group commit, a few readers. See docs/receipts.md."""

from gateway.store.connection import StoreError
from gateway.store.read_only import ReadOnlyStore
from gateway.store.store import Store

__all__ = ["ReadOnlyStore", "Store", "StoreError"]
