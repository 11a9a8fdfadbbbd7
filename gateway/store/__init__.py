"""The only access to the database. See docs/store.md.

    Store          transactions, snapshots and their life cycle
    ReadOnlyStore  snapshots for commands, which must not create or change anything
    Repositories   one repository per kind of thing, bound to a transaction or a snapshot

Work is a function over `Repositories`. Inside a transaction it sees what the transaction has written so far; inside a
snapshot it can only read. It must be short, must not block on anything else, and must not keep its argument.

interfaces    what a backend provides and guarantees
rows          the plain values that go in and come out
errors        what is raised
group_commit  the thread that writes, for every backend; queued_store joins it with the readers
sqlite/       the embedded backend
postgres/     the backend for several machines, which is loaded on request

Nothing here knows what a receipt or a policy means: hashing, sealing and chaining belong to the packages above.
"""

from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from types import ModuleType

from gateway.config.database_url import Database
from gateway.store.errors import ConstraintViolation, StoreError
from gateway.store.interfaces import ReadOnlyStore, Receipts, Repositories, Sessions, Store, Usage
from gateway.store.sqlite import FILE
from gateway.store.sqlite import ReadOnlyStore as SqliteReader
from gateway.store.sqlite import Store as SqliteStore

__all__ = [
    "FILE",
    "ConstraintViolation",
    "Database",
    "ReadOnlyStore",
    "Receipts",
    "Repositories",
    "Sessions",
    "Store",
    "StoreError",
    "Usage",
    "open_existing_store",
    "open_read_only",
    "open_store",
    "store_exists",
]


def open_store(folder: Path, database: Database | None = None) -> Store:
    """Opens the store in `database`, or else in `folder`, and creates it when it is missing. Raises StoreError."""
    if database is not None:
        store: Store = _postgres().Store.open(database)
        return store
    return SqliteStore.open(folder / FILE)


def open_existing_store(folder: Path, database: Database | None = None) -> Store:
    """Opens the store as it is. Raises StoreError when there is none that this version can read.

    Only a gateway that starts migrates a store: one of the older version may be running on it, which could not start
    again afterwards.
    """
    with open_read_only(folder, database):
        pass
    return open_store(folder, database)


def open_read_only(folder: Path, database: Database | None = None) -> AbstractContextManager[ReadOnlyStore]:
    """Opens the store for reading. Raises StoreError when there is none that this version can read."""
    if database is not None:
        reader: AbstractContextManager[ReadOnlyStore] = _postgres().ReadOnlyStore.open(database)
        return reader
    return SqliteReader.open(folder / FILE)


def store_exists(folder: Path, database: Database | None = None) -> bool:
    """Whether there is a store. Raises StoreError if its server cannot be asked."""
    if database is not None:
        return bool(_postgres().database_exists(database))
    return (folder / FILE).is_file()


def _postgres() -> ModuleType:
    """The backend that needs a package of its own."""
    try:
        return import_module("gateway.store.postgres")
    except ImportError:
        raise StoreError(
            "database: install the package that it needs: pip install 'psycopg[binary,pool]>=3.2,<4'"
        ) from None
