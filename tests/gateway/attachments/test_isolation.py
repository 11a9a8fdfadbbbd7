"""An isolated process can compute and use what is open; it can open, start and reach nothing, nor print."""

import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.attachments.isolation import isolate
from gateway.workers.process_starter import start_process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the filter is Linux's")


def _native_open() -> None:
    """Opens a file past Python's own hooks."""
    import ctypes

    if ctypes.CDLL(None, use_errno=True).open(b"/etc/hostname", 0) < 0:
        raise PermissionError


ATTEMPTS: dict[str, Callable[[], object]] = {
    "read a file": lambda: Path("/etc/hostname").read_bytes(),
    "read a file by a native call": _native_open,
    "list a folder": lambda: [*Path("/").iterdir()],
    "write a file": lambda: Path("/tmp/attachment").write_bytes(b"a"),
    "delete a file": lambda: Path("/tmp/attachment").unlink(),
    "make a socket": socket.socket,
    "start a process": os.fork,
    "run a program": lambda: os.execv("/bin/true", ["true"]),
    "signal a process": lambda: os.kill(os.getppid(), signal.SIGTERM),
    "take much memory": lambda: bytearray(2 << 30),
}


def attempt(end: socket.socket) -> None:
    """Tries everything in isolation, and reports what succeeded."""
    import ctypes

    ctypes.CDLL(None, use_errno=True)
    isolate()
    done = []
    for name, each in ATTEMPTS.items():
        try:
            each()
        except (OSError, MemoryError):
            continue
        done.append(name)
    print("private")
    os.write(2, b"private")
    os.write(end.fileno(), json.dumps(done).encode() + b"\n")


@pytest.mark.slow
def test_an_isolated_process_can_do_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    process, end = start_process(attempt)
    with end, end.makefile() as said:
        assert json.loads(said.readline()) == []
    process.wait()
    assert capfd.readouterr() == ("", "")


def loop(end: socket.socket) -> None:
    """Computes for ever."""
    isolate(seconds=1)
    while True:
        pass


@pytest.mark.slow
def test_the_kernel_ends_a_process_that_computes_for_ever() -> None:
    process, end = start_process(loop)
    with end:
        assert process.wait() == -signal.SIGKILL
