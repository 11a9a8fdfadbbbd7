"""`doctor`, of a data folder that `serve` would not start with."""

import os
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from gateway.cli.health_checks import check_store
from gateway.config.settings import load_settings
from gateway.detection import Detector
from gateway.store import open_store
from tests.gateway.cli.support import Command

HARMS: dict[str, Callable[[Path], object]] = {
    "no key": lambda data: (data / "signing.key").unlink(),
    "an empty key": lambda data: (data / "signing.key").write_bytes(b""),
    "a key that others can read": lambda data: (data / "signing.key").chmod(0o644),
    "another key": lambda data: (data / "signing.key").write_bytes(bytes(range(32))),
    "a damaged checkpoint": lambda data: (data / "receipts.checkpoint").write_bytes(b"x"),
    "no database": lambda data: [file.unlink() for file in data.glob("gateway.db*")],
}


@pytest.fixture(autouse=True)
def _no_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks of the recognizers take a second each time, and do not depend on the data folder."""
    monkeypatch.setattr(Detector, "check", lambda _: None)


def of_store(command: Command) -> dict[str, str]:
    return found(command, "store")


def found(command: Command, name: str) -> dict[str, str]:
    checks = command.json("doctor", "--gateway-port", "0", "--proxy-port", "0")[1]["checks"]
    return next(dict(check) for check in checks if check["name"] == name)


@pytest.mark.skipif(os.name == "nt", reason="permissions are those of POSIX")
@pytest.mark.parametrize("harm", HARMS)
def test_doctor_names_what_a_start_would_refuse(harm: str, command: Command, ids: list[str]) -> None:
    assert of_store(command)["ok"]
    HARMS[harm](command.data_dir)
    assert not of_store(command)["ok"]
    assert of_store(command)["remedy"]


def test_doctor_tells_of_a_clock_that_was_ahead(command: Command, ids: list[str]) -> None:
    """Sessions end by the time that the database remembers, however long ago the clock was set right."""
    assert found(command, "clock")["ok"]
    with closing(open_store(command.data_dir)) as store:
        store.submit(lambda stored: stored.sessions.note_time(time.time() + 86400)).result()
    assert "behind the latest record" in found(command, "clock")["detail"]
    assert not found(command, "clock")["ok"]


def test_doctor_takes_the_port_of_every_listener(command: Command, ids: list[str]) -> None:
    """Its own remedies name these options."""
    ports = [part for name in ("gateway", "proxy", "web") for part in (f"--{name}-port", "0")]
    assert {"port (gateway)", "port (proxy)", "port (web)"} <= {
        check["name"] for check in command.json("doctor", *ports)[1]["checks"]
    }


def test_doctor_writes_to_tell_a_full_disk(command: Command, ids: list[str]) -> None:
    resource = pytest.importorskip("resource")
    assert of_store(command)["ok"]
    # Reading the database makes its own two files.
    left = {file.name for file in command.data_dir.iterdir() if not file.name.startswith("gateway.db")}
    assert left == {"receipts.checkpoint", "signing.key"}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # No file may be longer, as if the disk had no more room.
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        full = check_store(load_settings(None, data_dir=command.data_dir))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not full.ok
    assert full.detail == f"{command.data_dir} cannot be written to: File too large"
