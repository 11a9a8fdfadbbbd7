"""Policy documents.

A built-in policy may be there in several documents of one version, since its file can change with an update; a custom
one has one document for each version.
"""

import sqlite3

from gateway.store.rows import PolicyRow

_COLUMNS = ", ".join(PolicyRow._fields)
_INSERT = f"INSERT OR IGNORE INTO policies ({_COLUMNS}) VALUES ({', '.join('?' * len(PolicyRow._fields))})"


class Policies:
    """Policy documents, and which policies are retired. Rows are only ever added.

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

    def retire(self, id: str, version: int) -> None:
        """Marks a policy as retired up to this version. The first mark stays."""
        self._conn.execute("INSERT OR IGNORE INTO policies_retired (id, version) VALUES (?, ?)", [id, version])

    def retired(self) -> dict[str, int]:
        """The highest version up to which each policy is retired, by its id."""
        return dict(self._conn.execute("SELECT id, max(version) FROM policies_retired GROUP BY id"))

    def revision(self) -> tuple[int, int]:
        """Numbers of which one grows with every change. Takes microseconds."""
        query = "SELECT (SELECT coalesce(max(position), 0) FROM policies), (SELECT count(*) FROM policies_retired)"
        position, retired = self._conn.execute(query).fetchone()
        return position, retired

    def by_hash(self, hash: str) -> str | None:
        """The document with this hash."""
        found = self._conn.execute("SELECT document FROM policies WHERE hash = ?", [hash]).fetchone()
        return str(found[0]) if found else None
