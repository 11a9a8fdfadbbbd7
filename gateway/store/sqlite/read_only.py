"""Reads a database that others may be writing to: for commands, which must not create or change anything."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import sqlite_utils

from gateway.errors import Unavailable
from gateway.store.errors import StoreError, missing
from gateway.store.interfaces import Repositories
from gateway.store.sqlite import migrations
from gateway.store.sqlite.connection import connect_reader, error_name
from gateway.store.sqlite.repositories import SqliteRepositories


class SqliteReadOnlyStore:
    """One connection that cannot write, on the calling thread. Use as a context manager, which closes it."""

    def __init__(self, db: sqlite_utils.Database) -> None:
        self._db = db
        self._repositories = SqliteRepositories(db)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Raises StoreError when there is no database, or none that this version of the gateway can read."""
        if not path.is_file():
            raise missing(path.name)
        try:
            db = connect_reader(path)
            try:
                migrations.check(db)
            except BaseException:
                db.close()
                raise
        except sqlite3.Error as error:
            raise StoreError(f"{path.name} in data_dir cannot be read: {error_name(error)}") from None
        return cls(db)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    def read[T](self, work: Callable[[Repositories], T]) -> T:
        """Runs `work` on one snapshot. Raises Unavailable when the database cannot be read."""
        try:
            self._db.conn.execute("BEGIN")
            try:
                return work(self._repositories)
            finally:
                self._db.conn.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise Unavailable(f"The database cannot be read: {error_name(error)}.") from None
