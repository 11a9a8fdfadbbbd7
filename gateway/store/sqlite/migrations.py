"""Migrations: decorated functions that run once each, in order, forward only. A released one never changes.

sqlite-utils has a class of the same name. It records more, but commits each step by itself, and accepts a database of
a newer version or of another program; both are refused here, and all steps share one transaction.
"""

import sqlite3
from collections.abc import Callable, Set

import sqlite_utils

from gateway.store.errors import StoreError

type Step = Callable[[sqlite_utils.Database], None]

_TABLE = """
    CREATE TABLE IF NOT EXISTS migrations (
        id TEXT PRIMARY KEY,
        applied_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ'))
    ) STRICT
"""


class Migrations:
    """The steps of a schema. A database remembers a step by its id."""

    def __init__(self) -> None:
        self._steps: dict[str, Step] = {}

    def __call__(self, id: str) -> Callable[[Step], Step]:
        """Registers the next step."""

        def register(step: Step) -> Step:
            if id in self._steps:
                raise ValueError(f"two migrations have the id {id}")
            self._steps[id] = step
            return step

        return register

    def apply(self, db: sqlite_utils.Database) -> None:
        """Applies all missing steps, or none of them. Raises StoreError.

        SQLite's write lock is held throughout, so that only one of several starting processes does the work.
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
        """Raises StoreError unless the tables are those of this version; sqlite3.Error. Changes nothing."""
        missing = self._steps.keys() - _applied(db, self._steps.keys())
        if missing:
            raise StoreError(
                "the database in data_dir was made by an older version of the gateway; "
                "start this version once to bring it up to date"
            )

    def _apply_missing(self, db: sqlite_utils.Database) -> None:
        applied = _applied(db, self._steps.keys())
        db.conn.execute(_TABLE)
        for id, step in self._steps.items():
            if id not in applied:
                step(db)
                db.conn.execute("INSERT INTO migrations (id) VALUES (?)", [id])


def _applied(db: sqlite_utils.Database, known: Set[str]) -> set[str]:
    """The steps a database has seen. Raises StoreError for one of another program or of a newer version."""
    tables = {name for (name,) in db.conn.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if not tables:
        return set()
    if "migrations" not in tables:
        raise StoreError("the database in data_dir is not one of this gateway; choose another folder with --data-dir")
    applied = {id for (id,) in db.conn.execute("SELECT id FROM migrations")}
    if applied - known:
        raise StoreError(
            "the database in data_dir was made by a newer version of the gateway; install that version, "
            "or restore the backup made before it ran"
        )
    return applied
