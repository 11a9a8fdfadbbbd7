"""Starts further processes of this program, at any time: each with an interpreter of its own, since a process with
threads must not fork (a lock that a thread holds then stays locked in the new process for ever).
"""

import ctypes
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress

_PROGRAM = "import sys; sys.path[:] = {path}; from gateway.workers.process_starter import run_given; run_given({file})"
_LENGTH = 4
_PR_SET_PDEATHSIG = 1


def start_process(run: Callable[[socket.socket], None]) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Starts a process that calls `run`, which is pickled, with an end of a socket pair. Returns the other end.

    On Linux, it ends when the calling thread does, even while it is stopped. Raises OSError if there can be none.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        program = _PROGRAM.format(path=sys.path, file=theirs.fileno())
        try:
            process = subprocess.Popen(  # noqa: S603 - this interpreter, and nothing that was received
                [sys.executable, "-I", "-c", program], stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()]
            )
        except OSError:
            ours.close()
            raise
    given = pickle.dumps(run)
    with suppress(OSError):  # if it is lost already, the caller learns so from the other end
        ours.sendall(len(given).to_bytes(_LENGTH) + given)
    return process, ours


def run_given(file: int) -> None:
    """Runs what `start_process` was given, in the new process, which then ends."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    end = socket.socket(fileno=file)
    length = int.from_bytes(end.recv(_LENGTH, socket.MSG_WAITALL))
    pickle.loads(end.recv(length, socket.MSG_WAITALL))(end)  # noqa: S301 - of this program  # nosec B301
    os._exit(0)  # a thread may hang in native code, which could crash while the interpreter ends
