"""The backends that the tests in this folder hold to the interfaces. A new backend is one more entry."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

import pytest

from gateway.store import ReadOnlyStore, Store, open_read_only, open_store
from tests import postgres


class Backend(NamedTuple):
    """How to open a backend that keeps its data in a folder, or finds out from the folder where else it is."""

    open: Callable[[Path], Store]
    open_read_only: Callable[[Path], AbstractContextManager[ReadOnlyStore]]


BACKENDS = {
    "sqlite": Backend(open_store, open_read_only),
    "postgres": Backend(
        lambda folder: open_store(folder, postgres.made(folder)),
        lambda folder: open_read_only(folder, postgres.shared().database(folder)),
    ),
}


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return BACKENDS[request.param]


@pytest.fixture
def store(backend: Backend, data_dir: Path) -> Iterator[Store]:
    store = backend.open(data_dir)
    yield store
    store.close()


@pytest.fixture
def other_store(backend: Backend, data_dir: Path, store: Store) -> Iterator[Store]:
    """The same database, as another process has it."""
    other = backend.open(data_dir)
    yield other
    other.close()
