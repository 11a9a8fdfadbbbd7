"""Upstreams at addresses and of versions that few have: an IPv6 address, HTTP/1.0."""

import contextlib
import json
import socket
import threading
from collections.abc import Iterator

import pytest

from tests.e2e.raw import connected, connection, until_closed
from tests.e2e.server import Running, gateway
from tests.gateway.exchange.streaming.support import text_of, text_stream

CHAT = {"model": "m", "messages": [{"role": "user", "content": "Write to w.oxenfoord@acme.test"}]}
WHOLE = json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": "It is I."}}]}).encode()
STREAM = text_stream(["It ", "is I."])


@contextlib.contextmanager
def of_old() -> Iterator[int]:
    """The port of a server of HTTP/1.0 at ::1, which ends every answer by closing."""
    try:
        server = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("This machine has no IPv6.")
    with server:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    taken, _ = server.accept()
                    with taken:
                        asked = b""
                        while not asked.endswith(b"}"):
                            asked += taken.recv(65536)
                        streams = b'"stream":true' in asked
                        kind = b"text/event-stream" if streams else b"application/json"
                        taken.sendall(b"HTTP/1.0 200 OK\r\nset-cookie: a=b\r\ncontent-type: " + kind + b"\r\n\r\n")
                        taken.sendall(STREAM if streams else WHOLE)

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, int]]:
    with of_old() as port:
        arguments = ("--upstream", f"http://[::1]:{port}/v1", "--intercept", f"[::1]:{port}")
        environment = {"SVC_DETECTION": "patterns", "SVC_STREAMING": "true"}
        with gateway(tmp_path_factory.mktemp("old"), *arguments, environment=environment) as running:
            yield running, port


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
