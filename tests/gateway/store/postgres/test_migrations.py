"""A database gets the tables that are missing, once; one of another version or program is refused and left alone."""

import concurrent.futures
from pathlib import Path

import pytest

from gateway.config.database_url import Database
from gateway.store import StoreError, open_existing_store, open_read_only, open_store, store_exists
from tests import postgres

migrations = pytest.importorskip("gateway.store.postgres.migrations")
connection = pytest.importorskip("gateway.store.postgres.connection")

TABLES = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1"


def test_a_database_without_tables_is_made_by_the_gateway_alone(
    server: postgres.Server, database: Database, name: str, tmp_path: Path
) -> None:
    for refuse in (lambda: open_existing_store(tmp_path, database), open_read_only(tmp_path, database).__enter__):
        with pytest.raises(StoreError, match="start the gateway once"):
            refuse()
    assert not store_exists(tmp_path, database)
    assert server.sql(TABLES, name) == []
    open_store(tmp_path, database).close()
    assert store_exists(tmp_path, database)
    open_existing_store(tmp_path, database).close()


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("CREATE TABLE other_program (value TEXT)", "not one of this gateway; name another database"),
        ("CREATE TABLE migrations (id TEXT); INSERT INTO migrations VALUES ('9999_later')", "by a newer version"),
    ],
)
def test_a_database_that_this_version_does_not_know_is_refused_and_left_alone(
    server: postgres.Server, database: Database, name: str, tmp_path: Path, script: str, message: str
) -> None:
    server.sql(script, name)
    before = server.sql(TABLES, name)
    with pytest.raises(StoreError, match=message):
        open_store(tmp_path, database)
    assert server.sql(TABLES, name) == before


def test_a_database_of_an_older_version_waits_for_a_start(
    server: postgres.Server, database: Database, name: str, tmp_path: Path
) -> None:
    server.sql("CREATE TABLE migrations (id TEXT)", name)
    with pytest.raises(StoreError, match="start this version once"):
        open_existing_store(tmp_path, database)


def test_steps_run_once_and_in_order_or_none_of_them(server: postgres.Server, database: Database, name: str) -> None:
    steps = {"b": "CREATE TABLE ran (id TEXT); INSERT INTO ran VALUES ('b');", "a": "INSERT INTO ran VALUES ('a');"}
    with connection.connect(connection.connection_info(database)) as conn:
        with pytest.raises(StoreError):
            migrations.apply(conn, {**steps, "c": "CREATE TABLE two (value TEXT); not SQL;"})
        assert server.sql(TABLES, name) == []
        migrations.apply(conn, steps)
        migrations.apply(conn, {**steps, "c": "INSERT INTO ran VALUES ('c');"})
    assert server.sql("SELECT string_agg(id, '') FROM ran", name) == [("bac",)]


def test_several_gateways_may_start_at_once(database: Database, tmp_path: Path) -> None:
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for store in pool.map(lambda _: open_store(tmp_path, database), range(4)):
            store.close()
