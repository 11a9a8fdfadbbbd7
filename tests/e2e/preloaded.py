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
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

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

    if prepare is not None:
        prepare()
    sys.exit(run_proxy.main(arguments))
