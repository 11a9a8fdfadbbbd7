"""A server without the settings that the guarantees rest on is refused, and so is one that is not who it should be."""

import signal
from pathlib import Path

import pytest
from pydantic import SecretStr

from gateway.config.database_url import Database
from gateway.store import StoreError, open_store
from tests import postgres

conninfo_to_dict = pytest.importorskip("psycopg.conninfo").conninfo_to_dict
connection = pytest.importorskip("gateway.store.postgres.connection")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("synchronous_commit = off", "synchronous_commit is neither on nor remote_apply"),
        ("synchronous_commit = local", "synchronous_commit is neither on nor remote_apply"),
        ("default_transaction_read_only = on", "cannot be used: OperationalError"),
    ],
)
def test_a_database_without_its_settings_is_refused(
    server: postgres.Server, database: Database, name: str, tmp_path: Path, setting: str, message: str
) -> None:
    server.sql(f"ALTER DATABASE {name} SET {setting}")
    with pytest.raises(StoreError, match=message):
        open_store(tmp_path, database)
    server.sql(f"ALTER DATABASE {name} RESET ALL")
    open_store(tmp_path, database).close()


def test_another_encoding_is_refused(server: postgres.Server, tmp_path: Path) -> None:
    server.sql("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    with pytest.raises(StoreError, match="its encoding is not UTF8"):
        open_store(tmp_path, Database(server.url("latin")))
    server.sql("DROP DATABASE latin")


def test_an_old_server_is_refused(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "OLDEST", 1_000_000)
    with pytest.raises(StoreError, match="older than version 14"):
        open_store(tmp_path, database)


@pytest.mark.slow
def test_a_server_that_does_not_write_to_the_disk_is_refused(server: postgres.Server, tmp_path: Path) -> None:
    careless = postgres.start(postgres.new_folder(), "fsync=off", "full_page_writes=off")
    try:
        with pytest.raises(StoreError, match="fsync is off, full_page_writes is off"):
            open_store(tmp_path, Database(careless.url("postgres")))
    finally:
        careless.stop(signal.SIGQUIT)


def test_a_session_has_limits_for_others_who_wait(database: Database) -> None:
    with connection.connect(connection.connection_info(database)) as conn:
        names = ("idle_in_transaction_session_timeout", "lock_timeout", "statement_timeout")
        found = [conn.execute(f"SHOW {each}").fetchone()[0] for each in names]
    assert found == ["10s", "10s", "1min"]


def test_tls_and_the_host_are_not_left_to_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in {"PGSSLMODE": "disable", "PGHOSTADDR": "203.0.113.1", "PGPORT": "1"}.items():
        monkeypatch.setenv(variable, value)
    database = Database("postgresql://anna@db.example:5433,other.example/log", SecretStr("p w'"))
    found = conninfo_to_dict(connection.connection_info(database))
    assert {key: found[key] for key in ("host", "port", "sslmode", "hostaddr", "user", "password", "dbname")} == {
        "host": "db.example,other.example",
        "port": "5433,",
        "sslmode": "verify-full",
        "hostaddr": "",
        "user": "anna",
        "password": "p w'",
        "dbname": "log",
    }


def test_an_unreachable_server_is_named_by_its_setting_alone(tmp_path: Path) -> None:
    database = Database(f"postgresql://canary@/canary?host={tmp_path}")
    with pytest.raises(StoreError, match="the database of `database` cannot be used: OperationalError") as refused:
        open_store(tmp_path, database)
    assert "canary" not in str(refused.value)
