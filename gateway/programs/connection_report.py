"""Reports where a program connects other than to the gateway: each address once, on standard error.

The kernel asks before a connection is made; each is let pass. Of datagrams, those to port 53 look host names up. Other
sockets for datagrams that are connected and closed at once send nothing: this is how addresses are put in order.
"""

import os
import socket
from collections.abc import Collection
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from time import monotonic

from gateway.programs.kernel import descriptor_of, numbers
from gateway.programs.seccomp import Call, let_pass, next_call, wake_quickly, watch
from gateway.programs.supervision import Program, accompany, stand_aside, start

type Address = tuple[str, int]

_MOST_ADDRESSES = 256
_SETTLED_SECONDS = 0.5
_DNS = 53


class ReportingSupervisor:
    """Starts a program, and reports on it until no process that it started is left.

    `known` are the gateway's addresses, `name` begins each line, which is written to the descriptor `output`.
    """

    def __init__(self, known: Collection[Address], name: str, output: int = 2) -> None:
        self._known = known
        self._name = name
        self._output = output

    def __call__(self, program: Program, control: socket.socket) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

        def prepare() -> None:
            try:
                listener = watch()
            except OSError as error:
                theirs.send((error.strerror or "").encode())
            else:
                socket.send_fds(theirs, [b"."], [listener])
                os.close(listener)

        child = start(program, control, prepare)
        theirs.close()
        said, listeners, _, _ = socket.recv_fds(ours, 200, 1)
        ours.close()
        stand_aside()
        if not listeners and said:
            reason = f"connections are not reported, since the system does not permit it ({said.decode()})"
            _say(f"{self._name}: {reason}", self._output)
        name, output = self._name, self._output
        accompany(child, control, ConnectionReport(listeners[0], self._known, name, output) if listeners else None)


class ConnectionReport:
    """Watches the listener of a filter that `seccomp.watch` made."""

    def __init__(self, descriptor: int, known: Collection[Address], name: str, output: int = 2) -> None:
        self.descriptor = descriptor
        self._output = output
        wake_quickly(descriptor)
        self._known = known
        self._name = name
        self._seen: set[Address] = set()
        self._unsettled: list[tuple[float, int, Path, Path, Address]] = []

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
        while self._unsettled and self._unsettled[0][0] <= now:
            _, process, link, target, address = self._unsettled.pop(0)
            with suppress(OSError):
                if link.readlink() == target:
                    self._report(process, address, "sends datagrams to")
        return (self._unsettled[0][0] - now) * 1000 + 1 if self._unsettled else None

    def _look_at(self, call: Call) -> None:
        known = numbers()
        connects = known is not None and call.number == known.connect
        at, size = call.words[1:3] if connects else call.words[4:6]
        address = parse_address(_memory_of(call.thread, at, min(size, 28)))
        if address is None or address in self._seen or address in self._known or len(self._seen) > _MOST_ADDRESSES:
            return
        process = _process_of(call.thread)
        link = Path(f"/proc/{process}/fd/{call.words[0]}")
        if not connects or _is_for_datagrams(process, call.words[0]):
            if address[1] == _DNS:
                self._report(process, address, "looks host names up at")
            elif connects:
                self._unsettled.append((monotonic() + _SETTLED_SECONDS, process, link, link.readlink(), address))
            else:
                self._report(process, address, "sends datagrams to")
        else:
            self._report(process, address, "connects to")

    def _report(self, process: int, address: Address, does: str) -> None:
        if address in self._seen:
            return
        self._seen.add(address)
        host, port = address
        self._print(process, f"{does} {f'[{host}]' if ':' in host else host}:{port}, past the gateway")
        if len(self._seen) > _MOST_ADDRESSES:
            _say(f"{self._name}: further addresses are not reported", self._output)

    def _print(self, process: int, what: str) -> None:
        try:
            said = Path(f"/proc/{process}/comm").read_text(encoding="utf-8", errors="replace")
            name = "".join(letter for letter in said if letter.isprintable())
        except OSError:
            name = "a process"
        _say(f"{self._name}: {name} ({process}) {what}", self._output)


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


def _is_for_datagrams(process: int, number: int) -> bool:
    try:
        with socket.socket(fileno=descriptor_of(process, number)) as found:
            return found.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE) == socket.SOCK_DGRAM
    except OSError:
        return False


def _say(line: str, output: int) -> None:
    with suppress(OSError):
        os.write(output, f"{line}\n".encode())
