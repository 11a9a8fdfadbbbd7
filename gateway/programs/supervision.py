"""Runs a program under supervision as if it had taken the place of this process.

Three processes take part. The program is in this process's group, so the terminal's signals reach it as they would
otherwise. The supervisor starts it and watches over it; in a session of its own, it is neither interrupted nor stopped,
and it stays for processes that outlive the program. This process passes on what it is sent, stops and continues with
the program, and ends as the program does.
"""

import errno
import fcntl
import os
import resource
import select
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn, Protocol

from gateway.programs.kernel import adopt_orphans, end_with_parent

_FAILED, _STATUS = b"E", b"S"
_ALL = signal.valid_signals()
# Sent by the kernel: for the terminal, to the program as well.
_BY_KERNEL = 0x80


class NotStarted(Exception):
    """The program could not be started: `message` says why, or `number` is the system's error for its file."""

    def __init__(self, message: str, number: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.number = number

    def explained(self, name: str) -> str:
        """Returns why, for the user who called the program by this name."""
        return self.message or f"{name}: {os.strerror(self.number)}"


@dataclass(frozen=True, slots=True)
class Program:
    """A program to run, with all its words, the variables that it gets, and the signals that it starts with blocked.

    `missing` says why its file, which exists, is not there in the end.
    """

    path: str
    words: Sequence[str]
    variables: Mapping[str, str]
    missing: str = ""
    blocked: frozenset[int] = frozenset()

    def become(self, control: socket.socket, prepare: Callable[[], None]) -> NoReturn:
        """Replaces this process by the program, after `prepare`. Tells the other end of `control` why it cannot."""
        try:
            # Python ignores both.
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            prepare()
            signal.pthread_sigmask(signal.SIG_SETMASK, self.blocked)
            os.execve(self.path, list(self.words), dict(self.variables))  # noqa: S606
        except OSError as error:
            is_missing = error.errno == errno.ENOENT and not Path(self.path).exists()
            with suppress(OSError):
                control.send(_FAILED + bytes([(error.errno or 0) & 0xFF]) + self.missing.encode() * is_missing)
        os._exit(127)


class Watch(Protocol):
    """Answers what comes from a descriptor, until that is hung up."""

    descriptor: int

    def answer(self) -> None: ...

    def wait(self) -> float | None:
        """Does what is due. Returns the milliseconds until something is again."""
        ...

    def program_ended(self) -> None:
        """Called once, before the caller learns of the end."""
        ...


type Supervise = Callable[[Program, socket.socket], None]


def run(program: Program, supervise: Supervise) -> int:
    """Runs a program, which `supervise` starts in a process of its own. Returns its exit status.

    If a signal ended it, the same one ends this process. Raises NotStarted.
    """
    _take_closed_streams()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    blocked = frozenset(signal.pthread_sigmask(signal.SIG_BLOCK, _ALL))
    fcntl.fcntl(ours, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(ours, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    supervisor = os.fork()
    if supervisor == 0:
        try:
            ours.close()
            supervise(replace(program, blocked=blocked), theirs)
        except NotStarted as error:
            theirs.send(_FAILED + b"\0" + error.message.encode())
        finally:
            os._exit(0)
    theirs.close()
    try:
        return _follow(ours, supervisor)
    finally:
        ours.close()
        # Discards one that is still pending.
        signal.signal(signal.SIGIO, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def accompany_only(program: Program, control: socket.socket) -> None:
    """Starts a program and accompanies it. Supervises no more than that."""
    child = start(program, control, lambda: None)
    stand_aside()
    accompany(child, control)


def _take_closed_streams() -> None:
    """Opens the standard streams that are closed, so that no other file gets their numbers. The program gets none."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)


def _follow(ours: socket.socket, supervisor: int) -> int:
    while True:
        info = signal.sigwaitinfo(_ALL)
        is_sent = info.si_signo not in (signal.SIGIO, signal.SIGCHLD) and info.si_code != _BY_KERNEL
        # A signal that the program has sent to its group has reached it.
        if is_sent and not _descends(info.si_pid, supervisor):
            with suppress(OSError):
                ours.send(bytes([info.si_signo]))
        while (message := _received(ours)) is not None:
            if message[:1] == _FAILED:
                raise NotStarted(message[2:].decode("utf-8", "replace"), message[1])
            status = int.from_bytes(message[1:]) if message else int(signal.SIGKILL)
            if os.WIFSTOPPED(status):
                os.kill(os.getpid(), signal.SIGSTOP)
            elif not os.WIFCONTINUED(status):
                return _ended(status)


def _received(ours: socket.socket) -> bytes | None:
    """Returns the next message, which is empty once the supervisor has gone; None if there is none."""
    try:
        return ours.recv(4096)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _ended(status: int) -> int:
    if not os.WIFSIGNALED(status):
        return os.WEXITSTATUS(status)
    number = os.WTERMSIG(status)
    # The program has left the memory image, if any.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    return 128 + number


def _descends(process: int, ancestor: int) -> bool:
    while process > 1 and process != ancestor:
        try:
            stat = Path(f"/proc/{process}/stat").read_bytes()
            process = int(stat.rpartition(b")")[2].split()[1])
        except (OSError, ValueError):
            return False
    return process == ancestor


def start(program: Program, control: socket.socket, prepare: Callable[[], None]) -> int:
    """Starts the program as a child that ends with this process, after `prepare`. Returns its process id."""
    parent = os.getpid()

    def all_prepared() -> None:
        prepare()
        end_with_parent(signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(127)

    child = os.fork()
    if child == 0:
        program.become(control, all_prepared)
    return child


def stand_aside() -> None:
    """Leaves the session, so that signals for the program do not reach this process, and its input and output.

    In another group of the same session, the parent of the program keeps the caller's group from being orphaned until
    the program ends. The kernel would then hang up on all of that group if a process in it were stopped.
    """
    os.setsid()
    for number in _ALL - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
        signal.signal(number, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(nothing, stream)
    os.close(nothing)


def accompany(program: int, control: socket.socket, watch: Watch | None = None, *, stays: bool = True) -> None:
    """Passes signals to the program and its states back until it has ended.

    Then watches, if it `stays`, until no process is left.
    """
    woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_SETMASK, set())
    adopt_orphans()
    poll = select.poll()
    for number in (woken, control.fileno(), *([watch.descriptor] if watch else [])):
        poll.register(number, select.POLLIN)
    lives, is_over = _report_states(program, control, watch), watch is None
    while lives or (stays and not is_over):
        for number, event in poll.poll(watch.wait() if watch else None):
            if number == woken:
                os.read(woken, 4096)
                lives = _report_states(program, control, watch) and lives
            elif number == control.fileno():
                _pass_on(control, program if lives else None, poll)
            elif watch and event & select.POLLIN:
                watch.answer()
            elif watch:
                poll.unregister(watch.descriptor)
                is_over = True


def _pass_on(control: socket.socket, program: int | None, poll: select.poll) -> None:
    try:
        message = control.recv(1)
    except OSError:
        message = b""
    if not message:
        # The process in the place of the program has ended; perhaps it was killed.
        poll.unregister(control)
    if program is not None:
        # It may have gained privileges.
        with suppress(PermissionError):
            os.kill(program, message[0] if message else signal.SIGKILL)


def _report_states(program: int, control: socket.socket, watch: Watch | None) -> bool:
    """Reports how the program's state has changed. Returns whether it lives."""
    lives = True
    with suppress(ChildProcessError):
        while True:
            process, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED | os.WCONTINUED)
            if process == 0:
                break
            if process == program:
                lives = os.WIFSTOPPED(status) or os.WIFCONTINUED(status)
                if watch and not lives:
                    watch.program_ended()
                with suppress(OSError):
                    control.send(_STATUS + status.to_bytes(4))
    return lives
