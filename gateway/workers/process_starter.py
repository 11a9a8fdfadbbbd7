"""Forks processes at any time, from one that has no threads and has loaded little.

A process with threads must not fork: a lock that a thread holds then stays locked in the new process for ever. The
starter is forked before the first thread starts, and forks the others when it is asked to.
"""

import contextlib
import ctypes
import gc
import os
import pickle
import signal
import socket
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from threading import Lock
from time import monotonic, sleep
from typing import Protocol

from gateway.workers.stop_signals import ignore_stop_signals

_STOP_SECONDS = 1.0
_ANSWER_SECONDS = 5.0
_POLL_SECONDS = 0.005
_PR_SET_PDEATHSIG = 1

type Run = Callable[[Sequence[Connection]], None]
"""What a new process does. It ends when that returns."""


class Closable(Protocol):
    """A file or socket."""

    def close(self) -> object: ...


class ProcessStarter:
    """Has processes forked, and ended. Thread-safe."""

    def __init__(self, control: Connection, process: int) -> None:
        self._control = control
        self._process = process
        self._lock = Lock()

    @property
    def is_lost(self) -> bool:
        """Whether no process can be started any more. On Linux, all have ended then."""
        return self._control.closed

    def start(self, run: Run, connections: Sequence[Connection]) -> int:
        """Returns the id of a new process that runs `run`, which is pickled, with duplicates of the connections.

        Raises OSError if there can be none.
        """
        started = self._ask((pickle.dumps(run), len(connections)), [each.fileno() for each in connections])
        if started is None:
            raise OSError("no process can be forked")
        return started

    def end(self, process: int) -> int | None:
        """Kills a process, and returns its exit status, negative if a signal ended it; None if that is not known."""
        with contextlib.suppress(OSError):
            return self._ask((None, process))
        return None

    def close(self) -> None:
        """Ends the starter, once all processes have ended or were killed."""
        with self._lock:
            if not self.is_lost:
                self._lose(2 * _STOP_SECONDS)

    def _ask(self, order: tuple[bytes | None, int], files: Sequence[int] = ()) -> int | None:
        """Returns the answer. Raises OSError if the starter is lost: if it does not answer in time, say."""
        with self._lock:
            try:
                self._control.send(order)
                if files:
                    with _socket_of(self._control) as control:
                        socket.send_fds(control, [b"\0"], files)
                answer: int | None = self._control.recv()
            except (OSError, EOFError):
                if not self.is_lost:
                    self._lose(0)
                raise OSError("the process that starts others is lost") from None
        return answer

    def _lose(self, seconds: float) -> None:
        """Ends the starter, which has so long to end all others."""
        self._control.close()
        if not _ends_within(self._process, seconds):
            _end(self._process)


@contextlib.contextmanager
def open_process_starter(inherited: Sequence[Closable] = ()) -> Iterator[ProcessStarter]:
    """Forks a starter, which closes the `inherited` files. On exit, all of its processes are ended.

    Call this early, and before any thread starts. If this process ends, for whatever reason, so do the others.
    """
    # Keeps the garbage collector from writing to pages that the processes share.
    gc.collect()
    gc.freeze()
    ours, theirs = limited_pair(_ANSWER_SECONDS)
    process = os.fork()
    if not process:
        status = 1
        try:
            _end_with_parent()
            ours.close()
            for each in inherited:
                each.close()
            _serve(theirs)
            status = 0
        finally:
            os._exit(status)
    theirs.close()
    starter = ProcessStarter(ours, process)
    try:
        yield starter
    finally:
        starter.close()


def limited_pair(timeout: float) -> tuple[Connection, Connection]:
    """Returns two ends, of which the first waits for at most `timeout` seconds."""
    own, other = socket.socketpair()
    # In the kernel, since a call of `Connection.poll` costs more than many a search.
    limit = struct.pack("@ll", int(timeout), int(timeout % 1 * 1e6))
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        own.setsockopt(socket.SOL_SOCKET, option, limit)
    return Connection(own.detach()), Connection(other.detach())


def _serve(control: Connection) -> None:
    ignore_stop_signals()  # the process that is stopped closes the connections
    processes: set[int] = set()
    with contextlib.suppress(OSError, EOFError):
        while True:
            run, number = control.recv()
            if run is None:
                control.send(_end(number))
                processes.discard(number)
                continue
            started = _start(control, run, number)
            control.send(started)
            if started is not None:
                processes.add(started)
    deadline = monotonic() + _STOP_SECONDS
    for process in processes:
        if not _ends_within(process, deadline - monotonic()):
            _end(process)


def _start(control: Connection, run: bytes, connections: int) -> int | None:
    with _socket_of(control) as received:
        files = socket.recv_fds(received, 1, connections)[1] if connections else []
    process: int | None = None
    # Some are missing where this process may not open as many.
    if len(files) == connections:
        with contextlib.suppress(OSError):
            process = os.fork()
    if process == 0:
        status = 1
        try:
            _end_with_parent()
            control.close()
            pickle.loads(run)([Connection(file) for file in files])  # noqa: S301 - of this gateway  # nosec B301
            status = 0
        finally:
            os._exit(status)
    for file in files:
        os.close(file)
    return process


def _end(process: int) -> int | None:
    with contextlib.suppress(OSError):
        os.kill(process, signal.SIGKILL)
    with contextlib.suppress(OSError):
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return None


def _ends_within(process: int, seconds: float) -> bool:
    deadline = monotonic() + seconds
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(process, os.WNOHANG)[0] == 0:
            if monotonic() >= deadline:
                return False
            sleep(_POLL_SECONDS)
    return True


def _end_with_parent() -> None:
    """Has the kernel end this process with its parent (Linux), even one that is stopped."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


@contextlib.contextmanager
def _socket_of(connection: Connection) -> Iterator[socket.socket]:
    """Lends the socket of a connection."""
    lent = socket.socket(fileno=connection.fileno())
    try:
        yield lent
    finally:
        lent.detach()
