"""Migrations: decorated functions, run once each, in order, forward only. A released one never changes."""

import sqlite3
from collections.abc import Callable, Set

import sqlite_utils

from gateway.store.connection import StoreError

type Step = Callable[[sqlite_utils.Database], None]

_TABLE = """
    CREATE TABLE IF NOT EXISTS migrations (
        id TEXT PRIMARY KEY,
        applied_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ'))
    ) STRICT
"""


class Migrations:
    """The steps of a schema. The id of a step is what the database remembers it by."""

    def __init__(self) -> None:
        self._steps: dict[str, Step] = {}

    def __call__(self, id: str) -> Callable[[Step], Step]:
        """Registers a step after those registered before."""

        def register(step: Step) -> Step:
            if id in self._steps:
                raise ValueError(f"two migrations have the id {id}")
            self._steps[id] = step
            return step

        return register

    def apply(self, db: sqlite_utils.Database) -> None:
        """Applies what is missing, all of it or nothing. Raises StoreError.

        SQLite's write lock is held throughout, so of several processes that start at once one does the work.
        """
        try:
            db.conn.execute("BEGIN IMMEDIATE")
            try:
                self._apply_missing(db)
            except BaseException:
                db.conn.execute("ROLLBACK")
                raise
            db.conn.execute("COMMIT")
        except sqlite3.Error as error:
            raise StoreError(
                f"the database in data_dir cannot be brought up to date: {error.sqlite_errorname}"
            ) from None

    def check(self, db: sqlite_utils.Database) -> None:
        """Whether the tables are those of this version. Changes nothing. Raises StoreError, sqlite3.Error."""
        missing = self._steps.keys() - _applied(db, self._steps.keys())
        if missing:
            raise StoreError(
                "the database in data_dir was made by an older version of the gateway; "
                "start this one once, and it is brought up to date"
            )

    def _apply_missing(self, db: sqlite_utils.Database) -> None:
        applied = _applied(db, self._steps.keys())
        db.conn.execute(_TABLE)
        for id, step in self._steps.items():
            if id not in applied:
                step(db)
                db.conn.execute("INSERT INTO migrations (id) VALUES (?)", [id])


def _applied(db: sqlite_utils.Database, known: Set[str]) -> set[str]:
    """The steps a database has seen. Raises StoreError for a database of something else, or of a newer version."""
    tables = {name for (name,) in db.conn.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if not tables:
        return set()
    if "migrations" not in tables:
        raise StoreError("the file in data_dir is a database, but not one of this gateway; it is left alone")
    applied = {id for (id,) in db.conn.execute("SELECT id FROM migrations")}
    if applied - known:
        raise StoreError(
            "the database in data_dir was made by a newer version of the gateway; install that version, "
            "or restore the backup made before it ran"
        )
    return applied
