"""`healthcheck`: the exit status says whether the gateway is healthy, the output what is wrong."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.gateway.cli.support import Command, free_port

HEALTHY = b'{"status": "ok", "version": "1"}'
NOT_WRITABLE = b'{"error": {"code": "store_unavailable", "message": "full"}, "request_id": "req_1"}'


@contextmanager
def answering(status: str, body: bytes) -> Iterator[int]:
    """Yields the port of a listener that gives one answer."""
    reply = f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection = server.accept()[0]
            with connection:
                assert connection.recv(65536).startswith(b"GET /healthz HTTP/1.1\r\n")
                connection.sendall(reply)

        thread = threading.Thread(target=answer)
        thread.start()
        yield server.getsockname()[1]
        thread.join(10)


@pytest.mark.parametrize(
    ("status", "body", "problem"),
    [
        ("200 OK", HEALTHY, None),
        ("503 Service Unavailable", NOT_WRITABLE, "503 store_unavailable"),
        ("503 Service Unavailable", HEALTHY, "another program listens"),
        ("200 OK", b"<html>", "another program listens"),
        ("200 OK", b"[]", "another program listens"),
        ("200 OK", b'{"error": 1}', "another program listens"),
    ],
)
def test_the_status_follows_the_answer(command: Command, status: str, body: bytes, problem: str | None) -> None:
    with answering(status, body) as port:
        assert command("healthcheck", "--gateway-port", port) == (problem is not None, f"{problem or 'healthy'}\n")
    with answering(status, body) as port:
        code, told = command.json("healthcheck", "--gateway-port", port)
    assert (code, told) == (problem is not None, {"ok": problem is None, "problem": problem})


def test_without_an_answer(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert command("healthcheck", "--gateway-port", free_port()) == (1, "no program listens\n")
    monkeypatch.setattr("gateway.cli.listeners._SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        told = command("healthcheck", "--gateway-port", silent.getsockname()[1])
    assert told == (1, "no answer within 0.1 seconds\n")


def test_a_port_that_is_not_known_is_a_problem_of_the_settings(command: Command) -> None:
    assert command("healthcheck", "--gateway-port", 0) == (2, "")
    assert "--gateway-port PORT" in command.errors
