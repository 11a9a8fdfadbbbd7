"""Every released schema is brought up to today's; a newer one, and a foreign file, are refused."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.store import StoreError
from gateway.store.sqlite import SqliteStore, migrations
from gateway.store.sqlite.connection import connect_writer
from gateway.usage import usage

pytestmark = pytest.mark.slow

# One file for each released version: what its database looks like, with a row of each kind.
RELEASED = sorted((Path(__file__).parent / "released").glob("*.sql"))


def schema(path: Path) -> list[tuple[str, ...]]:
    with sqlite3.connect(path) as conn:
        rows = conn.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name").fetchall()
    conn.close()
    return [tuple(" ".join(str(part).split()) for part in row) for row in rows]


def fill(path: Path, script: str) -> None:
    conn = sqlite3.connect(path)
    conn.executescript(script)
    conn.close()


def test_there_is_a_released_schema() -> None:
    assert RELEASED


@pytest.mark.parametrize("released", RELEASED, ids=lambda file: file.stem)
def test_a_released_schema_becomes_todays_and_keeps_its_rows(released: Path, tmp_path: Path) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    fill(old, released.read_text(encoding="utf-8"))
    SqliteStore.open(old).close()
    SqliteStore.open(new).close()
    assert schema(old) == schema(new)
    conn = sqlite3.connect(old)
    for table in ("receipts", "receipts_head", "usage", "vault_sessions", "vault_rows", "keys", "policies"):
        assert conn.execute(f"SELECT count(*) FROM {table}").fetchone()[0] >= 1, table
    conn.close()


async def test_what_was_counted_before_there_were_days_stays_in_the_totals(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    fill(path, (Path(__file__).parent / "released" / "0.1.0.sql").read_text(encoding="utf-8"))
    store = SqliteStore.open(path)
    meters = await usage(store)
    store.close()
    assert (meters["total_operations"], meters["tokens"]["external"], meters["days"]) == (1, 20, [])


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "gateway.db"
    SqliteStore.open(path).close()
    before = schema(path)
    SqliteStore.open(path).close()
    assert schema(path) == before


def test_a_newer_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "gateway.db"
    SqliteStore.open(path).close()
    fill(path, "INSERT INTO migrations (id) VALUES ('9999_from_the_future')")
    before = schema(path)
    with pytest.raises(StoreError, match="newer version"):
        SqliteStore.open(path)
    assert schema(path) == before


def test_a_foreign_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "gateway.db"
    fill(path, "CREATE TABLE somebody_elses (value TEXT)")
    with pytest.raises(StoreError, match="not one of this gateway"):
        SqliteStore.open(path)
    assert [name for _, name, _ in schema(path)] == ["somebody_elses"]


def test_a_step_that_fails_leaves_nothing_of_any_step(tmp_path: Path) -> None:
    db = connect_writer(tmp_path / "gateway.db")
    with pytest.raises(StoreError):
        migrations.apply(db, {"1": "CREATE TABLE one (value TEXT);", "2": "CREATE TABLE two (value TEXT); not SQL;"})
    assert db.table_names() == []
    db.close()


def test_steps_run_once_and_in_order(tmp_path: Path) -> None:
    first = "CREATE TABLE ran (id TEXT); INSERT INTO ran VALUES ('b');"
    steps = {"b": first, "a": "INSERT INTO ran VALUES ('a');"}
    db = connect_writer(tmp_path / "gateway.db")
    migrations.apply(db, steps)
    migrations.apply(db, {**steps, "c": "INSERT INTO ran VALUES ('c');"})
    ran = [id for (id,) in db.conn.execute("SELECT id FROM ran ORDER BY rowid")]
    db.close()
    assert ran == ["b", "a", "c"]


def test_steps_are_read_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("0002_a", "0001_b"):
        (tmp_path / f"{name}.sql").write_text(f"-- {name}", encoding="utf-8")
    assert list(migrations.read_steps(tmp_path).items()) == [("0001_b", "-- 0001_b"), ("0002_a", "-- 0002_a")]


def test_two_steps_of_one_number_are_a_mistake(tmp_path: Path) -> None:
    for name in ("0001_one", "0001_other"):
        (tmp_path / f"{name}.sql").touch()
    with pytest.raises(ValueError, match="two migrations"):
        migrations.read_steps(tmp_path)


def test_several_processes_may_start_at_once(tmp_path: Path) -> None:
    path = tmp_path / "gateway.db"
    code = (
        "import sys; from pathlib import Path; from gateway.store.sqlite import SqliteStore; "
        "SqliteStore.open(Path(sys.argv[1])).close()"
    )
    started = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(3)]
    assert [process.wait(60) for process in started] == [0, 0, 0]
    SqliteStore.open(tmp_path / "other.db").close()
    assert schema(path) == schema(tmp_path / "other.db")
