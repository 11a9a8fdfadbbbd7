"""Fixtures that every part's tests may use."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A machine's speed is nobody's business here; benchmarks/ measures.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The gateway runs on asyncio alone, as mitmproxy does."""
    return "asyncio"


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """The developer's own SVC_* variables would change what is tested, and what is started by tests."""
    for variable in [name for name in os.environ if name.startswith("SVC_")]:
        monkeypatch.delenv(variable)


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
