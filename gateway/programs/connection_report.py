"""Reports where a program connects other than to the gateway: each address once, on standard error.

On a terminal, all addresses follow once more when the program has ended, since its screen may have covered them.

The kernel asks before a connection is made; each is let pass. Of datagrams, those to port 53 look host names up. Other
sockets for datagrams may be connected to put addresses in order, and closed at once. The kernel's time stamps of what
they send tell these from others.
"""

import fcntl
import os
import signal
import socket
import struct
import termios
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from time import monotonic

from gateway.programs.kernel import descriptor_of, numbers
from gateway.programs.seccomp import Call, let_pass, next_call, wake_quickly, watch
from gateway.programs.supervision import NotStarted, Program, accompany, stand_aside, start

type Address = tuple[str, int]

_MOST_ADDRESSES, _MOST_LISTED = 256, 16
_PAST, _BLOCKED = "past the gateway", "which `--contain` blocks"
_SETTLED_SECONDS = 0.5
_DNS = 53
_FAST_OPEN = 0x20000000
_MESSAGE, _NEXT_MESSAGE, _MOST_MESSAGES = struct.Struct("=QI"), 64, 1024
# Has the kernel note when a datagram is sent (SO_TIMESTAMPING), for `MSG_ERRQUEUE` and without its content.
_TIME_STAMPS, _WHEN_SENT = 37, 1 << 8 | 1 << 11
_MOST_UNSETTLED = 64


class ReportingSupervisor:
    """Starts a program, and reports on it until no process that it started is left.

    `known` are the gateway's addresses, `name` begins each line, which is written to the descriptor `output`.
    """

    def __init__(self, known: Collection[Address], name: str, output: int = 2) -> None:
        self._known = known
        self._name = name
        self._output = output

    def __call__(self, program: Program, control: socket.socket) -> None:
        with watched(program, control, self._known, self._name, self._output) as (child, report):
            pass
        stand_aside()
        accompany(child, control, report)


@contextmanager
def watched(
    program: Program,
    control: socket.socket,
    known: Collection[Address],
    name: str,
    output: int,
    prepare: Callable[[], None] | None = None,
) -> Iterator[tuple[int, "ConnectionReport | None"]]:
    """Starts a program, which waits for the end of the block. Yields its process id, and the report if there is one.

    A program that has to `prepare` is contained. Raises NotStarted.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def prepared() -> None:
        try:
            listener = watch()
        except OSError as error:
            theirs.send((error.strerror or "").encode())
            theirs.recv(1)
        else:
            # Sending it as a descriptor is a `sendmsg`, which would wait for an answer.
            theirs.send(b".%d" % listener)
            theirs.recv(1)
            os.close(listener)
        if prepare is not None:
            prepare()

    child = start(program, control, prepared)
    theirs.close()
    said = ours.recv(200)
    report = None
    if said.startswith(b"."):
        try:
            listener = descriptor_of(child, int(said[1:]))
        except OSError as error:
            os.kill(child, signal.SIGKILL)
            raise NotStarted(f"connections cannot be reported ({error.strerror}); use `--no-report`") from None
        report = ConnectionReport(listener, known, name, output, contained=prepare is not None)
    elif said:
        reason = f"connections are not reported, since the system does not permit it ({said.decode()})"
        _say(f"{name}: {reason}", output)
    yield child, report
    with suppress(OSError):
        ours.send(b".")
    ours.close()


class ConnectionReport:
    """Watches the listener of a filter that `seccomp.watch` made."""

    def __init__(
        self, descriptor: int, known: Collection[Address], name: str, output: int, *, contained: bool = False
    ) -> None:
        self.descriptor = descriptor
        self._output = output
        wake_quickly(descriptor)
        self._known = known
        self._name = name
        self._where = _BLOCKED if contained else _PAST
        self._seen: dict[Address, None] = {}
        self._unsettled: list[tuple[float, int, Path, Path, Address, socket.socket]] = []

    def answer(self) -> None:
        call = next_call(self.descriptor)
        if call is None:
            return
        try:
            self._look_at(call)
        except (OSError, ValueError):
            # Its process has gone, or is not ours to read. It must not wait for the report.
            return
        finally:
            let_pass(self.descriptor, call)

    def wait(self) -> float | None:
        now = monotonic()
        while self._unsettled and (self._unsettled[0][0] <= now or len(self._unsettled) > _MOST_UNSETTLED):
            self._settle()
        return (self._unsettled[0][0] - now) * 1000 + 1 if self._unsettled else None

    def program_ended(self) -> None:
        while self._unsettled:
            self._settle()
        if not self._seen or not os.isatty(self._output):
            return
        places = [_written(address) for address in self._seen]
        listed = ", ".join(places[:_MOST_LISTED]) + (" and others" if len(places) > _MOST_LISTED else "")
        counted = f"{len(places)} address{'' if len(places) == 1 else 'es'}"
        _say(f"{self._name}: {counted} {self._where}: {listed}", self._output)

    def _settle(self) -> None:
        _, process, link, target, address, sock = self._unsettled.pop(0)
        with sock:
            if _has_sent(sock) or _leads_to(link, target):
                self._report(process, address, "sends datagrams to")

    def _look_at(self, call: Call) -> None:
        for at, size, connects in _named_by(call):
            address = parse_address(_memory_of(call.thread, at, min(size, 28)))
            if address is None or address in self._seen or address in self._known or len(self._seen) > _MOST_ADDRESSES:
                continue
            self._look_at_address(call, address, connects=connects)

    def _look_at_address(self, call: Call, address: Address, *, connects: bool) -> None:
        process = _process_of(call.thread)
        sock = _datagrams_of(process, call.words[0])
        if sock is None:
            if connects:
                self._report(process, address, "connects to")
            return
        if connects and address[1] != _DNS and call.number == _number_of_connect():
            link = Path(f"/proc/{process}/fd/{call.words[0]}")
            with suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, _TIME_STAMPS, _WHEN_SENT)
            self._unsettled.append((monotonic() + _SETTLED_SECONDS, process, link, link.readlink(), address, sock))
            return
        sock.close()
        self._report(process, address, "looks host names up at" if address[1] == _DNS else "sends datagrams to")

    def _report(self, process: int, address: Address, does: str) -> None:
        if address in self._seen:
            return
        self._seen[address] = None
        self._print(process, f"{does} {_written(address)}, {self._where}")
        if len(self._seen) > _MOST_ADDRESSES:
            _say(f"{self._name}: further addresses are not reported", self._output)

    def _print(self, process: int, what: str) -> None:
        try:
            said = Path(f"/proc/{process}/comm").read_text(encoding="utf-8", errors="replace")
            name = "".join(letter for letter in said if letter.isprintable())
        except OSError:
            name = "a process"
        _say(f"{self._name}: {name} ({process}) {what}", self._output)


def _written(address: Address) -> str:
    host, port = address
    return f"{f'[{host}]' if ':' in host else host}:{port}"


def parse_address(sockaddr: bytes) -> Address | None:
    """Returns the address and port in a `sockaddr` that other machines may have; None for all others."""
    family, port = int.from_bytes(sockaddr[:2], "little"), int.from_bytes(sockaddr[2:4])
    found: IPv4Address | IPv6Address
    if family == socket.AF_INET and len(sockaddr) >= 8:
        found = IPv4Address(sockaddr[4:8])
    elif family == socket.AF_INET6 and len(sockaddr) >= 24:
        found = IPv6Address(sockaddr[8:24])
        found = found.ipv4_mapped or found
    else:
        return None
    # Port 0 is asked for to learn which way a connection would take.
    return None if found.is_loopback or found.is_unspecified or not port else (str(found), port)


def _memory_of(thread: int, at: int, size: int) -> bytes:
    descriptor = os.open(f"/proc/{thread}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.pread(descriptor, size, at)
    finally:
        os.close(descriptor)


def _process_of(thread: int) -> int:
    status = Path(f"/proc/{thread}/status").read_text(encoding="utf-8", errors="replace")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("Tgid:"))


def _named_by(call: Call) -> Iterator[tuple[int, int, bool]]:
    """Yields each address that a call names: where it is, its size, and whether the call connects a stream to it."""
    known = numbers()
    assert known is not None
    words = call.words
    if call.number == known.connect:
        yield words[1], words[2], True
    elif call.number == known.sendto:
        yield words[4], words[5], bool(words[3] & _FAST_OPEN)
    else:
        many = call.number == known.sendmmsg
        connects = bool(words[3 if many else 2] & _FAST_OPEN)
        count = min(words[2], _MOST_MESSAGES) if many else 1
        read = _memory_of(call.thread, words[1], (count - 1) * _NEXT_MESSAGE + _MESSAGE.size) if count else b""
        messages = {_MESSAGE.unpack_from(read, start) for start in range(0, len(read) - 11, _NEXT_MESSAGE)}
        yield from ((at, size, connects) for at, size in messages if at)


def _number_of_connect() -> int | None:
    known = numbers()
    return known.connect if known is not None else None


def _datagrams_of(process: int, number: int) -> socket.socket | None:
    """Returns a copy of a process's socket if it is one for datagrams."""
    try:
        found = socket.socket(fileno=descriptor_of(process, number))
    except OSError:
        return None
    if found.type == socket.SOCK_DGRAM:
        return found
    found.close()
    return None


def _has_sent(sock: socket.socket) -> bool:
    """Tells whether the kernel has noted that a datagram was sent, and has it note no more."""
    # A datagram that waits for the address of its next hop is in the queue.
    sent = False
    with suppress(OSError):
        sent = int.from_bytes(fcntl.ioctl(sock, termios.TIOCOUTQ, bytes(4)), "little") > 0
        sock.setsockopt(socket.SOL_SOCKET, _TIME_STAMPS, 0)
        while sock.recvmsg(0, 512, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT):
            sent = True
    return sent


def _leads_to(link: Path, target: Path) -> bool:
    try:
        return link.readlink() == target
    except OSError:
        return False


def _say(line: str, output: int) -> None:
    with suppress(OSError):
        os.write(output, f"{line}\n".encode())
