"""API keys, the counter of their changes, and what they were used for."""

import sqlite3
from collections.abc import Sequence

from gateway.store.rows import (
    ALL_RECEIPTS,
    LARGEST_NUMBER,
    KeyCallRow,
    KeyRow,
    KeyUseRow,
    PreviousSecretRow,
    ReceiptFilter,
)
from gateway.store.sqlite.selection import select, select_calls

_USE = KeyUseRow._fields[2:]

_COLUMNS = ", ".join(KeyRow._fields)
_INSERT = f"INSERT INTO keys ({_COLUMNS}) VALUES ({', '.join('?' * len(KeyRow._fields))})"
# Receipts as the audit of keys has calls.
_CALLS = """
    SELECT *, (SELECT request_id FROM receipts WHERE sequence = last) AS request_id FROM (
        SELECT
            substr(created_at, 1, 16) || 'Z' AS minute,
            owner AS key_id,
            coalesce(wire, operation) AS call,
            coalesce(code, outcome, iif(wire IS NULL, 'answered', 'open')) AS outcome,
            count(*) AS count,
            coalesce(credential, '') AS credential,
            max(sequence) AS last
        FROM receipts_facts WHERE created_at IS NOT NULL AND operation IS NOT NULL AND {where}
        GROUP BY 1, 2, 3, 4, 6
    )
"""


class Keys:
    """See `interfaces`."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn

    def add(self, key: KeyRow) -> None:
        self._conn.execute(_INSERT, key)
        self._count_change()

    def revoke(self, key_id: str, revoked_at: str) -> KeyRow | None:
        update = "UPDATE keys SET revoked_at = ? WHERE key_id = ? AND revoked_at IS NULL"
        self._conn.execute(update, [revoked_at, key_id])
        self._count_change()
        return self._find(key_id)

    def rotate(self, key_id: str, secret_hash: bytes, now: str, ends_at: str, expires_at: str | None) -> KeyRow | None:
        self._conn.execute("DELETE FROM keys_previous WHERE key_id = ? AND ends_at <= ?", [key_id, now])
        # None of the earlier secrets may outlive the one that is replaced now, which may be known to others.
        self._conn.execute("UPDATE keys_previous SET ends_at = min(ends_at, ?) WHERE key_id = ?", [ends_at, key_id])
        self._conn.execute(
            "INSERT INTO keys_previous SELECT secret_hash, key_id, ? FROM keys WHERE key_id = ? AND revoked_at IS NULL",
            [ends_at, key_id],
        )
        update = "UPDATE keys SET secret_hash = ?, expires_at = ? WHERE key_id = ? AND revoked_at IS NULL"
        if self._conn.execute(update, [secret_hash, expires_at, key_id]).rowcount == 0:
            return None
        self._count_change()
        return self._find(key_id)

    def previous(self) -> list[PreviousSecretRow]:
        query = "SELECT p.* FROM keys_previous p JOIN keys k USING (key_id) WHERE k.revoked_at IS NULL"
        return [PreviousSecretRow(*row) for row in self._conn.execute(query)]

    def _find(self, key_id: str) -> KeyRow | None:
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

    def count_use(self, rows: Sequence[KeyUseRow], forget_before: str) -> None:
        self._conn.execute("DELETE FROM key_usage WHERE period < ?", [forget_before])
        if rows:
            sums = ", ".join(f"{name} = min({name} + excluded.{name}, {LARGEST_NUMBER})" for name in _USE)
            self._conn.execute(
                f"INSERT INTO key_usage VALUES {', '.join(['(?, ?, ?, ?)'] * len(rows))} "
                f"ON CONFLICT (key_id, period) DO UPDATE SET {sums}",
                [column for row in rows for column in row],
            )

    def used(self, key_id: str, period: str) -> tuple[int, int]:
        query = "SELECT requests, characters FROM key_usage WHERE key_id = ? AND period = ?"
        requests, characters = self._conn.execute(query, [key_id, period]).fetchone() or (0, 0)
        return requests, characters

    def count_calls(self, rows: Sequence[KeyCallRow]) -> None:
        self._conn.executemany(
            "INSERT INTO key_calls VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE "
            f"SET count = min(count + excluded.count, {LARGEST_NUMBER}), request_id = excluded.request_id",
            rows,
        )

    def calls(
        self,
        limit: int,
        offset: int,
        sought: ReceiptFilter = ALL_RECEIPTS,
        calls: tuple[str, ...] = (),
        ends: tuple[str, ...] = (),
    ) -> tuple[list[tuple[KeyCallRow, str | None]], int]:
        where, parameters = select_calls(sought, calls, ends)
        return self._calls("key_calls", where, parameters, limit, offset)

    def calls_with_receipts(
        self, limit: int, offset: int, sought: ReceiptFilter
    ) -> tuple[list[tuple[KeyCallRow, str | None]], int]:
        where, parameters = select(sought)
        return self._calls(f"({_CALLS.format(where=where)})", "true", parameters, limit, offset)

    def _calls(
        self, source: str, where: str, parameters: list[str], limit: int, offset: int
    ) -> tuple[list[tuple[KeyCallRow, str | None]], int]:
        columns = ", ".join(
            f"c.{name}" for name in ("count" if each == "amount" else each for each in KeyCallRow._fields)
        )
        rows = self._conn.execute(
            f"SELECT {columns}, label FROM {source} c LEFT JOIN keys USING (key_id) WHERE {where} "
            "ORDER BY c.minute DESC, c.key_id, c.credential, c.call, c.outcome LIMIT ? OFFSET ?",
            [*parameters, limit, offset],
        )
        total = self._conn.execute(f"SELECT count(*) FROM {source} c WHERE {where}", parameters).fetchone()[0]
        return [(KeyCallRow(*row[:-1]), row[-1]) for row in rows], total

    def forget_calls(self, before: str, most: int) -> None:
        for which in ("key_id = '' OR key_id GLOB 'proxy_*'", "NOT (key_id = '' OR key_id GLOB 'proxy_*')"):
            oldest = f"SELECT minute FROM key_calls WHERE {which} ORDER BY minute DESC LIMIT 1 OFFSET ?"
            self._conn.execute(
                f"DELETE FROM key_calls WHERE ({which}) AND (minute < ? OR minute <= coalesce(({oldest}), ''))",
                [before, most],
            )

    def _count_change(self) -> None:
        self._conn.execute("UPDATE keys_revision SET revision = revision + 1")
