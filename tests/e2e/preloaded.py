"""`run_proxy.py` without the time it takes to load: a process that has all of it loaded is forked for every start.

An interpreter of its own spends seconds of processor time on imports and on the detector before anything happens that
a test wants to see. Tests of how the program loads, and of which processes it has, start the command itself.
"""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

_forking = multiprocessing.get_context("forkserver")
_forking.set_forkserver_preload(["tests.e2e.loading"])


class Program:
    """`run_proxy.py` as it runs, with the face of a `subprocess.Popen`. What it says is appended to the two files.

    `prepare`, a function that can be pickled, is called in its process first.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        stdout: Path,
        stderr: Path,
        prepare: Callable[[], object] | None = None,
    ) -> None:
        stdout.touch(0o600)
        given = (arguments, dict(environment), folder, stdout, stderr, prepare)
        self._process = _forking.Process(target=_run, args=given)
        self._process.start()

    @property
    def pid(self) -> int:
        pid = self._process.pid
        assert pid is not None
        return pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("run_proxy.py", timeout or 0)
        return self.returncode

    def wait_for(self, text: str, output: Path) -> None:
        """Waits until its output, in a file, contains a text."""
        deadline = time.monotonic() + 120
        while text not in output.read_text():
            assert self.poll() is None, output.read_text()
            assert time.monotonic() < deadline, output.read_text()
            time.sleep(0.02)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def run(
    arguments: Sequence[str], environment: Mapping[str, str], folder: Path, timeout: float = 60
) -> subprocess.CompletedProcess[str]:
    """Runs it to its end and returns what it printed, as `subprocess.run` does."""
    with TemporaryDirectory() as place:
        stdout, stderr = Path(place, "stdout"), Path(place, "stderr")
        program = Program(arguments, environment, folder, stdout, stderr)
        try:
            status = program.wait(timeout)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()
            raise
        return subprocess.CompletedProcess(list(arguments), status, stdout.read_text(), stderr.read_text())


def _run(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    stdout: Path,
    stderr: Path,
    prepare: Callable[[], object] | None,
) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for number, file in ((1, stdout), (2, stderr)):
        opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    import run_proxy
    from addons import server
    from gateway.server import gateway_process
    from gateway.workers import process_starter

    # Huge pages would copy all that forked processes share.
    vars(server)["use_huge_pages"] = vars(gateway_process)["use_huge_pages"] = lambda: None
    vars(process_starter)["subprocess"] = SimpleNamespace(Popen=_search_process, DEVNULL=subprocess.DEVNULL)
    if prepare is not None:
        prepare()
    sys.exit(run_proxy.main(arguments))


class _Forked:
    """A child of this process, with the face of a `subprocess.Popen`."""

    def __init__(self, pid: int) -> None:
        self._pid = pid

    def kill(self) -> None:
        os.kill(self._pid, signal.SIGKILL)

    def wait(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


def _search_process(command: Sequence[str], *, pass_fds: Sequence[int], stdin: int) -> Any:
    """Has a process that searches texts forked as well, unless this one has threads already."""
    if threading.active_count() > 1:
        return subprocess.Popen(command, pass_fds=pass_fds, stdin=stdin)
    if pid := os.fork():
        return _Forked(pid)
    from gateway.workers.process_starter import run_given

    (file,) = pass_fds
    os.closerange(3, file)
    os.closerange(file + 1, os.sysconf("SC_OPEN_MAX"))
    return run_given(file)
