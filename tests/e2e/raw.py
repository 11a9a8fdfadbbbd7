"""Talking to a listener byte by byte, as no HTTP library would."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

_PATIENCE = 20


@contextlib.contextmanager
def connection(port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE) as sock:
        yield sock


def until_closed(sock: socket.socket) -> bytes:
    """All that the peer says until it closes. Raises TimeoutError when it does not."""
    said = bytearray()
    with contextlib.suppress(ConnectionResetError):
        while data := sock.recv(65536):
            said += data
    return bytes(said)


def answer_to(port: int, request: bytes) -> bytes:
    """Sends a request, and returns the bytes that arrive until the peer closes."""
    with connection(port) as sock:
        sock.sendall(request)
        return until_closed(sock)


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0


def connected(sock: socket.socket, place: str) -> None:
    """Opens a tunnel to `place` on a connection to the proxy."""
    sock.sendall(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
    assert status_of(sock.recv(65536)) == 200


def one_answer(sock: socket.socket) -> bytes:
    """One response with a Content-Length, on a connection that stays open."""
    said = bytearray()
    while b"\r\n\r\n" not in said:
        data = sock.recv(65536)
        if not data:
            return bytes(said)
        said += data
    head, _, body = bytes(said).partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    while lengths and len(body) < int(lengths[0]):
        data = sock.recv(65536)
        if not data:
            break
        body += data
    return head + b"\r\n\r\n" + body


def pushed(sock: socket.socket, piece: bytes, most: int) -> int:
    """How many bytes of a flood the peer takes, `most` at the utmost, before it closes or stops reading."""
    sock.settimeout(2)
    sent = 0
    with contextlib.suppress(OSError):
        while sent < most:
            sent += sock.send(piece)
    return sent


def cut_off(sock: socket.socket, piece: bytes) -> None:
    """Floods the peer until it closes. Raises TimeoutError if it stops reading and keeps the connection."""
    sock.settimeout(6)
    with pytest.raises((ConnectionError, ssl.SSLError)):
        for _ in range(40 * 1024 * 1024 // len(piece)):
            sock.sendall(piece)


@contextlib.contextmanager
def each_connection(work: Callable[[socket.socket], object], address: str = "127.0.0.1") -> Iterator[int]:
    """The port of a server that does the work with every connection, each in a thread, and then closes it."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.create_server((address, 0), family=family) as server:

        def handle(connection: socket.socket) -> None:
            with contextlib.suppress(OSError), connection:
                work(connection)

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    threading.Thread(target=handle, args=(server.accept()[0],), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def full_queue() -> Iterator[int]:
    """The port of a server whose queue is full: an attempt to connect neither succeeds nor fails."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.socket())
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        yield server.getsockname()[1]


def resident_mb(pid: int) -> int:
    """Memory of a process, in MB (Linux)."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) // 1024


def open_files(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))
