"""The receipt log. Columns are read as bytes, as every backend returns them."""

from collections.abc import Sequence

from gateway.store.postgres.selection import select
from gateway.store.postgres.statements import Statements, arrays, columns
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

_COLUMNS = ", ".join(["sequence", *(f"convert_to({name}, 'UTF8')" for name in StoredRecord._fields[1:])])
# One round trip also says that this instance still writes.
_INSERT = (
    "WITH renewed AS (INSERT INTO instances VALUES (%s, %s, clock_timestamp()) "
    "ON CONFLICT (instance) DO UPDATE SET seen_at = excluded.seen_at) "
    f"INSERT INTO receipts ({', '.join(NewRecord._fields)}, instance) "
    f"SELECT *, %s FROM unnest({arrays(['bigint', *['text'] * 6])})"
)
# Six times as long as a session may be silent within a transaction.
_SILENCE = "interval '60 seconds'"
_FACTS = f"INSERT INTO receipts_facts ({', '.join(FactsRow._fields)}) SELECT * FROM unnest({{}})".format(
    arrays(["bigint", *["text"] * 11, "bigint"])
)
_END = (
    f"UPDATE receipts_facts SET {', '.join(f'{name} = ended.{name}' for name in EndRow._fields[1:])} "
    f"FROM unnest({arrays(['text'] * 3 + ['bigint'] * 3)}) AS ended ({', '.join(EndRow._fields)}) "
    "JOIN receipts ON receipts.request_id = ended.request_id AND receipts.kind = 'receipt' "
    "WHERE receipts_facts.sequence = receipts.sequence"
)
# As in gateway/store/sqlite/receipts.py.
_BLOCK, _MARK = 6, -1
_WITH_VALUE = """
    WITH RECURSIVE blocks (block) AS (
        SELECT min(block) FROM receipts_values WHERE block >= 0
        UNION ALL
        SELECT (SELECT min(block) FROM receipts_values WHERE block > blocks.block) FROM blocks WHERE block IS NOT NULL
    )
    SELECT sequence FROM blocks JOIN receipts_values USING (block) WHERE digest = %s
"""


class Receipts:
    """See `interfaces`."""

    def __init__(self, statements: Statements, instance: str, about: Sequence[str]) -> None:
        self._db = statements
        self._instance = instance
        self._looked_up: dict[str, dict[str, tuple[str, str]]] = {}
        if about:
            self._look_up(about)

    def add(self, records: Sequence[NewRecord]) -> None:
        if records:
            self._looked_up.clear()
            first = min(record.sequence for record in records)
            self._db.run(_INSERT, [self._instance, first, self._instance, *columns(records)])

    def add_nodes(self, nodes: Sequence[NodeRow]) -> None:
        if nodes:
            # A statement replaces a row once.
            unique = {(node.level, node.number): node for node in nodes}
            self._db.run(
                "INSERT INTO receipts_tree (level, number, hash) "
                f"SELECT * FROM unnest({arrays(['bigint', 'bigint', 'bytea'])}) "
                "ON CONFLICT (level, number) DO UPDATE SET hash = excluded.hash",
                columns(unique.values()),
            )

    def nodes(self, level: int, first: int, count: int) -> list[NodeRow]:
        query = (
            "SELECT level, number, hash FROM receipts_tree WHERE level = %s AND number >= %s ORDER BY number LIMIT %s"
        )
        return [NodeRow(*row) for row in self._db.run(query, [level, first, count])]

    def set_head(self, size: int, hash: str, checkpoint: str) -> None:
        self._db.run(
            "INSERT INTO receipts_head (id, size, head, checkpoint) VALUES (1, %s, %s, %s) ON CONFLICT (id) "
            "DO UPDATE SET size = excluded.size, head = excluded.head, checkpoint = excluded.checkpoint",
            [size, hash, checkpoint],
        )

    def head(self) -> StoredHead | None:
        query = "SELECT size, convert_to(head, 'UTF8'), convert_to(checkpoint, 'UTF8') FROM receipts_head WHERE id = 1"
        found = self._db.run(query).fetchone()
        if found is None:
            return None
        size, head, checkpoint = found
        return StoredHead(size if 0 <= size <= LARGEST_NUMBER else -1, head, checkpoint)

    def filed(self, request_id: str) -> dict[str, tuple[str, str]]:
        if request_id not in self._looked_up:
            self._look_up([request_id])
        return dict(self._looked_up[request_id])

    def _look_up(self, request_ids: Sequence[str]) -> None:
        """Reads the records of requests in one round trip, for `filed` in this transaction."""
        self._looked_up |= {request_id: {} for request_id in request_ids}
        query = "SELECT request_id, kind, owner, hash FROM receipts WHERE request_id = ANY(%s)"
        for request_id, kind, owner, hash in self._db.run(query, [list(request_ids)]):
            self._looked_up[request_id][kind] = (owner, hash)

    def find(self, request_id: str, owner: str | None) -> StoredReceipt | None:
        where, parameters = ("", [request_id]) if owner is None else ("AND owner = %s", [request_id, owner])
        found = self._db.run(
            f"SELECT {_COLUMNS} FROM receipts WHERE request_id = %s AND kind = 'receipt' {where}", parameters
        ).fetchone()
        return self._with_outcomes([StoredRecord(*found)])[0] if found else None

    def without_outcome(self, first: int, last: int, instances: Sequence[str] = ()) -> list[OpenReceipt]:
        of_them = "AND instance = ANY(%s)" if instances else ""
        query = (
            "SELECT convert_to(request_id, 'UTF8'), owner, convert_to(body, 'UTF8') FROM receipts AS receipt "
            f"WHERE kind = 'receipt' AND sequence BETWEEN %s AND %s {of_them} AND NOT EXISTS ("
            "SELECT 1 FROM receipts WHERE request_id = receipt.request_id AND kind = 'outcome') ORDER BY sequence"
        )
        parameters = [first, last, *([list(instances)] if instances else [])]
        return [OpenReceipt(*row) for row in self._db.run(query, parameters)]

    def ended_instances(self) -> dict[str, int]:
        query = f"SELECT instance, first FROM instances WHERE seen_at < clock_timestamp() - {_SILENCE}"
        return dict(self._db.run(query).fetchall())

    def forget_instances(self, instances: Sequence[str]) -> None:
        query = f"DELETE FROM instances WHERE instance = ANY(%s) AND seen_at < clock_timestamp() - {_SILENCE}"
        self._db.run(query, [list(instances)])

    def add_facts(self, receipts: Sequence[FactsRow], outcomes: Sequence[EndRow]) -> None:
        if receipts:
            self._db.run(_FACTS, columns(receipts))
        if outcomes:
            self._db.run(_END, columns(outcomes))

    def page(self, limit: int, offset: int, sought: ReceiptFilter = ALL_RECEIPTS) -> tuple[list[StoredReceipt], int]:
        owner, source, where, parameters = sought.owner, "receipts", "kind = 'receipt'", list[object]()
        if sought._replace(owner=None) != ALL_RECEIPTS:
            source, (where, parameters) = "receipts_facts", select(sought)
        elif owner is not None:
            where, parameters = f"{where} AND owner = %s", [owner]
        total = self._db.value(f"SELECT count(*) FROM {source} WHERE {where}", parameters)
        page = f"SELECT sequence FROM {source} WHERE {where} ORDER BY sequence DESC LIMIT %s OFFSET %s"
        rows = self._db.run(
            f"SELECT {_COLUMNS} FROM receipts WHERE sequence IN ({page}) ORDER BY sequence DESC",
            [*parameters, limit, offset],
        )
        return self._with_outcomes([StoredRecord(*row) for row in rows]), total

    def matching(self, sequences: Sequence[int], sought: ReceiptFilter) -> set[int]:
        where, parameters = select(sought)
        query = f"SELECT sequence FROM receipts_facts WHERE sequence = ANY(%s) AND {where}"
        return {sequence for (sequence,) in self._db.run(query, [list(sequences), *parameters])}

    def after(self, sequence: int | None, limit: int) -> list[StoredRecord]:
        where, parameters = ("", []) if sequence is None else ("WHERE sequence > %s", [sequence])
        query = f"SELECT {_COLUMNS} FROM receipts {where} ORDER BY sequence LIMIT %s"
        return [StoredRecord(*row) for row in self._db.run(query, [*parameters, limit])]

    def of_kind(self, kind: str, limit: int) -> list[StoredRecord]:
        # The first condition lets the index be used, which has no other kinds.
        query = (
            f"SELECT {_COLUMNS} FROM receipts WHERE kind NOT IN ('receipt', 'outcome') AND kind = %s "
            "ORDER BY sequence DESC LIMIT %s"
        )
        return [StoredRecord(*row) for row in self._db.run(query, [kind, limit])]

    def delete_up_to(self, sequence: int) -> None:
        self._looked_up.clear()
        self._db.run("DELETE FROM receipts WHERE sequence <= %s", [sequence])
        self._db.run("DELETE FROM receipts_facts WHERE sequence <= %s", [sequence])
        query = "DELETE FROM receipts_values WHERE block BETWEEN 0 AND %s AND sequence <= %s"
        self._db.run(query, [sequence >> _BLOCK, sequence])

    def delete_leaves(self, below: int) -> None:
        self._db.run("DELETE FROM receipts_tree WHERE level = 0 AND number < %s", [below])

    def hash_at(self, sequence: int) -> bytes | None:
        found: bytes | None = self._db.value(
            "SELECT convert_to(hash, 'UTF8') FROM receipts WHERE sequence = %s", [sequence]
        )
        return found

    def bounds(self) -> tuple[int, int] | None:
        query = "SELECT (SELECT min(sequence) FROM receipts), (SELECT max(sequence) FROM receipts)"
        first, last = self._db.run(query).fetchall()[0]
        return None if first is None else (first, last)

    def count(self) -> int:
        return int(self._db.value("SELECT count(*) FROM receipts"))

    def add_values(self, rows: Sequence[tuple[bytes, int]]) -> None:
        if rows:
            self._db.run(
                "INSERT INTO receipts_values (block, digest, sequence) "
                f"SELECT * FROM unnest({arrays(['bigint', 'bytea', 'bigint'])}) ON CONFLICT DO NOTHING",
                columns((sequence >> _BLOCK, digest, sequence) for digest, sequence in rows),
            )

    def with_value(self, digest: bytes, limit: int, offset: int) -> tuple[list[StoredReceipt], int]:
        total = self._db.value(f"SELECT count(*) FROM ({_WITH_VALUE}) AS found", [digest])
        rows = self._db.run(
            f"SELECT {_COLUMNS} FROM receipts WHERE kind = 'receipt' AND sequence IN ("
            f"{_WITH_VALUE} ORDER BY sequence DESC LIMIT %s OFFSET %s) "
            "ORDER BY sequence DESC",
            [digest, limit, offset],
        )
        return self._with_outcomes([StoredRecord(*row) for row in rows]), total

    def set_value_key(self, mark: bytes) -> None:
        self._db.run("DELETE FROM receipts_values WHERE block = %s", [_MARK])
        self._db.run("INSERT INTO receipts_values (block, digest, sequence) VALUES (%s, %s, 0)", [_MARK, mark])

    def value_key(self) -> bytes | None:
        found: bytes | None = self._db.value("SELECT digest FROM receipts_values WHERE block = %s", [_MARK])
        return found

    def _with_outcomes(self, records: list[StoredRecord]) -> list[StoredReceipt]:
        ids = [(record.request_id or b"").decode(errors="replace") for record in records]
        query = f"SELECT {_COLUMNS} FROM receipts WHERE kind = 'outcome' AND request_id = ANY(%s)"
        outcomes = {row.request_id: row for row in (StoredRecord(*found) for found in self._db.run(query, [ids]))}
        return [
            StoredReceipt(id, record, outcomes.get(record.request_id)) for id, record in zip(ids, records, strict=True)
        ]
