"""The SQLite store: joins the writer and the readers of one file."""

from pathlib import Path
from typing import Self

import sqlite_utils

from gateway.store.queued_store import QueuedStore
from gateway.store.sqlite import migrations
from gateway.store.sqlite.connection import connect_writer
from gateway.store.sqlite.database_files import DatabaseFiles
from gateway.store.sqlite.readers import Readers
from gateway.store.sqlite.repositories import Repositories
from gateway.store.sqlite.writer import Writer


class Store(QueuedStore):
    """A database in one SQLite file. It is unavailable once its files are deleted or replaced."""

    def __init__(self, db: sqlite_utils.Database, path: Path) -> None:
        self._files = DatabaseFiles(path)
        self._db = db
        super().__init__(Writer(Repositories(db), self._files), Readers(path, self._files))

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

    def check(self) -> None:
        self._files.check()
        super().check()

    def _write_nothing_new(self) -> None:
        (version,) = self._db.conn.execute("PRAGMA user_version").fetchone()
        self._db.conn.execute(f"PRAGMA user_version = {int(version)}")
