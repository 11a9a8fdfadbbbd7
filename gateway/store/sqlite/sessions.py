"""Vault sessions and their sealed rows."""

import sqlite3
from collections.abc import Sequence

from gateway.store.rows import SealedRow, SessionRow

_COLUMNS = ", ".join(SessionRow._fields)
_INSERT = f"INSERT INTO vault_sessions ({_COLUMNS}) VALUES ({', '.join('?' * len(SessionRow._fields))})"
# One row in any case: that of the session, or one that fits no session.
_NOBODY = ", ".join(("NULL", "zeroblob(32)", "''", "0.0", *["0"] * (len(SessionRow._fields) - 4)))
_FIND = f"SELECT {_COLUMNS} FROM vault_sessions WHERE session_id = ? UNION ALL SELECT {_NOBODY} LIMIT 1"


class Sessions:
    """See `interfaces`."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn

    def add(self, session: SessionRow) -> None:
        self._conn.execute(_INSERT, session)

    def find(self, session_id: str) -> SessionRow | None:
        # Reads as much for an unknown session as for one of another key, so that the time tells nothing.
        found = SessionRow(*self._conn.execute(_FIND, [session_id]).fetchone())
        return found if found.session_id == session_id else None

    def sealed(self, session_id: str, first: int = 0) -> list[SealedRow]:
        query = "SELECT row, sealed FROM vault_rows WHERE session_id = ? {} ORDER BY row"
        # The first row may have a changed number, which must show.
        where, parameters = ("AND row >= ?", [session_id, first]) if first else ("", [session_id])
        return [SealedRow(*row) for row in self._conn.execute(query.format(where), parameters)]

    def append(self, session_id: str, row: SealedRow, values: int) -> None:
        self._conn.execute("INSERT INTO vault_rows (session_id, row, sealed) VALUES (?, ?, ?)", [session_id, *row])
        count = "UPDATE vault_sessions SET rows = rows + 1, held = held + ? WHERE session_id = ?"
        self._conn.execute(count, [values, session_id])

    def replace(self, session_id: str, expires_at: float, rows: Sequence[SealedRow]) -> None:
        self._conn.execute("UPDATE vault_sessions SET expires_at = ? WHERE session_id = ?", [expires_at, session_id])
        update = "UPDATE vault_rows SET sealed = ? WHERE session_id = ? AND row = ?"
        self._conn.executemany(update, [(row.sealed, session_id, row.row) for row in rows])

    def delete(self, session_id: str) -> None:
        self._conn.execute("DELETE FROM vault_rows WHERE session_id = ?", [session_id])
        self._conn.execute("DELETE FROM vault_sessions WHERE session_id = ?", [session_id])

    def latest_time(self) -> float:
        found = self._conn.execute("SELECT latest FROM vault_clock WHERE id = 1").fetchone()
        return float(found[0]) if found else 0.0

    def note_time(self, now: float) -> None:
        self._conn.execute(
            "INSERT INTO vault_clock (id, latest) VALUES (1, ?) "
            "ON CONFLICT (id) DO UPDATE SET latest = max(latest, excluded.latest)",
            [now],
        )

    def empty_expired(self, now: float, limit: int) -> int:
        query = "SELECT session_id FROM vault_sessions WHERE purged = 0 AND expires_at <= ? LIMIT ?"
        found = self._conn.execute(query, [now, limit]).fetchall()
        self._conn.executemany("DELETE FROM vault_rows WHERE session_id = ?", found)
        self._conn.executemany("UPDATE vault_sessions SET purged = 1 WHERE session_id = ?", found)
        return len(found)

    def delete_emptied(self, expired_by: float, limit: int) -> int:
        return self._conn.execute(
            "DELETE FROM vault_sessions WHERE session_id IN "
            "(SELECT session_id FROM vault_sessions WHERE purged = 1 AND expires_at <= ? LIMIT ?)",
            [expired_by, limit],
        ).rowcount
