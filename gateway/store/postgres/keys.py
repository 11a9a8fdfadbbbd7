"""API keys, the counter of their changes, and what they were used for."""

from collections.abc import Sequence

from gateway.store.postgres.selection import select, select_calls
from gateway.store.postgres.statements import Statements, arrays, columns
from gateway.store.rows import (
    ALL_RECEIPTS,
    LARGEST_NUMBER,
    KeyCallRow,
    KeyRow,
    KeyUseRow,
    PreviousSecretRow,
    ReceiptFilter,
)

_COLUMNS = ", ".join(KeyRow._fields)
_INSERT = f"INSERT INTO keys ({_COLUMNS}) VALUES ({', '.join(['%s'] * len(KeyRow._fields))})"
_USE_TYPES = arrays(["text", "text", "bigint", "bigint"])
_CALL_TYPES = arrays([*["text"] * 4, "bigint", "text", "text"])
# Receipts as the audit of keys has calls.
_CALLS = """
    SELECT *, (SELECT request_id FROM receipts WHERE sequence = last) AS request_id FROM (
        SELECT
            substr(created_at, 1, 16) || 'Z' AS minute,
            owner AS key_id,
            coalesce(wire, operation) AS call,
            coalesce(code, outcome, CASE WHEN wire IS NULL THEN 'answered' ELSE 'open' END) AS outcome,
            count(*) AS count,
            coalesce(credential, '') AS credential,
            max(sequence) AS last
        FROM receipts_facts WHERE created_at IS NOT NULL AND operation IS NOT NULL AND {where}
        GROUP BY 1, 2, 3, 4, 6
    ) AS grouped
"""


class Keys:
    """See `interfaces`."""

    def __init__(self, statements: Statements) -> None:
        self._db = statements

    def add(self, key: KeyRow) -> None:
        self._db.run(_INSERT, key)
        self._count_change()

    def revoke(self, key_id: str, revoked_at: str) -> KeyRow | None:
        update = "UPDATE keys SET revoked_at = %s WHERE key_id = %s AND revoked_at IS NULL"
        self._db.run(update, [revoked_at, key_id])
        self._count_change()
        return self._find(key_id)

    def rotate(self, key_id: str, secret_hash: bytes, now: str, ends_at: str, expires_at: str | None) -> KeyRow | None:
        self._db.run("DELETE FROM keys_previous WHERE key_id = %s AND ends_at <= %s", [key_id, now])
        # None of the earlier secrets may outlive the one that is replaced now, which may be known to others.
        self._db.run("UPDATE keys_previous SET ends_at = least(ends_at, %s) WHERE key_id = %s", [ends_at, key_id])
        self._db.run(
            "INSERT INTO keys_previous SELECT secret_hash, key_id, %s FROM keys "
            "WHERE key_id = %s AND revoked_at IS NULL",
            [ends_at, key_id],
        )
        update = "UPDATE keys SET secret_hash = %s, expires_at = %s WHERE key_id = %s AND revoked_at IS NULL"
        if self._db.run(update, [secret_hash, expires_at, key_id]).rowcount == 0:
            return None
        self._count_change()
        return self._find(key_id)

    def previous(self) -> list[PreviousSecretRow]:
        query = (
            "SELECT secret_hash, key_id, ends_at FROM keys_previous WHERE key_id IN "
            "(SELECT key_id FROM keys WHERE revoked_at IS NULL)"
        )
        return [
            PreviousSecretRow(secret_hash=hash, key_id=key_id, ends_at=end) for hash, key_id, end in self._db.run(query)
        ]

    def _find(self, key_id: str) -> KeyRow | None:
        found = self._db.run(f"SELECT {_COLUMNS} FROM keys WHERE key_id = %s", [key_id]).fetchone()
        return KeyRow(*found) if found else None

    def all(self) -> list[KeyRow]:
        return [KeyRow(*row) for row in self._db.run(f"SELECT {_COLUMNS} FROM keys ORDER BY created_at, position")]

    def active(self) -> list[KeyRow]:
        return [KeyRow(*row) for row in self._db.run(f"SELECT {_COLUMNS} FROM keys WHERE revoked_at IS NULL")]

    def revision(self) -> int:
        return int(self._db.value("SELECT revision FROM keys_revision"))

    def count_use(self, rows: Sequence[KeyUseRow], forget_before: str) -> None:
        self._db.run("DELETE FROM key_usage WHERE period < %s", [forget_before])
        if rows:
            sums = ", ".join(
                f"{name} = least(key_usage.{name} + excluded.{name}, {LARGEST_NUMBER})"
                for name in KeyUseRow._fields[2:]
            )
            self._db.run(
                f"INSERT INTO key_usage SELECT * FROM unnest({_USE_TYPES}) "
                f"ON CONFLICT (key_id, period) DO UPDATE SET {sums}",
                columns(rows),
            )

    def used(self, key_id: str, period: str) -> tuple[int, int]:
        query = "SELECT requests, characters FROM key_usage WHERE key_id = %s AND period = %s"
        requests, characters = self._db.run(query, [key_id, period]).fetchone() or (0, 0)
        return requests, characters

    def count_calls(self, rows: Sequence[KeyCallRow]) -> None:
        if rows:
            self._db.run(
                f"INSERT INTO key_calls SELECT * FROM unnest({_CALL_TYPES}) "
                "ON CONFLICT (minute, key_id, call, outcome, credential) DO UPDATE "
                f"SET count = least(key_calls.count + excluded.count, {LARGEST_NUMBER}), "
                "request_id = excluded.request_id",
                columns(rows),
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
        self, source: str, where: str, parameters: list[object], limit: int, offset: int
    ) -> tuple[list[tuple[KeyCallRow, str | None]], int]:
        names = ", ".join(f"c.{'count' if each == 'amount' else each}" for each in KeyCallRow._fields)
        rows = self._db.run(
            f"SELECT {names}, label FROM {source} c LEFT JOIN keys USING (key_id) WHERE {where} "
            "ORDER BY c.minute DESC, c.key_id, c.credential, c.call, c.outcome LIMIT %s OFFSET %s",
            [*parameters, limit, offset],
        ).fetchall()
        total = self._db.value(f"SELECT count(*) FROM {source} c WHERE {where}", parameters)
        return [(KeyCallRow(*row[:-1]), row[-1]) for row in rows], total

    def forget_calls(self, before: str, most: int) -> None:
        strangers = "(key_id = '' OR starts_with(key_id, 'proxy_'))"
        for which in (strangers, f"NOT {strangers}"):
            oldest = f"SELECT minute FROM key_calls WHERE {which} ORDER BY minute DESC LIMIT 1 OFFSET %s"
            self._db.run(
                f"DELETE FROM key_calls WHERE {which} AND (minute < %s OR minute <= coalesce(({oldest}), ''))",
                [before, most],
            )

    def _count_change(self) -> None:
        self._db.run("UPDATE keys_revision SET revision = revision + 1")
