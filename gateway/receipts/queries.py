"""Reading records. Columns are read as bytes, because what somebody wrote into the file need not be text."""

from dataclasses import dataclass

import sqlite_utils

from gateway.receipts.drafts import LARGEST
from gateway.receipts.records import Receipt, Record
from gateway.receipts.verify import HeadRow, Row

_COLUMNS = ", ".join(
    ["sequence", *(f"CAST({name} AS BLOB)" for name in ("kind", "request_id", "body", "hash", "signature"))]
)


@dataclass(frozen=True, slots=True)
class Filed:
    """What the database has under one request id."""

    request_id: str
    record: Row
    outcome: Row | None = None

    def receipt(self) -> Receipt:
        return Receipt(self.request_id, record_of(self.record), record_of(self.outcome) if self.outcome else None)


def read_filed(db: sqlite_utils.Database, request_id: str, owner: str | None) -> Filed | None:
    """The receipt of a request, if `owner` made it (None: whoever made it)."""
    found = db.conn.execute(
        f"SELECT {_COLUMNS} FROM receipts WHERE request_id = ?1 AND kind = 'receipt' AND (?2 IS NULL OR owner = ?2)",  # noqa: S608
        [request_id, owner],
    ).fetchone()
    return _with_outcomes(db, [Row(*found)])[0] if found else None


def read_page(db: sqlite_utils.Database, owner: str | None, limit: int, offset: int) -> tuple[list[Filed], int]:
    """Receipts, newest first, and how many there are."""
    whose, parameters = ("kind = 'receipt'", []) if owner is None else ("kind = 'receipt' AND owner = ?", [owner])
    total = db.conn.execute(f"SELECT count(*) FROM receipts WHERE {whose}", parameters).fetchone()[0]  # noqa: S608
    rows = db.conn.execute(
        f"SELECT {_COLUMNS} FROM receipts WHERE {whose} ORDER BY sequence DESC LIMIT ? OFFSET ?",  # noqa: S608
        [*parameters, limit, offset],
    ).fetchall()
    return _with_outcomes(db, [Row(*row) for row in rows]), total


def read_records(db: sqlite_utils.Database, after: int | None, limit: int) -> list[Row]:
    """Records of both kinds in the order of the chain; None for `after` begins with the first, whatever its number."""
    where, parameters = ("", []) if after is None else ("WHERE sequence > ?", [after])
    rows = db.conn.execute(
        f"SELECT {_COLUMNS} FROM receipts {where} ORDER BY sequence LIMIT ?",  # noqa: S608
        [*parameters, limit],
    )
    return [Row(*row) for row in rows]


def read_hash(db: sqlite_utils.Database, sequence: int) -> bytes | None:
    """The hash that is kept with a record; None where there is no such record."""
    row = db.conn.execute("SELECT CAST(hash AS BLOB) FROM receipts WHERE sequence = ?", [sequence]).fetchone()
    return row[0] if row else None


def read_range(db: sqlite_utils.Database) -> tuple[int, int] | None:
    """The least and the greatest sequence; None where there are no records."""
    query = "SELECT (SELECT min(sequence) FROM receipts), (SELECT max(sequence) FROM receipts)"
    first, last = db.conn.execute(query).fetchone()
    return None if first is None else (first, last)


def count_records(db: sqlite_utils.Database) -> int:
    """Of both kinds."""
    return int(db.conn.execute("SELECT count(*) FROM receipts").fetchone()[0])


def has_records(db: sqlite_utils.Database) -> bool:
    """Whether anything was ever recorded; also where the records are gone and only the head tells."""
    query = "SELECT EXISTS (SELECT 1 FROM receipts UNION ALL SELECT 1 FROM receipts_head WHERE size IS NOT 0)"
    return bool(db.conn.execute(query).fetchone()[0])


def read_head(db: sqlite_utils.Database) -> HeadRow | None:
    row = db.conn.execute(
        "SELECT size, CAST(head AS BLOB), CAST(checkpoint AS BLOB) FROM receipts_head WHERE id = 1"
    ).fetchone()
    if row is None:
        return None
    # A size of another type, or one that JSON cannot carry, is none; the signature is not of it either.
    size = row[0] if isinstance(row[0], int) and 0 <= row[0] <= LARGEST else -1
    return HeadRow(size, *row[1:])


def _with_outcomes(db: sqlite_utils.Database, records: list[Row]) -> list[Filed]:
    ids = [_text(record.request_id) for record in records]
    rows = db.conn.execute(
        f"SELECT {_COLUMNS} FROM receipts WHERE kind = 'outcome' AND request_id IN ({', '.join('?' * len(ids))})",  # noqa: S608
        ids,
    )
    outcomes = {row.request_id: row for row in (Row(*found) for found in rows)}
    return [Filed(id, record, outcomes.get(record.request_id)) for id, record in zip(ids, records, strict=True)]


def record_of(row: Row) -> Record:
    """The record as it lies there, whole or damaged."""
    return Record(row.sequence, _text(row.body), _text(row.hash), _text(row.signature))


def _text(column: bytes | None) -> str:
    return (column or b"").decode(errors="replace")
