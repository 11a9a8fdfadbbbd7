"""Processes are started at any time, and none outlives the process that started it."""

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gateway.workers.process_starter import start_process
from tests.conftest import ROOT
from tests.processes import gone

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sockets cannot be passed on")


def echo(end: socket.socket) -> None:
    """Answers with its process, its threads and its open files, and then waits."""
    files = len([*Path("/dev/fd").iterdir()])
    end.sendall(f"{os.getpid()} {threading.active_count()} {files}".encode())
    end.recv(1)


def test_processes_have_one_thread_and_no_files_but_their_own() -> None:
    files = set()
    for _ in range(2):
        process, end = start_process(echo)
        with end:
            own, threads, count = map(int, end.recv(100).split())
            assert (own, threads) == (process.pid, 1)
            files.add(count)
        assert process.wait(60) == 0
    assert len(files) == 1


def test_a_process_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere")
    with pytest.raises(OSError, match="nowhere"):
        start_process(echo)


@pytest.mark.skipif(sys.platform != "linux", reason="processes end with their parent on Linux")
@pytest.mark.parametrize("stopped", [False, True])
def test_processes_end_with_their_parent(stopped: bool) -> None:
    program = (
        "from tests.gateway.workers.test_process_starter import *\n"
        "process, end = start_process(echo)\n"
        "end.recv(100)\n"
        "print(process.pid, flush=True)\n"
        "end.recv(1)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        process = int(parent.stdout.readline())
        if stopped:
            os.kill(process, signal.SIGSTOP)
        parent.kill()
    assert gone(process)
