"""The schema, step by step. Never change a released step: add one at the end."""

import sqlite_utils

from gateway.store.sqlite.migrations import Migrations

migrations = Migrations()


@migrations("0001_receipts")
def _receipts(db: sqlite_utils.Database) -> None:
    """`body` is the canonical form that `hash` is taken over; `owner` is the id of the key that sent the request."""
    db.conn.execute(
        """
        CREATE TABLE receipts (
            sequence INTEGER PRIMARY KEY,
            kind TEXT NOT NULL CHECK (kind IN ('receipt', 'outcome')),
            request_id TEXT NOT NULL,
            owner TEXT NOT NULL,
            body TEXT NOT NULL,
            hash TEXT NOT NULL,
            signature TEXT NOT NULL
        ) STRICT
        """
    )
    db.conn.execute("CREATE UNIQUE INDEX receipts_by_request ON receipts (request_id, kind)")
    db.conn.execute("CREATE INDEX receipts_by_owner ON receipts (owner, sequence) WHERE kind = 'receipt'")
    db.conn.execute(
        """
        CREATE TABLE receipts_head (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            size INTEGER NOT NULL,
            head TEXT NOT NULL,
            checkpoint TEXT NOT NULL
        ) STRICT
        """
    )
    db.conn.execute(
        """
        CREATE TABLE usage (
            meter TEXT NOT NULL,
            name TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (meter, name)
        ) STRICT, WITHOUT ROWID
        """
    )


@migrations("0002_vault")
def _vault(db: sqlite_utils.Database) -> None:
    """Times are Unix seconds. `sealed` opens only with the session's token, of which only the hash is stored."""
    db.conn.execute(
        """
        CREATE TABLE vault_sessions (
            session_id TEXT PRIMARY KEY,
            token_hash BLOB NOT NULL,
            owner TEXT NOT NULL,
            expires_at REAL NOT NULL,
            rows INTEGER NOT NULL DEFAULT 0,
            held INTEGER NOT NULL DEFAULT 0,
            max_values INTEGER NOT NULL,
            purged INTEGER NOT NULL DEFAULT 0
        ) STRICT
        """
    )
    db.conn.execute("CREATE INDEX vault_sessions_by_expiry ON vault_sessions (purged, expires_at)")
    db.conn.execute(
        """
        CREATE TABLE vault_rows (
            session_id TEXT NOT NULL REFERENCES vault_sessions (session_id) ON DELETE CASCADE,
            row INTEGER NOT NULL,
            sealed BLOB NOT NULL,
            PRIMARY KEY (session_id, row)
        ) STRICT
        """
    )


@migrations("0003_keys")
def _keys(db: sqlite_utils.Database) -> None:
    """`keys_revision` counts changes, so that other processes notice them with one small query."""
    db.conn.execute(
        """
        CREATE TABLE keys (
            key_id TEXT PRIMARY KEY,
            label TEXT NOT NULL,
            scope TEXT NOT NULL,
            secret_hash BLOB NOT NULL UNIQUE,
            created_at TEXT NOT NULL,
            revoked_at TEXT
        ) STRICT
        """
    )
    db.conn.execute("CREATE TABLE keys_revision (revision INTEGER NOT NULL) STRICT")
    db.conn.execute("INSERT INTO keys_revision VALUES (0)")


@migrations("0004_policies")
def _policies(db: sqlite_utils.Database) -> None:
    """`position` is the order in which documents were added; a custom policy has one document for each version."""
    db.conn.execute(
        """
        CREATE TABLE IF NOT EXISTS policies (
            position INTEGER PRIMARY KEY,
            id TEXT NOT NULL,
            version INTEGER NOT NULL,
            hash TEXT NOT NULL UNIQUE,
            builtin INTEGER NOT NULL,
            document TEXT NOT NULL,
            created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ'))
        ) STRICT
        """
    )
    db.conn.execute("CREATE UNIQUE INDEX IF NOT EXISTS policies_custom ON policies (id, version) WHERE builtin = 0")


@migrations("0005_usage_by_day")
def _usage_by_day(db: sqlite_utils.Database) -> None:
    """`day` is in UTC, as in the receipts; empty for what was counted before this step."""
    db.conn.execute("ALTER TABLE usage RENAME TO usage_before")
    db.conn.execute(
        """
        CREATE TABLE usage (
            day TEXT NOT NULL,
            meter TEXT NOT NULL,
            name TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (day, meter, name)
        ) STRICT, WITHOUT ROWID
        """
    )
    db.conn.execute("INSERT INTO usage SELECT '', meter, name, count FROM usage_before")
    db.conn.execute("DROP TABLE usage_before")
