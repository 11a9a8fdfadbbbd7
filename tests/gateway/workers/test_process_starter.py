"""Processes are forked by one without threads, at any time, and none outlives whoever asked for them."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from gateway.workers.process_starter import ProcessStarter, open_process_starter
from tests.conftest import ROOT
from tests.processes import gone, is_gone

pytestmark = [
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked"),
]


def echo(connections: Sequence[Connection]) -> None:
    """Answers on each connection with its process, its parent, its threads and its open files."""
    with suppress(EOFError):
        while True:
            for each in connections:
                each.recv()
                each.send(
                    (os.getpid(), os.getppid(), threading.active_count(), len([*Path("/proc/self/fd").iterdir()]))
                )


def ends(_: Sequence[Connection]) -> None:
    os._exit(7)


def sleeps(_: Sequence[Connection]) -> None:
    time.sleep(600)


@pytest.fixture
def starter() -> Iterator[ProcessStarter]:
    with open_process_starter() as starter:
        yield starter


def started(starter: ProcessStarter) -> tuple[int, Connection]:
    ours, theirs = Pipe()
    process = starter.start(echo, [theirs])
    theirs.close()
    return process, ours


def ask(connection: Connection) -> tuple[int, int, int, int]:
    connection.send("")
    answer: tuple[int, int, int, int] = connection.recv()
    return answer


def test_processes_are_started_at_any_time_with_their_connections(starter: ProcessStarter) -> None:
    with ThreadPoolExecutor(8) as threads:
        some = list(threads.map(lambda _: started(starter), range(24)))
        parents = set()
        for process, connection in some:
            own, parent, count, _ = ask(connection)
            assert (own, count) == (process, 1)
            parents.add(parent)
        assert len(parents) == 1
        assert os.getpid() not in parents
        statuses = set(threads.map(starter.end, [process for process, _ in some]))
    assert statuses == {-signal.SIGKILL}
    assert all(is_gone(process) for process, _ in some)


@pytest.mark.skipif(sys.platform != "linux", reason="open files are counted in /proc")
def test_a_process_has_no_files_of_those_before_it(starter: ProcessStarter) -> None:
    files = set()
    for _ in range(5):
        files.add(ask(started(starter)[1])[3])
    assert len(files) == 1


def test_the_exit_status_is_told(starter: ProcessStarter) -> None:
    process = starter.start(ends, [])
    time.sleep(0.1)
    assert starter.end(process) == 7
    assert starter.end(process) is None


def test_what_was_inherited_is_closed() -> None:
    ours, theirs = socket.socketpair()
    with ours, open_process_starter([theirs]) as starter:
        _, connection = started(starter)
        ask(connection)
        theirs.close()
        assert ours.recv(1) == b""


def test_in_the_end_processes_that_do_not_end_are_killed() -> None:
    with open_process_starter() as starter:
        some = [starter.start(sleeps, []) for _ in range(3)]
        process, connection = started(starter)
        connection.close()
    assert all(map(is_gone, [*some, process]))


linux = pytest.mark.skipif(sys.platform != "linux", reason="processes end with their parent on Linux")


@linux
@pytest.mark.parametrize("stopped", [False, True])
def test_without_the_starter_no_process_is_left_or_started(starter: ProcessStarter, stopped: bool) -> None:
    process, connection = started(starter)
    os.kill(ask(connection)[1], signal.SIGKILL)
    if stopped:
        os.kill(process, signal.SIGSTOP)
    assert gone(process)
    with pytest.raises(OSError, match="lost"):
        started(starter)
    assert starter.is_lost
    assert starter.end(process) is None


@linux
def test_a_starter_that_does_not_answer_is_ended(starter: ProcessStarter) -> None:
    process, connection = started(starter)
    os.kill(parent := ask(connection)[1], signal.SIGSTOP)
    assert starter.end(process) is None
    assert starter.is_lost
    assert gone(parent)
    assert gone(process)


@linux
@pytest.mark.parametrize("stopped", [False, True])
def test_if_whoever_asked_is_killed_all_end(stopped: bool) -> None:
    program = (
        "from tests.gateway.workers.test_process_starter import *\n"
        "with open_process_starter() as starter:\n"
        "    process, connection = started(starter)\n"
        "    ask(connection)\n"
        "    print(process, flush=True)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True) as asking:
        assert asking.stdout is not None
        process = int(asking.stdout.readline())
        starter = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        if stopped:
            os.kill(starter, signal.SIGSTOP)
            os.kill(process, signal.SIGSTOP)
        asking.kill()
    assert gone(process)
    assert gone(starter)
