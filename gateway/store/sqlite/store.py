"""The SQLite store: joins the writer and the readers of one file."""

import asyncio
import concurrent.futures
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import sqlite_utils

from gateway.errors import Unavailable
from gateway.store.sqlite import migrations
from gateway.store.sqlite.connection import connect_writer
from gateway.store.sqlite.database_files import DatabaseFiles
from gateway.store.sqlite.readers import Readers
from gateway.store.sqlite.repositories import Repositories
from gateway.store.sqlite.writer import SUBMIT_LIMIT, WRITE_LIMIT, Operation, Writer


class Store:
    """A database that any number of processes may share, in one SQLite file.

    Order: transactions run one after another, across all processes, and work runs in the order in which it was
    submitted. Durability: what `write` returned from, or whose future is done, survives a crash of process and machine.
    Isolation: work that fails undoes itself alone; a read sees one snapshot, which holds complete transactions only.

    Everything raises Unavailable (`store_unavailable`) when the database cannot be used, and after `close`.
    """

    def __init__(self, db: sqlite_utils.Database, path: Path) -> None:
        self._files = DatabaseFiles(path)
        self._db = db
        self._writer = Writer(Repositories(db), self._files)
        self._readers = Readers(path, self._files)
        self._on_close: list[Callable[[], None]] = []
        self.on_close = self._on_close.append
        """Runs work at the end of `close`."""
        self.before_commit = self._writer.before_commit.append
        """Runs work at the end of every transaction, inside it. If it fails, the transaction fails."""
        self.after_commit = self._writer.after_commit.append
        """Runs work after every transaction that became durable. It must be short and must not raise."""
        self.after_transaction = self._writer.after_transaction.append
        """Runs work after every transaction, committed or not."""
        self.erase_deleted_soon = self._writer.empty_wal_soon
        """Removes deleted rows from every file of the database, as soon as no reader needs them."""
        self._trial: concurrent.futures.Future[None] | None = None

    @classmethod
    def open(cls, path: Path) -> Self:
        """Opens the database, creates it (0600) when it is missing, and migrates its tables. Raises StoreError."""
        db = connect_writer(path)
        try:
            migrations.apply(db)
            return cls(db, path)
        except BaseException:
            db.close()
            raise

    def close(self) -> None:
        """Completes what was submitted, then closes."""
        self._readers.close()
        self._writer.close()
        for work in self._on_close:
            work()

    async def write[T](self, work: Callable[[Repositories], T], *, collects: bool = False) -> T:
        """Runs `work` in the next transaction, also when the caller stops waiting; durable on return.

        Work that only reads, and collects rows for a `before_commit` hook to write, sets `collects`: it is cheaper,
        and must not write anything itself. Raises what `work` raises; Unavailable with the code `overloaded` when too
        many wait.
        """
        waiter: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._writer.put(Operation(work, waiter, collects), WRITE_LIMIT)
        result: T = await waiter
        return result

    def submit[T](self, work: Callable[[Repositories], T], *, collects: bool = False) -> concurrent.futures.Future[T]:
        """Runs `work` like `write`, from any thread and without waiting. The future is done when it is durable."""
        waiter: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._writer.put(Operation(work, waiter, collects), SUBMIT_LIMIT)
        return waiter

    async def read[T](self, work: Callable[[Repositories], T]) -> T:
        """Runs `work` on a snapshot that includes everything submitted before this call."""
        if not self._writer.idle:
            barrier: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._writer.put(Operation(None, barrier), SUBMIT_LIMIT)
            await barrier
        return await self._readers.run(work)

    def read_now[T](self, work: Callable[[Repositories], T]) -> T:
        """Runs `work` at once, on this thread, on what is committed. Only for queries of microseconds."""
        return self._readers.run_now(work)

    @property
    def lag(self) -> float:
        """For how many seconds writes have been waiting."""
        return self._writer.lag

    def check(self) -> None:
        """Raises Unavailable unless the database is in place, answers, and can be written to."""
        self._files.check()
        if self._writer.failed:
            # Requests are refused while this fails, so the check itself tries to write, for the next call.
            if self._trial is None or self._trial.done():
                self._trial = self.submit(lambda _: self._write_nothing_new())
            raise Unavailable("The database could not be written to when it was last tried.")
        # Reads what is committed. Waiting for the writer would measure its load, not whether it works.
        self.read_now(lambda repositories: repositories.receipts.bounds())

    def _write_nothing_new(self) -> None:
        (version,) = self._db.conn.execute("PRAGMA user_version").fetchone()
        self._db.conn.execute(f"PRAGMA user_version = {int(version)}")
