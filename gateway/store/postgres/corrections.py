"""Values that callers have left in clear or hidden, and what they are checked with."""

from collections.abc import Iterable

from gateway.store.postgres.statements import Statements, arrays, columns
from gateway.store.rows import CorrectionRow, CorrectionsHead

_COLUMNS = ", ".join(CorrectionRow._fields)
_TYPES = arrays(["text"] * 5 + ["bytea"])


class Corrections:
    """See `interfaces`."""

    def __init__(self, statements: Statements) -> None:
        self._db = statements

    def revision(self) -> int:
        found = self._db.value("SELECT revision FROM corrections_head")
        return -1 if found is None else int(found)

    def head(self) -> CorrectionsHead:
        found = self._db.run("SELECT revision, wrapped, previous, mac FROM corrections_head").fetchone()
        return CorrectionsHead(*found) if found else CorrectionsHead(-1)

    def set_head(self, head: CorrectionsHead) -> None:
        self._db.run("DELETE FROM corrections_head")
        self._db.run("INSERT INTO corrections_head VALUES (%s, %s, %s, %s)", head)

    def all(self) -> list[CorrectionRow]:
        rows = self._db.run(f"SELECT {_COLUMNS} FROM corrections ORDER BY correction_id")
        return [CorrectionRow(*row) for row in rows]

    def add(self, rows: Iterable[CorrectionRow]) -> None:
        if new := columns(rows):
            self._db.run(f"INSERT INTO corrections ({_COLUMNS}) SELECT * FROM unnest({_TYPES})", new)

    def delete(self, ids: Iterable[str]) -> None:
        self._db.run("DELETE FROM corrections WHERE correction_id = ANY(%s)", [list(ids)])
