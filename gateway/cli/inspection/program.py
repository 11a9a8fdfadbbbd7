"""Runs the inspected program: its input, output and terminal are this process's, and signals reach it.

On Linux, it does not outlive this process.
"""

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateway.programs import supervision

_SIGNALED = 128
_PASSED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
# A terminal sends these to every process of its foreground group, the program among them.
_OF_TERMINALS = ("SIGINT", "SIGQUIT")
_PATIENCE_SECONDS, _LINES_SECONDS = 5.0, 1.0
NAME = "inspect"
type Contained = Callable[[int], tuple[supervision.Program, supervision.Supervise]]
_WATCHED = "import sys; sys.path[:] = {path}; from gateway.cli.inspection.watched import main; main({given})"


class Program:
    """A running program. On Linux, `past` gets a line for each address that it connects to past the gateway.

    `contained` makes what contains it, and writes such lines to a descriptor.
    """

    def __init__(
        self,
        path: str,
        command: Sequence[str],
        variables: Mapping[str, str],
        past: Callable[[str], object] | None = None,
        contained: "Contained | None" = None,
    ) -> None:
        """Raises OSError."""
        self._reader: threading.Thread | None = None
        if sys.platform != "linux":
            self._process = subprocess.Popen(  # noqa: S603 - the command that the user gave
                list(command), executable=path, env=dict(variables)
            )
            return
        from gateway.programs import supervision  # noqa: PLC0415
        from gateway.programs.connection_report import ReportingSupervisor  # noqa: PLC0415

        read, write = os.pipe()
        program = supervision.Program(path, list(command), dict(variables))
        supervise: supervision.Supervise = supervision.accompany_only
        if contained:
            program, supervise = contained(write)
        elif past:
            # The gateway listens on loopback, which is never reported.
            supervise = ReportingSupervisor((), NAME, write)
        with os.fdopen(os.memfd_create("program"), "wb+") as given, os.fdopen(write, "wb"):
            pickle.dump((os.getpid(), program, supervise, write), given)
            given.seek(0)
            code = _WATCHED.format(path=sys.path, given=given.fileno())
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter
                [sys.executable, "-I", "-c", code], pass_fds=(given.fileno(), write)
            )
        self._reader = threading.Thread(target=_read, args=(read, past or (lambda _: None)), daemon=True)
        self._reader.start()

    def wait(self) -> int:
        """Passes signals on until it has ended. Returns its status; after a signal, 128 and its number."""
        former = {}
        for name in _PASSED:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                former[number] = signal.signal(number, self._passer(name in _OF_TERMINALS))
        try:
            status = self._process.wait()
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)
        if self._reader is not None:
            # Processes that outlive the program may keep it open.
            self._reader.join(_LINES_SECONDS)
        return _SIGNALED - status if status < 0 else status

    def end(self) -> None:
        """Ends it, by force if it takes longer than a few seconds."""
        self._process.terminate()
        try:
            self._process.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _passer(self, is_of_terminals: bool) -> Callable[[int, FrameType | None], None]:
        def passed(number: int, _: FrameType | None) -> None:
            if not (is_of_terminals and _in_foreground()):
                with suppress(OSError):
                    self._process.send_signal(number)

        return passed


def _read(file: int, past: Callable[[str], object]) -> None:
    with os.fdopen(file, encoding="utf-8") as lines:
        for line in lines:
            past(line.rstrip("\n").removeprefix(f"{NAME}: "))


def _in_foreground() -> bool:
    """Tells whether this process has a terminal, which would signal the program as well."""
    if sys.platform == "win32":
        return True
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
