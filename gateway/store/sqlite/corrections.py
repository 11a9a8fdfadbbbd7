"""Values that callers have left in clear or hidden, and what they are checked with."""

import sqlite3
from collections.abc import Iterable

from gateway.store.rows import CorrectionRow, CorrectionsHead

_COLUMNS = ", ".join(CorrectionRow._fields)
_INSERT = f"INSERT INTO corrections ({_COLUMNS}) VALUES ({', '.join('?' * len(CorrectionRow._fields))})"


class Corrections:
    """See `interfaces`."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn

    def revision(self) -> int:
        found = self._conn.execute("SELECT revision FROM corrections_head").fetchone()
        return int(found[0]) if found else -1

    def head(self) -> CorrectionsHead:
        found = self._conn.execute("SELECT revision, wrapped, previous, mac FROM corrections_head").fetchone()
        return CorrectionsHead(*found) if found else CorrectionsHead(-1)

    def set_head(self, head: CorrectionsHead) -> None:
        self._conn.execute("DELETE FROM corrections_head")
        self._conn.execute("INSERT INTO corrections_head VALUES (?, ?, ?, ?)", head)

    def all(self) -> list[CorrectionRow]:
        rows = self._conn.execute(f"SELECT {_COLUMNS} FROM corrections ORDER BY correction_id")
        return [CorrectionRow(*row) for row in rows]

    def add(self, rows: Iterable[CorrectionRow]) -> None:
        self._conn.executemany(_INSERT, rows)

    def delete(self, ids: Iterable[str]) -> None:
        self._conn.executemany("DELETE FROM corrections WHERE correction_id = ?", [(id,) for id in ids])
