"""The operator key and mitmweb's token are shown on a terminal, or are in files; no log ever has them."""

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.e2e import preloaded
from tests.e2e.preloaded import Program
from tests.e2e.server import COMMAND, PLAIN
from tests.e2e.terminal import Terminal

READY = "Stop with Ctrl-C."


def arguments(folder: Path) -> list[str]:
    given = ["serve", "--data-dir", str(folder / "the data"), "--certs-dir", str(folder / "certs")]
    return [*given, "--gateway-port", "0", "--proxy-port", "0", "--web", "--web-port", "0"]


def environment() -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    return clean | {"SVC_LOG_LEVEL": "debug", "SVC_DETECTION": "patterns"}


def works(told: str, key: str, address: str) -> bool:
    """Tells whether the key opens the gateway, and the address opens mitmweb."""
    base = re.search(r"listens on (\S+)", told)
    assert base
    with httpx.Client(headers={"authorization": f"Bearer {key}"}, trust_env=False, verify=PLAIN, timeout=30) as client:
        called = client.get(f"{base[1]}/v1/keys/audit").status_code
    with httpx.Client(trust_env=False, verify=PLAIN, timeout=30) as browser:
        return (called, browser.get(address).status_code) == (200, 200)


@contextmanager
def piped(folder: Path) -> Iterator[tuple[Program, Path, Path]]:
    """A gateway without a terminal, once it is ready: its process, and the files of standard output and error."""
    out, err = folder / "out", folder / "err"
    out.write_bytes(b"")
    process = Program(arguments(folder), environment(), folder, out, err)
    try:
        process.wait_for(READY, out)
        yield process, out, err
    finally:
        process.kill()
        process.wait()


def from_shell(line: str) -> str:
    """Runs a line in a shell and returns what it prints."""
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True).stdout.strip()


def test_without_a_terminal_both_are_in_files_alone(tmp_path: Path) -> None:
    data = tmp_path / "the data"
    with piped(tmp_path) as (process, out, err):
        told = out.read_text()
        # The commands that it prints work as they are.
        assigned, shown = re.search(r"^ *(KEY=\$\(.*\))$", told, re.M), re.search(r"token: (cat .*)\)$", told, re.M)
        assert assigned
        assert shown
        key, address = from_shell(f'{assigned[1]}; echo "$KEY"'), from_shell(shown[1])
        assert shlex.quote(str(data / "operator.key")) in assigned[1]
        assert works(told, key, address)
        token = address.partition("token=")[2]
        assert len(token) == 32
        for name in ("operator.key", "mitmweb.url"):
            assert (data / name).stat().st_mode & 0o777 == 0o600
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert not (data / "mitmweb.url").exists()
    (data / "operator.key").unlink()
    with piped(tmp_path):
        assert not (data / "operator.key").exists(), "the key is written at the first start only"
        second = (data / "mitmweb.url").read_text()
        assert token not in second
    for file in (out, err):
        assert [each for each in (key, token, second.partition("token=")[2].strip()) if each in file.read_text()] == []


def test_on_a_terminal_they_are_shown_once_and_not_logged(tmp_path: Path) -> None:
    errors = tmp_path / "errors"
    terminal = Terminal([*COMMAND, *arguments(tmp_path)], tmp_path, environment(), errors)
    try:
        told = terminal.wait_for(READY)
        key, address = re.search(r"^ *KEY=(svck_\S+)$", told, re.M), re.search(r"mitmweb: +(\S+)", told)
        assert key
        assert address
        assert works(told, key[1], address[1])
        terminal.type(b"\x03")
        assert terminal.process.wait(60) == 0
        everything = terminal.shown()
        token = address[1].partition("token=")[2]
        assert (everything.count(key[1]), everything.count(token)) == (1, 1)
        assert [each for each in (key[1], token) if each in errors.read_text()] == []
        assert {"operator.key", "mitmweb.url"}.isdisjoint(file.name for file in (tmp_path / "the data").iterdir())
    finally:
        terminal.process.kill()
        terminal.process.wait()
        terminal.close()


@pytest.mark.parametrize("name", ["operator.key", "mitmweb.url"])
def test_a_start_that_cannot_write_them_fails_and_loses_no_key(name: str, tmp_path: Path) -> None:
    blocked = tmp_path / "the data" / name
    blocked.mkdir(mode=0o700, parents=True)
    blocked.parent.chmod(0o700)
    done = preloaded.run(arguments(tmp_path), environment(), tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"Cannot run:\ndata_dir: {blocked} cannot be written (Is a directory); ")
    assert "svck_" not in done.stdout + done.stderr
    blocked.rmdir()
    with piped(tmp_path) as (_, out, _):
        key = (tmp_path / "the data" / "operator.key").read_text().strip()
        assert works(out.read_text(), key, (tmp_path / "the data" / "mitmweb.url").read_text().strip())
