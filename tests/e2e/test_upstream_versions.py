"""Upstreams at addresses and of versions that few have: an IPv6 address, HTTP/1.0."""

import json
import socket
from collections.abc import Iterator

import pytest

from tests.e2e.conftest import Gateways
from tests.e2e.lacking import lacking
from tests.e2e.raw import connected, connection, each_connection, until_closed
from tests.e2e.server import Running
from tests.gateway.exchange.streaming.support import text_of, text_stream

CHAT = {"model": "m", "messages": [{"role": "user", "content": "Write to w.oxenfoord@acme.test"}]}
WHOLE = json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": "It is I."}}]}).encode()
STREAM = text_stream(["It ", "is I."])


def answer(connection: socket.socket) -> None:
    """Answers in HTTP/1.0, whose answers end when the connection is closed."""
    asked = b""
    while not asked.endswith(b"}"):
        asked += connection.recv(65536)
    streams = b'"stream":true' in asked
    kind = b"text/event-stream" if streams else b"application/json"
    connection.sendall(b"HTTP/1.0 200 OK\r\nset-cookie: a=b\r\ncontent-type: " + kind + b"\r\n\r\n")
    connection.sendall(STREAM if streams else WHOLE)


@pytest.fixture(scope="module")
def old(gateways: Gateways) -> Iterator[tuple[Running, int]]:
    if not socket.has_dualstack_ipv6():
        lacking("this machine has no IPv6")
    with each_connection(answer, "::1") as port:
        arguments = ("--upstream", f"http://[::1]:{port}/v1", "--intercept", f"[::1]:{port}")
        yield gateways(*arguments, detection="patterns", streaming="true"), port


def test_the_proxy_reaches_an_ipv6_address(old: tuple[Running, int]) -> None:
    running, port = old
    body = json.dumps(CHAT).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: [::1]:{port}\r\nContent-Length: {len(body)}\r\n"
    with connection(running.proxy_port) as sock:
        connected(sock, f"[::1]:{port}")
        sock.sendall(head.encode() + b"Connection: close\r\n\r\n" + body)
        answer = until_closed(sock)
    assert answer.startswith(b"HTTP/1.0 200")
    assert answer.endswith(WHOLE)


def test_a_stream_in_chunks_is_of_the_version_that_has_them(old: tuple[Running, int]) -> None:
    running, _ = old
    with running.client() as client:
        answer = client.post("/v1/chat/completions", json={**CHAT, "stream": True})
    assert answer.headers["transfer-encoding"] == "chunked"
    assert answer.http_version == "HTTP/1.1"
    assert text_of(answer.content) == "It is I."


@pytest.mark.parametrize("stream", [False, True])
def test_the_client_gets_the_upstreams_cookies(old: tuple[Running, int], *, stream: bool) -> None:
    running, _ = old
    with running.client() as client:
        answer = client.post("/v1/chat/completions", json={**CHAT, "stream": stream})
    assert answer.headers["set-cookie"] == "a=b"
