"""The only access to the database: interfaces, rows, and the backends that implement them. See docs/store.md.

interfaces  what a backend provides and guarantees
rows        the plain values that go in and come out
errors      what it raises
sqlite/     the embedded backend, and the only place with SQL

Nothing here knows what a receipt or a policy means: hashing, sealing and chaining belong to the packages above.
"""

from contextlib import AbstractContextManager
from pathlib import Path

from gateway.store.errors import ConstraintViolation, StoreError
from gateway.store.interfaces import ReadOnlyStore, Repositories, Store
from gateway.store.sqlite import FILE, SqliteReadOnlyStore, SqliteStore

__all__ = [
    "ConstraintViolation",
    "ReadOnlyStore",
    "Repositories",
    "Store",
    "StoreError",
    "open_existing_store",
    "open_read_only",
    "open_store",
    "store_exists",
]


def open_store(folder: Path) -> Store:
    """Opens the store in `folder`, creating it when it is missing. Raises StoreError."""
    return SqliteStore.open(folder / FILE)


def open_existing_store(folder: Path) -> Store:
    """Opens the store in `folder` as it is. Raises StoreError when there is none that this version can read.

    Only a gateway that starts migrates a store: one of the older version may be running on it, which could not start
    again afterwards.
    """
    with open_read_only(folder):
        pass
    return open_store(folder)


def open_read_only(folder: Path) -> AbstractContextManager[ReadOnlyStore]:
    """Opens the store in `folder` for reading. Raises StoreError when there is none that this version can read."""
    return SqliteReadOnlyStore.open(folder / FILE)


def store_exists(folder: Path) -> bool:
    """Whether there is a store in `folder`."""
    return (folder / FILE).is_file()
