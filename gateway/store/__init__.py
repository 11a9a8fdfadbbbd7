"""The embedded store: one SQLite file, one writer thread with group commit, a few readers. See docs/receipts.md.

What is written is decided elsewhere; nothing here knows what a receipt or a policy means.
"""

from gateway.store.connection import StoreError
from gateway.store.read_only import ReadOnlyStore
from gateway.store.store import Store

__all__ = ["ReadOnlyStore", "Store", "StoreError"]
