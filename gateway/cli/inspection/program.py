"""Runs the inspected program: its input, output and terminal are this process's, and signals reach it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import FrameType

# As shells use them.
NOT_EXECUTABLE, NOT_FOUND = 126, 127
_SIGNALED = 128
_PASSED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
# A terminal sends these to every process of its foreground group, the program among them.
_OF_TERMINALS = ("SIGINT", "SIGQUIT")
_PATIENCE_SECONDS = 5.0


class Program:
    """A running program."""

    def __init__(self, path: str, command: Sequence[str], variables: Mapping[str, str]) -> None:
        """Raises OSError."""
        self._process = subprocess.Popen(  # noqa: S603 - the command that the user gave
            list(command), executable=path, env=dict(variables)
        )

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
