"""A database of its own for each test, on the server that the worker's tests share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.config.database_url import Database
from gateway.store import Store, open_store
from tests import postgres


@pytest.fixture
def server() -> postgres.Server:
    return postgres.shared()


@pytest.fixture
def database(server: postgres.Server, tmp_path: Path) -> Database:
    return postgres.made(tmp_path)


@pytest.fixture
def name(database: Database) -> str:
    return database.url.rpartition("@/")[2].partition("?")[0]


@pytest.fixture
def store(database: Database, tmp_path: Path) -> Iterator[Store]:
    store = open_store(tmp_path, database)
    yield store
    store.close()
