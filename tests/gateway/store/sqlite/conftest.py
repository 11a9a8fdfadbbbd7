"""A SQLite store that each test has for itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.store.sqlite import SqliteStore


@pytest.fixture
def path(data_dir: Path) -> Path:
    return data_dir / "gateway.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore.open(path)
    yield store
    store.close()
