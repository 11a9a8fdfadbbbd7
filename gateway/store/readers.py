"""Reading: a small pool of threads, each with a connection that cannot write."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import sqlite_utils

from gateway.errors import Unavailable
from gateway.store.connection import connect_reader
from gateway.store.writer import readable

_THREADS = 4


class Readers:
    """Runs reading work, each on one consistent snapshot."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="store-reader")
        self._own = threading.local()
        self._opened: list[sqlite_utils.Database] = []
        self._lock = threading.Lock()
        self._now: sqlite_utils.Database | None = None
        self._closed = False

    async def run[T](self, work: Callable[[sqlite_utils.Database], T]) -> T:
        """Runs `work` on a thread of the pool. Raises Unavailable when the database cannot be read."""
        loop = asyncio.get_running_loop()
        try:
            pending = loop.run_in_executor(self._pool, self._read, work)
        except RuntimeError:
            raise Unavailable("The store is closed.") from None
        return await pending

    def run_now[T](self, work: Callable[[sqlite_utils.Database], T]) -> T:
        """Runs `work` on the calling thread."""
        with self._lock:
            if self._closed:
                raise Unavailable("The store is closed.")
            try:
                if self._now is None:
                    self._now = connect_reader(self._path)
                return _on_snapshot(self._now, work)
            except sqlite3.Error as error:
                raise readable(error) from None

    def close(self) -> None:
        """Waits for what is being read, then closes the connections."""
        self._pool.shutdown()
        with self._lock:
            self._closed = True
            for db in [*self._opened, *([self._now] if self._now else [])]:
                db.close()
            self._opened.clear()

    def _read[T](self, work: Callable[[sqlite_utils.Database], T]) -> T:
        try:
            db: sqlite_utils.Database | None = getattr(self._own, "db", None)
            if db is None:
                db = self._own.db = connect_reader(self._path)
                with self._lock:
                    self._opened.append(db)
            return _on_snapshot(db, work)
        except sqlite3.Error as error:
            raise readable(error) from None


def _on_snapshot[T](db: sqlite_utils.Database, work: Callable[[sqlite_utils.Database], T]) -> T:
    db.conn.execute("BEGIN")
    try:
        return work(db)
    finally:
        db.conn.execute("ROLLBACK")
