"""Policy documents.

A built-in policy may be there in several documents of one version, since its file can change with an update; a custom
one has one document for each version.
"""

import sqlite3

from gateway.store.rows import PolicyRow

_COLUMNS = ", ".join(PolicyRow._fields)
_INSERT = f"INSERT OR IGNORE INTO policies ({_COLUMNS}) VALUES ({', '.join('?' * len(PolicyRow._fields))})"


class SqlitePolicies:
    """The table `policies`."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn

    def add(self, policy: PolicyRow) -> bool:
        return self._conn.execute(_INSERT, policy).rowcount == 1

    def after(self, position: int) -> list[tuple[int, str]]:
        query = "SELECT position, document FROM policies WHERE position > ? ORDER BY position"
        return self._conn.execute(query, [position]).fetchall()

    def by_hash(self, hash: str) -> str | None:
        found = self._conn.execute("SELECT document FROM policies WHERE hash = ?", [hash]).fetchone()
        return str(found[0]) if found else None
