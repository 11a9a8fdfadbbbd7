"""Policy documents.

A built-in policy may be there in several documents of one version, since its file can change with an update; a custom
one has one document for each version.
"""

import sqlite3

from gateway.store.rows import PolicyRow

_COLUMNS = ", ".join(PolicyRow._fields)
_INSERT = f"INSERT OR IGNORE INTO policies ({_COLUMNS}) VALUES ({', '.join('?' * len(PolicyRow._fields))})"


class Policies:
    """Policy documents. Rows are only ever added.

    `hash` is unique, and so are `id` and `version` together among documents that are not built in.
    """

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn

    def add(self, policy: PolicyRow) -> bool:
        """Adds a document; False when uniqueness forbids it, and then nothing is written."""
        return self._conn.execute(_INSERT, policy).rowcount == 1

    def after(self, position: int) -> list[tuple[int, str]]:
        """Position and document of everything added after `position`, in the order in which it was added.

        Positions are positive and increase with every document that any process adds.
        """
        query = "SELECT position, document FROM policies WHERE position > ? ORDER BY position"
        return self._conn.execute(query, [position]).fetchall()

    def by_hash(self, hash: str) -> str | None:
        """The document with this hash."""
        found = self._conn.execute("SELECT document FROM policies WHERE hash = ?", [hash]).fetchone()
        return str(found[0]) if found else None
