"""Fixtures that every part's tests may use, and the order in which they run."""

import gc
import json
import os
import sys
import warnings
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Tests do not depend on the speed of a machine; benchmarks/ measures it.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# mitmproxy and what it brings along use deprecated names of others while they are imported.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import mitmproxy.tools.web.master  # noqa: F401

# The developer's own settings would change what is tested, and what is started by tests.
for _variable in [name for name in os.environ if name.startswith("SVC_")]:
    del os.environ[_variable]

ROOT = Path(__file__).resolve().parent.parent

# Tests that take many seconds, most of them in processes of their own; the longest first.
_LONG = (
    "tests/test_package.py::test_the_documented_command",
    "tests/test_package.py",
    "tests/e2e/test_newcomers_path.py",
    "tests/e2e/test_openapi.py",
    "tests/e2e/test_nothing_phones_home.py",
    "tests/e2e/test_soak.py",
    "tests/e2e/test_hangup.py",
    "tests/e2e/test_two_processes.py",
    "tests/e2e/test_secrets_at_start.py",
    "tests/test_",
    "tests/e2e/test_server_of_its_own.py",
    "tests/e2e/test_graceful_shutdown.py",
    "tests/e2e/test_law_",
)


def vectors(name: str) -> Any:
    """Reads a file of tests/vectors, whose name says what its cases are."""
    return json.loads((ROOT / "tests" / "vectors" / f"{name}.json").read_text(encoding="utf-8"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keeps the garbage collector off what is collected, which stays: it would take each worker seconds."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000)
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Has each worker begin with some of the longest tests: work stealing first gives each an equal share in a row."""
    workers = getattr(config, "workerinput", {"workercount": 1})["workercount"]
    long: list[list[pytest.Item]] = [[] for _ in range(workers)]
    rest = list(items)
    for number, start in enumerate(_LONG):
        long[number % workers] += [item for item in rest if item.nodeid.startswith(start)]
        rest = [item for item in rest if not item.nodeid.startswith(start)]
    items.clear()
    for number, first in enumerate(long):
        share = (len(rest) + sum(map(len, long[number:]))) // (workers - number)
        more = max(0, share - len(first))
        items += [*first, *rest[:more]]
        del rest[:more]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """A worker for each core, and where all tests run, half as many again: end-to-end tests often wait.

    Each has an interpreter, a model and forked programs of its own, so that two for each core take more than they fill.
    """
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return cores if config.option.markexpr else cores + (cores + 1) // 2


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The gateway runs on asyncio alone, as mitmproxy does."""
    return "asyncio"


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A data folder of this test's own, closed to others as the gateway wants it."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The labelled documents next to the checkout. They are not part of the repository."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the labelled data (../shared/data) is not on this machine")
    return folder
