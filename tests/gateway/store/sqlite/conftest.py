"""A SQLite store that each test has for itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.store.sqlite import Store


@pytest.fixture
def path(data_dir: Path) -> Path:
    return data_dir / "gateway.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = Store.open(path)
    yield store
    store.close()
