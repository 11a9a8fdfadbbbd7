"""Runs commands through the entry point."""

import io
import json
import socket
from pathlib import Path
from typing import Any

import pytest

from gateway.config.locations import BUILTIN_POLICIES
from gateway.policy.registry import PolicyRegistry
from gateway.receipt_log.signing_key import load_signer
from run_proxy import main
from tests.gateway.receipts.verifier import REFUSALS, verify

DEFAULT = PolicyRegistry(BUILTIN_POLICIES).get("default").ref


class Command:
    """Runs a command, or one that begins with `words`, against one data folder and a folder `certs` next to it."""

    def __init__(self, data_dir: Path, capsys: pytest.CaptureFixture[str], *words: str) -> None:
        self.data_dir = data_dir
        self._capsys = capsys
        self._words = words
        self.errors = ""

    @property
    def folders(self) -> tuple[str, ...]:
        return "--data-dir", str(self.data_dir), "--certs-dir", str(self.data_dir.parent / "certs")

    def __call__(self, *words: object) -> tuple[int, str]:
        status = main([*self._words, *map(str, words), *self.folders])
        out, self.errors = self._capsys.readouterr()
        return status, out

    def json(self, *words: object) -> tuple[int, Any]:
        status, out = self(*words, "--json")
        return status, json.loads(out)


def give(monkeypatch: pytest.MonkeyPatch, content: bytes | None, encoding: str = "utf-8") -> None:
    """Puts the content in the place of standard input, or closes it."""
    given = content if content is None else io.TextIOWrapper(io.BytesIO(content), encoding, errors="surrogateescape")
    monkeypatch.setattr("sys.stdin", given)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def verified_by_both(command: Command, file: Path, *keys: str) -> Any:
    """Returns what `verify FILE` prints with the keys, or else the installation's; the second verifier agrees."""
    keys = keys or (load_signer(command.data_dir).public_bytes.hex(),)
    options = [word for key in keys for word in ("--key", key)]
    status, done = command.json("receipts", "verify", str(file), *options)
    assert status == (0 if done["valid"] else 1)
    try:
        verify(file.read_bytes(), keys)
    except REFUSALS:
        assert not done["valid"]
    else:
        assert done["valid"]
    return done


def checked(command: Command, file: Path, *keys: str) -> list[str]:
    """Returns the checks that a file fails, with the keys or else the installation's. The second verifier agrees."""
    return [check["name"] for check in verified_by_both(command, file, *keys)["checks"] if not check["ok"]]
