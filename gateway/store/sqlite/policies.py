"""Policy documents.

A built-in policy may be there in several documents of one version, since its file can change with an update; a custom
one has one document for each version.
"""

import sqlite3

from gateway.store.rows import PolicyRow

_COLUMNS = ", ".join(PolicyRow._fields)
_INSERT = f"INSERT OR IGNORE INTO policies ({_COLUMNS}) VALUES ({', '.join('?' * len(PolicyRow._fields))})"


class Policies:
    """See `interfaces`."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn

    def add(self, policy: PolicyRow) -> bool:
        return self._conn.execute(_INSERT, policy).rowcount == 1

    def after(self, position: int) -> list[tuple[int, str]]:
        query = "SELECT position, document FROM policies WHERE position > ? ORDER BY position"
        return self._conn.execute(query, [position]).fetchall()

    def retire(self, id: str, version: int) -> None:
        self._conn.execute("INSERT OR IGNORE INTO policies_retired (id, version) VALUES (?, ?)", [id, version])

    def retired(self) -> dict[str, int]:
        return dict(self._conn.execute("SELECT id, max(version) FROM policies_retired GROUP BY id"))

    def revision(self) -> tuple[int, int]:
        query = "SELECT (SELECT coalesce(max(position), 0) FROM policies), (SELECT count(*) FROM policies_retired)"
        position, retired = self._conn.execute(query).fetchone()
        return position, retired

    def by_hash(self, hash: str) -> str | None:
        found = self._conn.execute("SELECT document FROM policies WHERE hash = ?", [hash]).fetchone()
        return str(found[0]) if found else None
