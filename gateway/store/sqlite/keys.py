"""API keys, and the counter of their changes."""

import sqlite3

from gateway.store.rows import KeyRow

_COLUMNS = ", ".join(KeyRow._fields)
_INSERT = f"INSERT INTO keys ({_COLUMNS}) VALUES ({', '.join('?' * len(KeyRow._fields))})"


class SqliteKeys:
    """The tables `keys` and `keys_revision`."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn

    def add(self, key: KeyRow) -> None:
        self._conn.execute(_INSERT, key)
        self._count_change()

    def revoke(self, key_id: str, revoked_at: str) -> KeyRow | None:
        update = "UPDATE keys SET revoked_at = ? WHERE key_id = ? AND revoked_at IS NULL"
        self._conn.execute(update, [revoked_at, key_id])
        self._count_change()
        found = self._conn.execute(f"SELECT {_COLUMNS} FROM keys WHERE key_id = ?", [key_id]).fetchone()
        return KeyRow(*found) if found else None

    def all(self) -> list[KeyRow]:
        query = f"SELECT {_COLUMNS} FROM keys ORDER BY created_at, rowid"
        return [KeyRow(*row) for row in self._conn.execute(query)]

    def active(self) -> list[KeyRow]:
        query = f"SELECT {_COLUMNS} FROM keys WHERE revoked_at IS NULL"
        return [KeyRow(*row) for row in self._conn.execute(query)]

    def revision(self) -> int:
        return int(self._conn.execute("SELECT revision FROM keys_revision").fetchone()[0])

    def _count_change(self) -> None:
        self._conn.execute("UPDATE keys_revision SET revision = revision + 1")
