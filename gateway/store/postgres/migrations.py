"""Migrations: the scripts in `schema/` run once each, in the order of their numbers, forward only."""

from pathlib import Path

import psycopg

from gateway.store.errors import StoreError
from gateway.store.postgres.connection import unusable
from gateway.store.postgres.lock import BEGIN_ALONE
from gateway.store.steps import Steps, missing_steps, read_steps

STEPS = read_steps(Path(__file__).with_name("schema"))
_PLACE = "the database of `database`"
_TABLES = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
_TABLE = """
    CREATE TABLE IF NOT EXISTS migrations (
        id TEXT COLLATE "C" PRIMARY KEY,
        applied_at TIMESTAMPTZ NOT NULL DEFAULT now()
    )
"""


def apply(conn: psycopg.Connection, steps: Steps = STEPS) -> None:
    """Applies all missing steps, or none of them, while no gateway writes. Raises StoreError."""
    try:
        conn.execute(BEGIN_ALONE)
        try:
            missing = _missing(conn, steps)
            conn.execute(_TABLE)
            for id in missing:
                conn.execute(steps[id].encode())
                conn.execute("INSERT INTO migrations (id) VALUES (%s)", [id])
        except BaseException:
            conn.execute("ROLLBACK")
            raise
        conn.execute("COMMIT")
    except psycopg.Error as error:
        raise unusable(error) from None


def check(conn: psycopg.Connection) -> None:
    """Raises StoreError unless the tables are those of this version; psycopg.Error. Changes nothing."""
    if not exist(conn):
        raise StoreError(f"{_PLACE} has no tables; start the gateway once")
    if _missing(conn, STEPS):
        raise StoreError(
            f"{_PLACE} was made by an older version of the gateway; start this version once to bring it up to date"
        )


def exist(conn: psycopg.Connection) -> bool:
    """Whether there are any tables. Raises psycopg.Error."""
    return conn.execute(_TABLES).fetchone() is not None


def _missing(conn: psycopg.Connection, steps: Steps) -> list[str]:
    tables = {name for (name,) in conn.execute(_TABLES)}
    applied = None
    if "migrations" in tables:
        applied = {id for (id,) in conn.execute("SELECT id FROM migrations")}
    return missing_steps(steps, applied, is_empty=not tables, place=_PLACE, remedy="name another database")
