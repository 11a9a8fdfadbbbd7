"""Migrations: the scripts in `schema/` run once each, in the order of their numbers, forward only.

sqlite-utils has migrations too. They record more, but commit each step by itself, and accept a database of a newer
version or of another program; both are refused here, and all steps share one transaction.
"""

import sqlite3
from collections.abc import Mapping, Set
from pathlib import Path

import sqlite_utils

from gateway.store.errors import StoreError

type Steps = Mapping[str, str]
"""The SQL of each step by its id, in order. A database remembers a step by its id."""

_TABLE = """
    CREATE TABLE IF NOT EXISTS migrations (
        id TEXT PRIMARY KEY,
        applied_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ'))
    ) STRICT
"""


def read_steps(folder: Path) -> Steps:
    """Reads the files `NNNN_name.sql` of a folder. Raises ValueError if two have the same number."""
    steps = {file.stem: file.read_text("utf-8") for file in sorted(folder.glob("*.sql"))}
    if len({id.partition("_")[0] for id in steps}) < len(steps):
        raise ValueError("two migrations have the same number")
    return steps


STEPS = read_steps(Path(__file__).with_name("schema"))


def apply(db: sqlite_utils.Database, steps: Steps = STEPS) -> None:
    """Applies all missing steps, or none of them. Raises StoreError.

    SQLite's write lock is held throughout, so that only one of several starting processes does the work.
    """
    try:
        db.conn.execute("BEGIN IMMEDIATE")
        try:
            applied = _applied(db, steps.keys())
            db.conn.execute(_TABLE)
            for id, script in steps.items():
                if id not in applied:
                    # The connection's own method would commit first.
                    db.executescript(script)
                    db.conn.execute("INSERT INTO migrations (id) VALUES (?)", [id])
        except BaseException:
            db.conn.execute("ROLLBACK")
            raise
        db.conn.execute("COMMIT")
    except sqlite3.Error as error:
        raise StoreError(f"the database in data_dir cannot be brought up to date: {error.sqlite_errorname}") from None


def check(db: sqlite_utils.Database) -> None:
    """Raises StoreError unless the tables are those of this version; sqlite3.Error. Changes nothing."""
    if STEPS.keys() - _applied(db, STEPS.keys()):
        raise StoreError(
            "the database in data_dir was made by an older version of the gateway; "
            "start this version once to bring it up to date"
        )


def _applied(db: sqlite_utils.Database, known: Set[str]) -> set[str]:
    """The steps a database has seen. Raises StoreError for one of another program or of a newer version."""
    tables = {name for (name,) in db.conn.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if not tables:
        return set()
    if "migrations" not in tables:
        raise StoreError("the database in data_dir is not one of this gateway; start with another `--data-dir DIR`")
    applied = {id for (id,) in db.conn.execute("SELECT id FROM migrations")}
    if applied - known:
        raise StoreError(
            "the database in data_dir was made by a newer version of the gateway, or by one from before the first "
            "release; install that version, restore a backup that this version made, or start with another "
            "`--data-dir DIR`"
        )
    return applied
