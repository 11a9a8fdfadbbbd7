"""Connections that cannot write: a pool of threads for the gateway, and one on the calling thread for commands."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

from gateway.errors import Unavailable
from gateway.store.errors import StoreError, missing
from gateway.store.interfaces import Repositories as Stored
from gateway.store.repeated_failures import RepeatedFailures
from gateway.store.sqlite import migrations
from gateway.store.sqlite.connection import connect_reader, error_name
from gateway.store.sqlite.database_files import DatabaseFiles
from gateway.store.sqlite.repositories import Repositories
from gateway.store.sqlite.writer import translated

_THREADS = 4


class Readers:
    """Runs work that reads, each on one consistent snapshot."""

    def __init__(self, path: Path, files: DatabaseFiles) -> None:
        self._path = path
        self._files = files
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="store-reader")
        self._own = threading.local()
        self._opened: list[Repositories] = []
        self._lock = threading.Lock()
        self._now: Repositories | None = None
        self._closed = False
        self._failures = RepeatedFailures("the store could not be read: %s", "the store can be read again")

    async def run[T](self, work: Callable[[Stored], T]) -> T:
        """Runs `work` on a thread of the pool. Raises Unavailable when the database cannot be read."""
        loop = asyncio.get_running_loop()
        try:
            pending = loop.run_in_executor(self._pool, self._read, work)
        except RuntimeError:
            raise Unavailable("The store is closed.") from None
        return await pending

    def run_now[T](self, work: Callable[[Stored], T]) -> T:
        """Runs `work` on the calling thread."""
        with self._lock:
            if self._closed:
                raise Unavailable("The store is closed.")
            try:
                if self._now is None:
                    self._now = self._connect()
                return self._done(_on_snapshot(self._now, work))
            except sqlite3.Error as error:
                raise self._translated(error) from None

    def close(self) -> None:
        """Waits for work in progress, then closes the connections."""
        self._pool.shutdown()
        with self._lock:
            self._closed = True
            for repositories in [*self._opened, *([self._now] if self._now else [])]:
                repositories.db.close()
            self._opened.clear()

    def _connect(self) -> Repositories:
        # In place of a deleted file, SQLite would make an empty one.
        self._files.check()
        return Repositories(connect_reader(self._path))

    def _read[T](self, work: Callable[[Stored], T]) -> T:
        try:
            repositories: Repositories | None = getattr(self._own, "repositories", None)
            if repositories is None:
                repositories = self._own.repositories = self._connect()
                with self._lock:
                    self._opened.append(repositories)
            return self._done(_on_snapshot(repositories, work))
        except sqlite3.Error as error:
            raise self._translated(error) from None

    def _done[T](self, result: T) -> T:
        self._failures.end()
        return result

    def _translated(self, error: sqlite3.Error) -> Exception:
        told = translated(error)
        if isinstance(told, Unavailable):
            self._failures.add(error_name(error))
        return told


def _on_snapshot[T](repositories: Repositories, work: Callable[[Stored], T]) -> T:
    conn = repositories.db.conn
    conn.execute("BEGIN")
    try:
        return work(repositories)
    finally:
        conn.execute("ROLLBACK")


class ReadOnlyStore:
    """Reads a database that others may be writing to, on the calling thread."""

    def __init__(self, repositories: Repositories) -> None:
        self._repositories = repositories

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator["ReadOnlyStore"]:
        """Raises StoreError when there is no database, or none that this version of the gateway can read."""
        if not path.is_file():
            raise missing(path.name)
        try:
            db = connect_reader(path)
        except sqlite3.Error as error:
            raise _unreadable(path, error) from None
        with closing(db):
            try:
                migrations.check(db)
            except sqlite3.Error as error:
                raise _unreadable(path, error) from None
            yield cls(Repositories(db))

    def copy_to(self, path: Path) -> None:
        """Makes a copy of the database as it is now, in one file (0600), and checks it. Writers do not wait meanwhile.

        Raises Unavailable when it cannot be read, is damaged, or the copy does not fit on the disk; OSError.
        """
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        try:
            with closing(sqlite3.connect(path, isolation_level=None)) as copy:
                # All pages in one step, and so from one snapshot.
                self._repositories.db.conn.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")
                if copy.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
                    raise Unavailable("The database is damaged.")
        except sqlite3.Error as error:
            raise Unavailable(f"The database cannot be copied: {error_name(error)}.") from None

    def read[T](self, work: Callable[[Stored], T]) -> T:
        """Runs `work` on one snapshot, on the calling thread. Raises Unavailable when the database cannot be read."""
        try:
            return _on_snapshot(self._repositories, work)
        except sqlite3.Error as error:
            raise Unavailable(f"The database cannot be read: {error_name(error)}.") from None


def _unreadable(path: Path, error: sqlite3.Error) -> StoreError:
    return StoreError(f"{path.name} in data_dir cannot be read: {error_name(error)}")
