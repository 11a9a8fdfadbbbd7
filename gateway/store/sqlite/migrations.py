"""Migrations: the scripts in `schema/` run once each, in the order of their numbers, forward only.

sqlite-utils has migrations too. They record more, but commit each step by itself, and accept a database of a newer
version or of another program; both are refused here, and all steps share one transaction.
"""

import sqlite3
from pathlib import Path

import sqlite_utils

from gateway.store.errors import StoreError
from gateway.store.steps import Steps, missing_steps, read_steps

STEPS = read_steps(Path(__file__).with_name("schema"))
_PLACE = "the database in data_dir"
_TABLE = """
    CREATE TABLE IF NOT EXISTS migrations (
        id TEXT PRIMARY KEY,
        applied_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ'))
    ) STRICT
"""


def apply(db: sqlite_utils.Database, steps: Steps = STEPS) -> None:
    """Applies all missing steps, or none of them. Raises StoreError.

    SQLite's write lock is held throughout, so that only one of several starting processes does the work.
    """
    try:
        db.conn.execute("BEGIN IMMEDIATE")
        try:
            missing = _missing(db, steps)
            db.conn.execute(_TABLE)
            for id in missing:
                # The connection's own method would commit first.
                db.executescript(steps[id])
                db.conn.execute("INSERT INTO migrations (id) VALUES (?)", [id])
        except BaseException:
            db.conn.execute("ROLLBACK")
            raise
        db.conn.execute("COMMIT")
    except sqlite3.Error as error:
        raise StoreError(f"{_PLACE} cannot be brought up to date: {error.sqlite_errorname}") from None


def check(db: sqlite_utils.Database) -> None:
    """Raises StoreError unless the tables are those of this version; sqlite3.Error. Changes nothing."""
    if _missing(db, STEPS):
        raise StoreError(
            f"{_PLACE} was made by an older version of the gateway; start this version once to bring it up to date"
        )


def _missing(db: sqlite_utils.Database, steps: Steps) -> list[str]:
    """The steps a database has not seen. Raises StoreError for one of another program or of a newer version."""
    tables = {name for (name,) in db.conn.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    applied = {id for (id,) in db.conn.execute("SELECT id FROM migrations")} if "migrations" in tables else None
    remedy = "start with another `--data-dir DIR`"
    return missing_steps(steps, applied, is_empty=not tables, place=_PLACE, remedy=remedy)
