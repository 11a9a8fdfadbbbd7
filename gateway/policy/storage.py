"""Stores policy documents in memory or in the gateway's database.

Rows are never changed or deleted. A built-in policy may have several documents with the same version, because an update
can change its file; a custom policy has one document per version.
"""

import concurrent.futures
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import orjson
import sqlite_utils

from gateway.errors import Unavailable

_TIMEOUT_SECONDS = 30.0


class MemoryPolicies:
    """Stores documents in memory."""

    def __init__(self) -> None:
        self._documents: list[bytes] = []
        self._taken: set[object] = set()
        self._lock = threading.Lock()

    def load_all(self, after: int = 0) -> Iterable[tuple[int, Mapping[str, Any]]]:
        with self._lock:
            rows = self._documents[after:]
        return [(after + number, orjson.loads(row)) for number, row in enumerate(rows, 1)]

    def save(self, document: Mapping[str, Any]) -> bool:
        keys = {document["hash"]} if document["builtin"] else {document["hash"], (document["id"], document["version"])}
        with self._lock:
            if keys & self._taken:
                return False
            self._taken |= keys
            self._documents.append(orjson.dumps(dict(document)))
            return True


class Tables(Protocol):
    """The part of the store (gateway/store) that this module uses."""

    def submit[T](self, work: Callable[[sqlite_utils.Database], T]) -> concurrent.futures.Future[T]:
        """Runs `work` on the writer thread. The future completes when the result is durable."""
        ...

    def read_now[T](self, work: Callable[[sqlite_utils.Database], T]) -> T:
        """Runs `work` in this thread on committed data."""
        ...


class SqlitePolicies:
    """Stores documents in the table `policies`, which several processes may share."""

    def __init__(self, store: Tables) -> None:
        self._store = store

    def load_all(self, after: int = 0) -> Iterable[tuple[int, Mapping[str, Any]]]:
        def read(db: sqlite_utils.Database) -> list[tuple[int, str]]:
            rows = db.execute("SELECT position, document FROM policies WHERE position > ? ORDER BY position", [after])
            return list(rows.fetchall())

        return [(position, orjson.loads(document)) for position, document in self._store.read_now(read)]

    def save(self, document: Mapping[str, Any]) -> bool:
        row = [document["id"], document["version"], document["hash"], int(document["builtin"])]

        def write(db: sqlite_utils.Database) -> bool:
            done = db.execute(
                "INSERT OR IGNORE INTO policies (id, version, hash, builtin, document) VALUES (?,?,?,?,?)",
                [*row, orjson.dumps(dict(document)).decode()],
            )
            return done.rowcount == 1

        try:
            return self._store.submit(write).result(_TIMEOUT_SECONDS)
        except TimeoutError:
            raise Unavailable("The database did not respond in time. Try again.") from None


def create_policies_table(db: sqlite_utils.Database) -> None:
    """Creates the table of this module, as a migration."""
    db.execute(
        """
        CREATE TABLE IF NOT EXISTS policies (
            position INTEGER PRIMARY KEY,
            id TEXT NOT NULL,
            version INTEGER NOT NULL,
            hash TEXT NOT NULL UNIQUE,
            builtin INTEGER NOT NULL,
            document TEXT NOT NULL,
            created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ'))
        ) STRICT
        """
    )
    db.execute("CREATE UNIQUE INDEX IF NOT EXISTS policies_custom ON policies (id, version) WHERE builtin = 0")
