"""The receipt log. Columns are read as bytes, because what someone wrote into the file need not be text."""

import sqlite3
from collections.abc import Sequence

from gateway.store.rows import (
    ALL_RECEIPTS,
    LARGEST_NUMBER,
    EndRow,
    FactsRow,
    NewRecord,
    NodeRow,
    OpenReceipt,
    ReceiptFilter,
    StoredHead,
    StoredReceipt,
    StoredRecord,
)
from gateway.store.sqlite.selection import select

_COLUMNS = ", ".join(["sequence", *(f"CAST({name} AS BLOB)" for name in StoredRecord._fields[1:])])
_INSERT = f"INSERT INTO receipts ({', '.join(NewRecord._fields)}) VALUES "
_VALUES = f"({', '.join('?' * len(NewRecord._fields))})"
_FACTS = f"INSERT INTO receipts_facts ({', '.join(FactsRow._fields)}) VALUES ({', '.join('?' * len(FactsRow._fields))})"
_SETS = ", ".join(f"{name} = ?{number}" for number, name in enumerate(EndRow._fields[1:], 2))
_END = (
    f"UPDATE receipts_facts SET {_SETS} "
    "WHERE sequence = (SELECT sequence FROM receipts WHERE request_id = ?1 AND kind = 'receipt')"
)
# Digests of values are in blocks of 2^6 records; another block has the key's mark. The more records in a
# block, the more pages the digests of one request change; a long conversation has a hundred.
_BLOCK, _MARK = 6, -1
_WITH_VALUE = """
    WITH RECURSIVE blocks (block) AS (
        SELECT min(block) FROM receipts_values WHERE block >= 0
        UNION ALL
        SELECT (SELECT min(block) FROM receipts_values WHERE block > blocks.block) FROM blocks WHERE block IS NOT NULL
    )
    SELECT sequence FROM blocks CROSS JOIN receipts_values USING (block) WHERE digest = ?
"""


class Receipts:
    """See `interfaces`."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn

    def add(self, records: Sequence[NewRecord]) -> None:
        if records:
            values = ", ".join([_VALUES] * len(records))
            self._conn.execute(_INSERT + values, [column for record in records for column in record])

    def add_nodes(self, nodes: Sequence[NodeRow]) -> None:
        if nodes:
            values = ", ".join(["(?, ?, ?)"] * len(nodes))
            query = f"INSERT OR REPLACE INTO receipts_tree (level, number, hash) VALUES {values}"
            self._conn.execute(query, [column for node in nodes for column in node])

    def nodes(self, level: int, first: int, count: int) -> list[NodeRow]:
        query = "SELECT level, number, hash FROM receipts_tree WHERE level = ? AND number >= ? ORDER BY number LIMIT ?"
        return [NodeRow(*row) for row in self._conn.execute(query, [level, first, count])]

    def set_head(self, size: int, hash: str, checkpoint: str) -> None:
        self._conn.execute(
            "INSERT INTO receipts_head (id, size, head, checkpoint) VALUES (1, ?, ?, ?) ON CONFLICT (id) "
            "DO UPDATE SET size = excluded.size, head = excluded.head, checkpoint = excluded.checkpoint",
            (size, hash, checkpoint),
        )

    def head(self) -> StoredHead | None:
        query = "SELECT size, CAST(head AS BLOB), CAST(checkpoint AS BLOB) FROM receipts_head WHERE id = 1"
        found = self._conn.execute(query).fetchone()
        if found is None:
            return None
        size = found[0] if isinstance(found[0], int) and 0 <= found[0] <= LARGEST_NUMBER else -1
        return StoredHead(size, *found[1:])

    def filed(self, request_id: str) -> dict[str, tuple[str, str]]:
        query = "SELECT kind, owner, hash FROM receipts WHERE request_id = ?"
        return {kind: (owner, hash) for kind, owner, hash in self._conn.execute(query, [request_id])}

    def find(self, request_id: str, owner: str | None) -> StoredReceipt | None:
        found = self._conn.execute(
            f"SELECT {_COLUMNS} FROM receipts "
            "WHERE request_id = ?1 AND kind = 'receipt' AND (?2 IS NULL OR owner = ?2)",
            [request_id, owner],
        ).fetchone()
        return self._with_outcomes([StoredRecord(*found)])[0] if found else None

    def without_outcome(self, first: int, last: int, instances: Sequence[str] = ()) -> list[OpenReceipt]:
        query = (
            "SELECT CAST(request_id AS BLOB), owner, CAST(body AS BLOB) FROM receipts AS receipt "
            "WHERE kind = 'receipt' AND sequence BETWEEN ? AND ? AND NOT EXISTS ("
            "SELECT 1 FROM receipts WHERE request_id = receipt.request_id AND kind = 'outcome') ORDER BY sequence"
        )
        return [OpenReceipt(*row) for row in self._conn.execute(query, [first, last])]

    def ended_instances(self) -> dict[str, int]:
        return {}

    def forget_instances(self, instances: Sequence[str]) -> None:
        pass

    def add_facts(self, receipts: Sequence[FactsRow], outcomes: Sequence[EndRow]) -> None:
        if receipts:
            self._conn.executemany(_FACTS, receipts)
        if outcomes:
            self._conn.executemany(_END, outcomes)

    def page(self, limit: int, offset: int, sought: ReceiptFilter = ALL_RECEIPTS) -> tuple[list[StoredReceipt], int]:
        owner, source, where, parameters = sought.owner, "receipts", "kind = 'receipt'", list[str]()
        if sought._replace(owner=None) != ALL_RECEIPTS:
            source, (where, parameters) = "receipts_facts", select(sought)
        elif owner is not None:
            where, parameters = f"{where} AND owner = ?", [owner]
        total = self._conn.execute(f"SELECT count(*) FROM {source} WHERE {where}", parameters).fetchone()[0]
        # The plus has SQLite use the index of times, and sort, rather than look at all receipts in their order.
        order = "+sequence" if sought.since or sought.until else "sequence"
        page = f"SELECT sequence FROM {source} WHERE {where} ORDER BY {order} DESC LIMIT ? OFFSET ?"
        rows = self._conn.execute(
            f"SELECT {_COLUMNS} FROM receipts WHERE sequence IN ({page}) ORDER BY sequence DESC",
            [*parameters, limit, offset],
        )
        return self._with_outcomes([StoredRecord(*row) for row in rows]), total

    def matching(self, sequences: Sequence[int], sought: ReceiptFilter) -> set[int]:
        where, parameters = select(sought)
        marks = ", ".join("?" * len(sequences))
        query = f"SELECT sequence FROM receipts_facts WHERE sequence IN ({marks}) AND {where}"
        return {sequence for (sequence,) in self._conn.execute(query, [*sequences, *parameters])}

    def after(self, sequence: int | None, limit: int) -> list[StoredRecord]:
        where, parameters = ("", []) if sequence is None else ("WHERE sequence > ?", [sequence])
        query = f"SELECT {_COLUMNS} FROM receipts {where} ORDER BY sequence LIMIT ?"
        return [StoredRecord(*row) for row in self._conn.execute(query, [*parameters, limit])]

    def of_kind(self, kind: str, limit: int) -> list[StoredRecord]:
        # The first condition lets the index be used, which has no other kinds.
        query = (
            f"SELECT {_COLUMNS} FROM receipts WHERE kind NOT IN ('receipt', 'outcome') AND kind = ? "
            "ORDER BY sequence DESC LIMIT ?"
        )
        return [StoredRecord(*row) for row in self._conn.execute(query, [kind, limit])]

    def delete_up_to(self, sequence: int) -> None:
        self._conn.execute("DELETE FROM receipts WHERE sequence <= ?", [sequence])
        self._conn.execute("DELETE FROM receipts_facts WHERE sequence <= ?", [sequence])
        query = f"DELETE FROM receipts_values WHERE block BETWEEN 0 AND ?1 >> {_BLOCK} AND sequence <= ?1"
        self._conn.execute(query, [sequence])

    def delete_leaves(self, below: int) -> None:
        self._conn.execute("DELETE FROM receipts_tree WHERE level = 0 AND number < ?", [below])

    def hash_at(self, sequence: int) -> bytes | None:
        query = "SELECT CAST(hash AS BLOB) FROM receipts WHERE sequence = ?"
        found = self._conn.execute(query, [sequence]).fetchone()
        return found[0] if found else None

    def bounds(self) -> tuple[int, int] | None:
        query = "SELECT (SELECT min(sequence) FROM receipts), (SELECT max(sequence) FROM receipts)"
        first, last = self._conn.execute(query).fetchone()
        return None if first is None else (first, last)

    def count(self) -> int:
        return int(self._conn.execute("SELECT count(*) FROM receipts").fetchone()[0])

    def add_values(self, rows: Sequence[tuple[bytes, int]]) -> None:
        self._conn.executemany(
            f"INSERT OR IGNORE INTO receipts_values (block, digest, sequence) VALUES (?2 >> {_BLOCK}, ?1, ?2)", rows
        )

    def with_value(self, digest: bytes, limit: int, offset: int) -> tuple[list[StoredReceipt], int]:
        total = self._conn.execute(f"SELECT count(*) FROM ({_WITH_VALUE})", [digest]).fetchone()[0]
        rows = self._conn.execute(
            f"SELECT {_COLUMNS} FROM receipts WHERE kind = 'receipt' AND sequence IN ("
            f"{_WITH_VALUE} ORDER BY sequence DESC LIMIT ? OFFSET ?) "
            "ORDER BY sequence DESC",
            [digest, limit, offset],
        )
        return self._with_outcomes([StoredRecord(*row) for row in rows]), total

    def set_value_key(self, mark: bytes) -> None:
        self._conn.execute("DELETE FROM receipts_values WHERE block = ?", [_MARK])
        self._conn.execute("INSERT INTO receipts_values (block, digest, sequence) VALUES (?, ?, 0)", [_MARK, mark])

    def value_key(self) -> bytes | None:
        found = self._conn.execute("SELECT digest FROM receipts_values WHERE block = ?", [_MARK]).fetchone()
        return found[0] if found else None

    def _with_outcomes(self, records: list[StoredRecord]) -> list[StoredReceipt]:
        ids = [(record.request_id or b"").decode(errors="replace") for record in records]
        marks = ", ".join("?" * len(ids))
        query = f"SELECT {_COLUMNS} FROM receipts WHERE kind = 'outcome' AND request_id IN ({marks})"
        outcomes = {row.request_id: row for row in (StoredRecord(*found) for found in self._conn.execute(query, ids))}
        return [
            StoredReceipt(id, record, outcomes.get(record.request_id)) for id, record in zip(ids, records, strict=True)
        ]
