"""A database gets the tables that are missing; one of a newer version, and that of another program, are refused."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from gateway.receipts.drafts import OutcomeDraft
from gateway.store import StoreError, open_read_only, open_store
from gateway.store.sqlite import Store, migrations
from gateway.store.sqlite.connection import connect_writer
from tests.gateway.receipt_log.support import draft, opened, sql

# A migration as a later version may have one: it adds a column and fills it from what is there.
EXAMPLE = """
    ALTER TABLE keys ADD COLUMN used_at TEXT;
    UPDATE keys SET used_at = created_at;
"""
KEY = "INSERT INTO keys VALUES ('key_1', 'laptop', 'client', x'00', '2026-01-02', NULL, NULL, '{}')"


def schema(path: Path) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as conn:
        return conn.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name").fetchall()


def change(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as conn:
        conn.executescript(script)


def test_a_migration_of_a_later_version_keeps_the_rows_and_is_newer_for_this_one(tmp_path: Path) -> None:
    path = tmp_path / "gateway.db"
    Store.open(path).close()
    change(path, KEY)
    db = connect_writer(path)
    later = {**migrations.STEPS, "0002_example": EXAMPLE}
    for _ in range(2):
        migrations.apply(db, later)
    assert list(db.query("SELECT label, used_at FROM keys")) == [{"label": "laptop", "used_at": "2026-01-02"}]
    db.close()
    before = schema(path)
    with pytest.raises(StoreError, match="newer version"):
        Store.open(path)
    assert schema(path) == before


@pytest.mark.slow
async def test_what_receipts_are_found_by_is_read_from_those_of_before(data_dir: Path) -> None:
    """A body that someone changed is none that can be read."""
    with opened(data_dir) as log:
        for number in range(3):
            made = draft(operation="chat" if number else "protect", parties={"model": "o3"} if number else {})
            await log.append(made, "key_anna")
        log.append_outcome(
            made.request_id, OutcomeDraft("refused", 200, (5, 7), code="conflict", tokens_sent=9), "key_anna"
        )
    facts = "SELECT * FROM receipts_facts ORDER BY sequence"
    written = sql(data_dir, facts)
    assert (len(written), [written[2][at] for at in (3, 4, 6)], written[2][13:]) == (
        3,
        ["chat", "default", "o3"],
        ("refused", "conflict", 9, 5, 7),
    )
    change(data_dir / "gateway.db", "DROP TABLE receipts_facts; DELETE FROM migrations WHERE id LIKE '0002%'")
    change(data_dir / "gateway.db", "UPDATE receipts SET body = substr(body, 2) WHERE sequence = 1")
    with pytest.raises(StoreError, match="start this version once"), open_read_only(data_dir):
        pass
    open_store(data_dir).close()
    assert sql(data_dir, facts) == [(1, "key_anna", *[None] * 16), *written[1:]]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("CREATE TABLE other_program (value TEXT)", "not one of this gateway"),
        (
            "CREATE TABLE migrations (id TEXT); INSERT INTO migrations VALUES ('0001_receipts')",
            "before the first release; .* start with another `--data-dir DIR`",
        ),
    ],
)
def test_a_database_that_this_version_does_not_know_is_refused_and_left_alone(
    tmp_path: Path, script: str, message: str
) -> None:
    path = tmp_path / "gateway.db"
    change(path, script)
    before = schema(path)
    with pytest.raises(StoreError, match=message):
        Store.open(path)
    assert schema(path) == before


def test_steps_run_once_and_in_order_or_none_of_them(tmp_path: Path) -> None:
    first = "CREATE TABLE ran (id TEXT); INSERT INTO ran VALUES ('b');"
    steps = {"b": first, "a": "INSERT INTO ran VALUES ('a');"}
    db = connect_writer(tmp_path / "gateway.db")
    with pytest.raises(StoreError):
        migrations.apply(db, {**steps, "c": "CREATE TABLE two (value TEXT); not SQL;"})
    assert db.table_names() == []
    migrations.apply(db, steps)
    migrations.apply(db, {**steps, "c": "INSERT INTO ran VALUES ('c');"})
    assert [id for (id,) in db.conn.execute("SELECT id FROM ran ORDER BY rowid")] == ["b", "a", "c"]
    db.close()


@pytest.mark.slow
def test_several_processes_may_start_at_once(tmp_path: Path) -> None:
    path = tmp_path / "gateway.db"
    code = (
        "import sys; from pathlib import Path; from gateway.store.sqlite import Store; "
        "Store.open(Path(sys.argv[1])).close()"
    )
    started = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(3)]
    assert [process.wait(60) for process in started] == [0, 0, 0]
    before = schema(path)
    for name in ("gateway.db", "other.db"):
        Store.open(tmp_path / name).close()
        assert schema(tmp_path / name) == before
