"""`doctor`, of a data folder that `serve` would not start with."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.detection import Detector
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
    """Those of the recognizers take a second each time, and have nothing to do with the data folder."""
    monkeypatch.setattr(Detector, "check", lambda _: None)


@pytest.mark.skipif(os.name == "nt", reason="permissions are those of POSIX")
@pytest.mark.parametrize("harm", HARMS)
def test_doctor_names_what_a_start_would_refuse(harm: str, command: Command, ids: list[str]) -> None:
    def store() -> dict[str, str]:
        checks = command.json("doctor", "--gateway-port", "0", "--proxy-port", "0")[1]["checks"]
        return next(dict(check) for check in checks if check["name"] == "store")

    assert store()["ok"]
    HARMS[harm](command.data_dir)
    assert not store()["ok"]
    assert store()["remedy"]
