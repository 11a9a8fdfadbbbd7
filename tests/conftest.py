"""Fixtures that every part's tests may use, and the order in which they run."""

import gc
import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

# A machine's speed is nobody's business here; benchmarks/ measures.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# The developer's own settings would change what is tested, and what is started by tests.
for _variable in [name for name in os.environ if name.startswith("SVC_")]:
    del os.environ[_variable]

ROOT = Path(__file__).resolve().parent.parent

# One worker runs a whole file, so these start first: one that started last would keep the others waiting for it.
_LONGEST = (
    "test_openapi.py",
    "test_connection_limits.py",
    "test_newcomers_path.py",
    "test_nothing_phones_home.py",
    "test_vectors.py",
    "test_faulty_detection.py",
    "test_law_1_nothing_crosses_unprotected.py",
    "test_law_2_an_edit_lets_nothing_out.py",
    "test_mitmweb_browser.py",
    "test_law_1_keys_and_credentials.py",
    "test_law_5_the_same_turn_gives_the_same_bytes.py",
    "test_one_process.py",
    "test_bad_input.py",
    "test_graceful_shutdown.py",
    "test_law_3_a_receipt_first.py",
    "test_operator_edits.py",
    "test_setup.py",
    "test_linear.py",
    "test_package.py",
    "test_start_errors.py",
    "test_benchmarks.py",
    "test_clean_text.py",
    "test_tunnels.py",
    "test_google_sdk.py",
)
_RANK = {name: rank for rank, name in enumerate(_LONGEST)}


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays. To look for garbage in it, time and again, would take every worker seconds."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000)
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: _RANK.get(item.path.name, len(_RANK)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """A worker for each core, and where all tests run, half as many again: end-to-end tests often wait.

    Each has an interpreter, a model and forked programs of its own, so that two for each core take more than they fill.
    """
    cores = os.process_cpu_count() if sys.version_info >= (3, 13) else os.cpu_count()
    cores = cores or 1
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
    """The labelled documents beside the checkout. They are not part of the repository."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the labelled data (../shared/data) is not on this machine")
    return folder
