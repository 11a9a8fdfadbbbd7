"""The store: what the parts of the gateway see of the database."""

import asyncio
import concurrent.futures
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import sqlite_utils

from gateway.errors import Unavailable
from gateway.store.connection import connect_writer
from gateway.store.readers import Readers
from gateway.store.schema import migrations
from gateway.store.writer import SUBMIT_LIMIT, WRITE_LIMIT, Operation, Writer


class Store:
    """One SQLite file, shared by any number of processes. Work is a function over a `sqlite_utils.Database`.

    Writing work must be short and must not commit. It runs even when the caller stopped waiting.
    """

    def __init__(self, db: sqlite_utils.Database, path: Path) -> None:
        self._path = path
        self._file = path.stat()
        self._writer = Writer(db)
        self._writer.before_commit(lambda _: self._check_place())
        self._readers = Readers(path)
        self._when_closed: list[Callable[[], None]] = []
        self._trial: concurrent.futures.Future[None] | None = None

    @classmethod
    def open(cls, path: Path) -> Self:
        """Opens or makes the database (0600) and brings its tables up to date. Raises StoreError."""
        db = connect_writer(path)
        try:
            migrations.apply(db)
        except BaseException:
            db.close()
            raise
        return cls(db, path)

    def close(self) -> None:
        """Writes what is queued, then closes. Afterwards everything raises Unavailable."""
        self._readers.close()
        self._writer.close()
        for work in self._when_closed:
            work()

    async def write[T](self, work: Callable[[sqlite_utils.Database], T], *, collects: bool = False) -> T:
        """Runs `work` in the next transaction; durable when this returns.

        Work that only `collects` for one who writes before the commit is cheaper, and must not write itself. Raises
        what `work` raises, which undoes `work` alone; Unavailable with the code `store_unavailable` when the
        transaction fails, `overloaded` when too many wait.
        """
        waiter: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._writer.put(Operation(work, waiter, collects), WRITE_LIMIT)
        result: T = await waiter
        return result

    def submit[T](
        self, work: Callable[[sqlite_utils.Database], T], *, collects: bool = False
    ) -> concurrent.futures.Future[T]:
        """As `write`, from any thread and without waiting. The future is done when the work is durable."""
        waiter: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._writer.put(Operation(work, waiter, collects), SUBMIT_LIMIT)
        return waiter

    async def read[T](self, work: Callable[[sqlite_utils.Database], T]) -> T:
        """Runs `work` on one snapshot that holds everything submitted before this call."""
        if not self._writer.idle:
            barrier: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._writer.put(Operation(None, barrier), SUBMIT_LIMIT)
            await barrier
        return await self._readers.run(work)

    def read_now[T](self, work: Callable[[sqlite_utils.Database], T]) -> T:
        """Runs `work` at once, on this thread, on what is committed. Only for queries of microseconds."""
        return self._readers.run_now(work)

    def check(self) -> None:
        """Whether the database is in its place, answers and can be written to. Raises Unavailable."""
        self._check_place()
        if self._writer.failed:
            # Nobody may come to write while this says no; so it is tried for the next time.
            if self._trial is None or self._trial.done():
                self._trial = self.submit(_write_nothing_new)
            raise Unavailable("The database could not be written to when it was last tried.")
        # On what is committed: to wait for the writer would tell how busy it is, not whether it is well.
        self.read_now(lambda database: database.execute("SELECT count(*) FROM sqlite_master").fetchone())

    def _check_place(self) -> None:
        """SQLite goes on writing to a file that was deleted, but nothing lasts there."""
        try:
            there = os.path.samestat(self._path.stat(), self._file)
        except OSError:
            there = False
        if not there:
            raise Unavailable("The database was deleted or replaced. Start the gateway anew.")

    def before_commit(self, work: Callable[[sqlite_utils.Database], None]) -> None:
        """Runs `work` at the end of every transaction, inside it. If it fails, the transaction fails."""
        self._writer.before_commit(work)

    def after_commit(self, work: Callable[[], None]) -> None:
        """Runs `work` after every transaction that is durable. It must be short and must not raise."""
        self._writer.after_commit(work)

    def when_closed(self, work: Callable[[], None]) -> None:
        """Runs `work` at the end of `close`."""
        self._when_closed.append(work)

    def afterwards(self, work: Callable[[], None]) -> None:
        """Runs `work` after every transaction, committed or not."""
        self._writer.afterwards(work)

    def checkpoint_soon(self) -> None:
        """Has deleted rows leave the write-ahead log too, as soon as no reader needs them."""
        self._writer.checkpoint_soon()


def _write_nothing_new(db: sqlite_utils.Database) -> None:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    db.execute(f"PRAGMA user_version = {int(version)}")
