"""A command on a terminal of its own (a pty), as a person starts it."""

import contextlib
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

# Makes standard input the terminal of the session, then becomes the command.
_TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp(sys.argv[1], sys.argv[1:])"
)


class Terminal:
    """Runs a command in a session of its own, whose terminal shows what it prints. `errors` takes standard error."""

    def __init__(
        self, command: Sequence[str], folder: Path, environment: dict[str, str], errors: Path | None = None
    ) -> None:
        self._ours, theirs = os.openpty()
        with contextlib.ExitStack() as files:
            files.callback(os.close, theirs)
            stderr = files.enter_context(errors.open("ab")) if errors else theirs
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-c", _TAKE_TERMINAL, *command],
                cwd=folder,
                env=environment,
                stdin=theirs,
                stdout=theirs,
                stderr=stderr,
                start_new_session=True,
            )
        self._shown = bytearray()
        self._closing = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        # A call that waits for text would keep the terminal open.
        with contextlib.suppress(OSError):
            while not self._closing.is_set():
                if select.select([self._ours], [], [], 0.05)[0]:
                    self._shown += os.read(self._ours, 65536)

    def shown(self) -> str:
        """Returns the text so far."""
        return self._shown.decode().replace("\r\n", "\n")

    def wait_for(self, text: str, seconds: float = 120) -> str:
        """Returns the text that is shown once `text` is part of it."""
        deadline = time.monotonic() + seconds
        while text not in (shown := self.shown()):
            assert self.process.poll() is None, shown
            assert time.monotonic() < deadline, shown
            time.sleep(0.05)
        return shown

    def type(self, keys: bytes) -> None:
        """Types on the terminal's keyboard."""
        os.write(self._ours, keys)

    def close(self) -> None:
        """Closes the terminal, as a person closes a window."""
        if not self._closing.is_set():
            self._closing.set()
            self._reader.join()
            os.close(self._ours)
