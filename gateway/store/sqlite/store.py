"""The SQLite store: joins the writer and the readers of one file."""

import asyncio
import concurrent.futures
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import sqlite_utils

from gateway.errors import Unavailable
from gateway.store.interfaces import Repositories
from gateway.store.sqlite import migrations
from gateway.store.sqlite.connection import connect_writer
from gateway.store.sqlite.database_files import DatabaseFiles
from gateway.store.sqlite.readers import Readers
from gateway.store.sqlite.repositories import SqliteRepositories
from gateway.store.sqlite.writer import SUBMIT_LIMIT, WRITE_LIMIT, Operation, Writer


class SqliteStore:
    """One SQLite file, shared by any number of processes. `gateway.store.interfaces.Store` describes the methods."""

    def __init__(self, db: sqlite_utils.Database, path: Path) -> None:
        self._files = DatabaseFiles(path)
        self._db = db
        self._writer = Writer(SqliteRepositories(db), self._files)
        self._readers = Readers(path, self._files)
        self._on_close: list[Callable[[], None]] = []
        self.on_close = self._on_close.append
        self.before_commit = self._writer.before_commit.append
        self.after_commit = self._writer.after_commit.append
        self.after_transaction = self._writer.after_transaction.append
        self.erase_deleted_soon = self._writer.empty_wal_soon
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
        self._readers.close()
        self._writer.close()
        for work in self._on_close:
            work()

    async def write[T](self, work: Callable[[Repositories], T], *, collects: bool = False) -> T:
        waiter: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._writer.put(Operation(work, waiter, collects), WRITE_LIMIT)
        result: T = await waiter
        return result

    def submit[T](self, work: Callable[[Repositories], T], *, collects: bool = False) -> concurrent.futures.Future[T]:
        waiter: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._writer.put(Operation(work, waiter, collects), SUBMIT_LIMIT)
        return waiter

    async def read[T](self, work: Callable[[Repositories], T]) -> T:
        if not self._writer.idle:
            barrier: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._writer.put(Operation(None, barrier), SUBMIT_LIMIT)
            await barrier
        return await self._readers.run(work)

    def read_now[T](self, work: Callable[[Repositories], T]) -> T:
        return self._readers.run_now(work)

    def check(self) -> None:
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
