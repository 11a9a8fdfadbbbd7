"""URLs of databases: where the server is, TLS to all but this machine, and no password."""

import pytest
from pydantic import ValidationError

from gateway.config.database_url import check_database, parse_database
from gateway.config.loading import load_settings
from gateway.config.settings import SettingsError


@pytest.mark.parametrize(
    ("url", "user", "hosts", "ports", "is_local"),
    [
        ("postgresql://db.example/log", "", ("db.example",), ("",), False),
        ("postgres://anna@db.example:5433/log", "anna", ("db.example",), ("5433",), False),
        ("postgresql://a%40b@one.example,two.example:1/log", "a@b", ("one.example", "two.example"), ("", "1"), False),
        ("postgresql://localhost/log?sslmode=disable", "", ("localhost",), ("",), True),
        ("postgresql://127.0.0.2:1/log", "", ("127.0.0.2",), ("1",), True),
        ("postgresql://[::1]:5432/log", "", ("::1",), ("5432",), True),
        ("postgresql:///log?host=/var/run/postgresql&user=anna", "anna", ("/var/run/postgresql",), ("",), True),
        ("postgresql://%2Fvar%2Frun/log", "", ("/var/run",), ("",), True),
        ("postgresql://localhost,db.example/log", "", ("localhost", "db.example"), ("", ""), False),
        ("postgresql://localhost.example/log", "", ("localhost.example",), ("",), False),
    ],
)
def test_a_url_is_taken_apart(
    url: str, user: str, hosts: tuple[str, ...], ports: tuple[str, ...], *, is_local: bool
) -> None:
    assert check_database(url) == url
    parts = parse_database(url)
    assert (parts.user, parts.hosts, parts.ports, parts.name, parts.is_local) == (user, hosts, ports, "log", is_local)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("postgresql://anna:canary@db.example/log", "must not contain a password"),
        ("postgresql://:canary@db.example/log", "must not contain a password"),
        ("postgresql://db.example/log?password=canary", "must not contain a password"),
        ("postgresql://db.example/log?sslpassword=canary", "must not contain a password"),
        ("mysql://canary/log", "postgresql://host/name"),
        ("postgresql://canary", "postgresql://host/name"),
        ("postgresql://canary/", "postgresql://host/name"),
        ("/var/lib/canary.db", "postgresql://host/name"),
        ("postgresql:///canary", "name the host"),
        ("postgresql://one,,canary/log", "name the host"),
        ("postgresql://canary/log?host=other", "name the host once"),
        ("postgresql://canary:port/log", "a port is a number"),
        ("postgresql://canary/log?port=1", "write the port after the host"),
        ("postgresql://canary/log?hostaddr=127.0.0.1", "the only parameters"),
        ("postgresql://canary/log?options=-csynchronous_commit%3Doff", "the only parameters"),
        ("postgresql://canary/log?sslmode=verify-full&sslmode=disable", "at most once"),
        ("postgresql://canary/log?sslmode", "cannot be read"),
        ("postgresql://canary/log?sslmode=require", "needs TLS with a verified name"),
        ("postgresql://localhost,canary/log?sslmode=prefer", "needs TLS with a verified name"),
    ],
)
def test_a_url_is_refused_without_being_repeated(url: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as refused:
        check_database(url)
    assert "canary" not in str(refused.value)
    with pytest.raises((SettingsError, ValidationError)) as unusable:
        load_settings(database=url)
    assert "canary" not in str(unusable.value)


def test_a_password_comes_by_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_PASSWORD", "canary")
    found = load_settings(database="postgresql://localhost/log", database_password="env:DATABASE_PASSWORD").postgresql
    assert found is not None
    assert found.password is not None
    assert found.password.get_secret_value() == "canary"
    assert "canary" not in repr(found)
    assert load_settings().postgresql is None
