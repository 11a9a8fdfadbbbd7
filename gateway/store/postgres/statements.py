"""Runs statements on a connection, for the repositories."""

from collections.abc import Iterable, Sequence
from typing import Any

import psycopg

type Rows = psycopg.Cursor[tuple[Any, ...]]


class Statements:
    """The statements of one transaction or snapshot. Values are always parameters, marked `%s`."""

    def __init__(self, conn: psycopg.Connection) -> None:
        self._conn = conn

    def run(self, query: str, parameters: Sequence[object] = ()) -> Rows:
        return self._conn.execute(query.encode(), [_storable(each) for each in parameters])

    def value(self, query: str, parameters: Sequence[object] = ()) -> Any:
        """The first column of the first row, or None."""
        found = self.run(query, parameters).fetchone()
        return found[0] if found else None


def _storable(value: object) -> object:
    """Replaces NUL, which no text in PostgreSQL has: names that clients choose may, but no JSON and no id."""
    if isinstance(value, str):
        return value.replace("\x00", "\ufffd") if "\x00" in value else value
    return [_storable(each) for each in value] if isinstance(value, list) else value


def columns(rows: Iterable[Sequence[object]]) -> list[list[object]]:
    """Turns rows into one array for each column, so that a statement takes any number of them in one round trip."""
    return [list(column) for column in zip(*rows, strict=True)]


def arrays(types: Iterable[str]) -> str:
    """The markers of such arrays for `unnest`."""
    return ", ".join(f"%s::{type}[]" for type in types)
