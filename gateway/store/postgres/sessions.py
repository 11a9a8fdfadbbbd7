"""Vault sessions and their sealed rows."""

from collections.abc import Sequence

from gateway.store.postgres.statements import Statements, arrays, columns
from gateway.store.rows import SealedRow, SessionRow

_COLUMNS = ", ".join(SessionRow._fields)
_INSERT = f"INSERT INTO vault_sessions ({_COLUMNS}) VALUES ({', '.join(['%s'] * len(SessionRow._fields))})"
# One row in any case: that of the session, or one that fits no session.
_NO_SESSION = ", ".join(("NULL", "decode(repeat('00', 32), 'hex')", "''", *["0"] * (len(SessionRow._fields) - 3)))
_FIND = f"SELECT {_COLUMNS} FROM vault_sessions WHERE session_id = %s UNION ALL SELECT {_NO_SESSION} LIMIT 1"


class Sessions:
    """See `interfaces`."""

    def __init__(self, statements: Statements) -> None:
        self._db = statements

    def add(self, session: SessionRow) -> None:
        self._db.run(_INSERT, session)

    def find(self, session_id: str) -> SessionRow | None:
        # Reads as much for an unknown session as for one of another key, so that the time tells nothing.
        found = SessionRow(*self._db.run(_FIND, [session_id]).fetchall()[0])
        return found if found.session_id == session_id else None

    def sealed(self, session_id: str, first: int = 0) -> list[SealedRow]:
        query = "SELECT number, sealed FROM vault_rows WHERE session_id = %s {} ORDER BY number"
        # The first row may have a changed number, which must show.
        where, parameters = ("AND number >= %s", [session_id, first]) if first else ("", [session_id])
        return [SealedRow(*row) for row in self._db.run(query.format(where), parameters)]

    def append(self, session_id: str, row: SealedRow, values: int) -> None:
        self._db.run("INSERT INTO vault_rows (session_id, number, sealed) VALUES (%s, %s, %s)", [session_id, *row])
        count = "UPDATE vault_sessions SET rows = rows + 1, held = held + %s WHERE session_id = %s"
        self._db.run(count, [values, session_id])

    def replace(self, session_id: str, expires_at: float, rows: Sequence[SealedRow]) -> None:
        self._db.run("UPDATE vault_sessions SET expires_at = %s WHERE session_id = %s", [expires_at, session_id])
        if rows:
            self._db.run(
                f"UPDATE vault_rows SET sealed = new.sealed FROM unnest({arrays(['bigint', 'bytea'])}) "
                "AS new (number, sealed) WHERE session_id = %s AND vault_rows.number = new.number",
                [*columns(rows), session_id],
            )

    def delete(self, session_id: str) -> None:
        self._db.run("DELETE FROM vault_sessions WHERE session_id = %s", [session_id])

    def latest_time(self) -> float:
        return float(self._db.value("SELECT latest FROM vault_clock WHERE id = 1") or 0.0)

    def note_time(self, now: float) -> None:
        self._db.run(
            "INSERT INTO vault_clock (id, latest) VALUES (1, %s) "
            "ON CONFLICT (id) DO UPDATE SET latest = greatest(vault_clock.latest, excluded.latest)",
            [now],
        )

    def empty_expired(self, now: float, limit: int) -> int:
        return self._db.run(
            "WITH found AS MATERIALIZED "
            "(SELECT session_id FROM vault_sessions WHERE NOT purged AND expires_at <= %s LIMIT %s), "
            "emptied AS (DELETE FROM vault_rows WHERE session_id IN (SELECT session_id FROM found)) "
            "UPDATE vault_sessions SET purged = true WHERE session_id IN (SELECT session_id FROM found)",
            [now, limit],
        ).rowcount

    def delete_emptied(self, expired_by: float, limit: int) -> int:
        return self._db.run(
            "DELETE FROM vault_sessions WHERE session_id IN "
            "(SELECT session_id FROM vault_sessions WHERE purged AND expires_at <= %s LIMIT %s)",
            [expired_by, limit],
        ).rowcount
