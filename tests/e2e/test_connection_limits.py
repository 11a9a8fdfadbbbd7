"""A client without a key cannot block others: limits bound what it sends, keeps open and leaves unfinished."""

import json
import re
import resource
import socket
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.conftest import Gateways
from tests.e2e.raw import (
    answer_to,
    connection,
    cut_off,
    one_answer,
    open_files,
    pushed,
    resident_mb,
    status_of,
    until_closed,
)
from tests.e2e.server import OPERATOR_KEY, Running, gateway
from tests.e2e.upstream import Upstream

MIB = 1024 * 1024
KEY = f"Authorization: Bearer {OPERATOR_KEY}\r\n"
CHAT = json.dumps({"model": "svc-demo", "messages": [{"role": "user", "content": "hello"}]}).encode()
HEAD = "POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\n"
LIMIT = 256 * 1024


def few_files() -> None:
    """The descriptors of a usual shell, hard as well as soft, so that the limit cannot be raised."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))


@pytest.fixture(scope="module")
def server(gateways: Gateways) -> Iterator[Running]:
    running = gateways(
        prepare=few_files,
        detection="patterns",
        body_limit_bytes=str(LIMIT),
        body_room_bytes=str(2 * LIMIT),
        head_timeout_seconds="3",
        idle_timeout_seconds="4",
    )
    yield running
    assert running.faults() == []


@pytest.fixture(autouse=True)
def _still_serves(server: Running) -> Iterator[None]:
    yield
    assert status_of(answer_to(server.port, f"{HEAD}{KEY}{_sized(CHAT)}".encode() + CHAT)) == 200


def _sized(body: bytes) -> str:
    return f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"


def chunked(*pieces: bytes, trailers: str = "") -> bytes:
    body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return body + f"0\r\n{trailers}\r\n".encode()


@pytest.mark.parametrize("listener", ["port", "proxy_port"])
@pytest.mark.parametrize(
    "start",
    [
        b"GET / HTTP/1.1\r\nHost: a\r\nX-A: ",
        b"GET / HTTP/1.1\r\nX-A: ",
        b"GET /",
        b"X",
        b"\x16\x03\x01\xff\xff\x01\x00\xff\xff",
    ],
)
def test_a_head_without_end_is_refused_before_it_fills_memory(server: Running, listener: str, start: bytes) -> None:
    before = resident_mb(server.process.pid)
    with connection(getattr(server, listener)) as sock:
        sock.sendall(start)
        # Beyond the limit there are only the buffers of the two kernels, and what is discarded.
        assert pushed(sock, b"a" * 65536, 40 * MIB) < 20 * MIB
    assert resident_mb(server.process.pid) - before < 30


@pytest.mark.parametrize("listener", ["port", "proxy_port"])
@pytest.mark.parametrize(
    "head",
    [
        "GET http://a.test/ HTTP/1.1\r\nHost: a\r\n" + "X: y\r\n" * 20_000 + "\r\n",
        "GET http://a.test/ HTTP/1.1\r\nHost: a\r\n" + "X: y\r\n" * 300 + "\r\n",
        "GET http://a.test/ HTTP/1.1\r\nHost: a\r\nX: y\r\n" + " folded\r\n" * 300 + "\r\n",
        "GET http://a.test/" + "a" * 70_000 + " HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nHost: a\r\nX: " + "y" * 70_000 + "\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nX: " + "y" * 70_000 + "\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nX: " + "y" * 200_000,
    ],
    ids=["20000-fields", "300-fields", "folded", "long-target", "long-field", "no-host", "no-host-and-no-end"],
)
def test_a_head_beyond_the_limits_is_refused_and_closed(server: Running, listener: str, head: str) -> None:
    answer = answer_to(getattr(server, listener), head.encode())
    assert status_of(answer) == 431
    assert b'"head_too_large"' in answer


@pytest.mark.parametrize(
    "begun",
    [b"GET / HTTP/1.1\r\nHost:" + b" " * 20_000, b"A" * 30_000, b"GET " + b" " * 30_000],
    ids=["spaces", "letters", "blanks"],
)
def test_an_unfinished_head_costs_others_nothing(server: Running, begun: bytes) -> None:
    """mitmproxy's search for the host in it took cubic time, on the loop that serves all clients."""
    with connection(server.port) as slow, connection(server.port) as other:
        slow.sendall(begun)
        other.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        assert status_of(one_answer(other)) == 200


@pytest.mark.parametrize("key", ["", "Authorization: Bearer svck_not-a-key\r\n", "X-SVC-Key: svck_not-a-key\r\n"])
@pytest.mark.parametrize("body", ["Content-Length: 200000", "Transfer-Encoding: chunked"])
@pytest.mark.parametrize("expect", ["", "Expect: 100-continue\r\n"])
def test_the_key_is_checked_before_the_body_is_read(server: Running, key: str, body: str, expect: str) -> None:
    """Not a byte of the body is sent, and the answer is there."""
    answer = answer_to(server.port, f"{HEAD}{key}{expect}{body}\r\n\r\n".encode())
    assert status_of(answer) == 401
    assert b'"unauthorized"' in answer
    assert b"100 Continue" not in answer


@pytest.mark.parametrize("body", ["Content-Length: 1000\r\n\r\n", "Content-Length: 65536\r\n\r\n"])
def test_without_a_key_not_even_a_small_body_is_read(server: Running, body: str) -> None:
    answer = answer_to(server.port, f"{HEAD}{body}".encode())
    assert status_of(answer) == 401


def test_a_small_body_with_a_wrong_key_is_refused(server: Running) -> None:
    """The key is checked together with the body, which saves a round trip between the processes."""
    answer = answer_to(server.port, f"{HEAD}X-SVC-Key: svck_not-a-key\r\n{_sized(CHAT)}".encode() + CHAT)
    assert status_of(answer) == 401


def test_a_body_that_is_on_its_way_does_not_hide_the_refusal(server: Running) -> None:
    """The connection is closed once the client has stopped, or it would lose the answer to a reset."""
    with connection(server.port) as sock:
        sock.sendall(f"{HEAD}Content-Length: {LIMIT - 1}\r\n\r\n".encode() + b" " * (LIMIT - 1))
        assert status_of(until_closed(sock)) == 401


def test_a_refusal_closes_only_the_gateways_side_at_first(server: Running) -> None:
    """The client reads the end of the answer while it may still send, and its data is not answered by a reset."""
    with connection(server.port) as sock:
        sock.sendall(f"{HEAD}Content-Length: {LIMIT - 1}\r\n\r\n".encode())
        assert status_of(until_closed(sock)) == 401
        for _ in range(5):
            sock.sendall(b" " * 1024)
            time.sleep(0.1)


def test_a_flood_after_the_refusal_is_cut_off(server: Running) -> None:
    with connection(server.port) as sock:
        sock.sendall(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode())
        assert pushed(sock, b"10000\r\n" + b"a" * 65536 + b"\r\n", 40 * MIB) < 20 * MIB


def test_expect_continue_is_answered_where_the_body_may_come(server: Running) -> None:
    with connection(server.port) as sock:
        sock.sendall(f"{HEAD}{KEY}Expect: 100-continue\r\n{_sized(CHAT)}".encode())
        assert status_of(sock.recv(65536)) == 100
        sock.sendall(CHAT)
        assert status_of(until_closed(sock)) == 200


@pytest.mark.parametrize(
    "body",
    [f"Content-Length: {LIMIT + 1}\r\n\r\n".encode(), f"Content-Length: {100 * LIMIT}\r\n\r\n".encode()],
    ids=["above", "far-above"],
)
def test_a_declared_body_over_the_limit_is_refused_at_its_head(server: Running, body: bytes) -> None:
    assert status_of(answer_to(server.port, f"{HEAD}{KEY}".encode() + body)) == 413


def test_a_chunked_body_over_the_limit_is_refused_and_closed(server: Running) -> None:
    with connection(server.port) as sock:
        sock.sendall(f"{HEAD}{KEY}Transfer-Encoding: chunked\r\n\r\n".encode())
        piece = b"4000\r\n" + b" " * 0x4000 + b"\r\n"
        for _ in range(LIMIT // 0x4000 + 1):
            sock.sendall(piece)
        answer = until_closed(sock)
    assert status_of(answer) == 413
    assert f"The body is larger than {LIMIT} bytes; send a smaller one." in answer.decode()


def test_a_chunked_body_over_the_limit_is_refused_after_continue(server: Running) -> None:
    with connection(server.port) as sock:
        sock.sendall(f"{HEAD}{KEY}Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        assert status_of(sock.recv(65536)) == 100
        for _ in range(LIMIT // 0x4000 + 1):
            sock.sendall(b"4000\r\n" + b" " * 0x4000 + b"\r\n")
        assert status_of(until_closed(sock)) == 413


def test_a_client_that_sends_on_after_its_answer_is_closed(server: Running) -> None:
    """mitmproxy lost the socket of a connection that it closed while more data waited to be handled."""
    before = open_files(server.process.pid)
    with ExitStack() as held:
        for _ in range(10):
            sock = held.enter_context(connection(server.port))
            sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            cut_off(sock, b"a" * 65536)
        assert open_files(server.process.pid) < before + 10


def test_a_keyless_page_takes_no_large_body(server: Running) -> None:
    answer = answer_to(server.port, b"POST /docs HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n")
    assert status_of(answer) == 413


def test_a_keyless_page_takes_no_large_chunked_body(server: Running) -> None:
    """Its limit, which is lower than that of other bodies, is known once the gateway has seen the head."""
    with connection(server.port) as sock:
        sock.sendall(b"POST /docs HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert status_of(sock.recv(65536)) == 100
        sock.sendall(chunked(b" " * 100_000))
        assert status_of(until_closed(sock)) == 413


@pytest.mark.parametrize("trailers", ["X-Checksum: abc\r\n", "X-A: 1\r\nX-B: 2\r\n"], ids=["one", "two"])
def test_trailers_are_read_and_dropped(server: Running, trailers: str) -> None:
    with connection(server.port) as sock:
        for _ in range(2):
            request = f"{HEAD}{KEY}Transfer-Encoding: chunked\r\n\r\n".encode()
            sock.sendall(request + chunked(CHAT[:20], CHAT[20:], trailers=trailers))
            assert status_of(one_answer(sock)) == 200


@pytest.mark.parametrize(
    "body",
    [
        chunked(*[b" "] * 30_000),
        b"1" + b"0" * 8000,
        b"1;" + b"x" * 8000,
        b"zz\r\n",
        b"1\r\nabc\r\n",
        b"0\r\n" + b"X: y\r\n" * 2000 + b"\r\n",
        b"0\r\n" + b"X: " + b"y" * 90_000,
        b"0\r\nno field\r\n\r\n",
    ],
    ids=["tiny", "long-size", "extension", "no-size", "wrong-size", "many-trailers", "endless-trailer", "bad-trailer"],
)
def test_a_chunked_body_that_breaks_the_rules_is_refused_and_closed(server: Running, body: bytes) -> None:
    answer = answer_to(server.port, f"{HEAD}{KEY}Transfer-Encoding: chunked\r\n\r\n".encode() + body)
    assert status_of(answer) == 400
    assert b'"invalid_request"' in answer


def test_a_body_in_small_chunks_is_read(server: Running) -> None:
    pieces = [CHAT[at : at + 3] for at in range(0, len(CHAT), 3)] + [b" "] * 10_000
    request = f"{HEAD}{KEY}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    assert status_of(answer_to(server.port, request + chunked(*pieces))) == 200


# The bytes that a client sends before it falls silent, and the answer of each listener.
SILENCES: dict[str, tuple[bytes, dict[str, int]]] = {
    "nothing": (b"", {"port": 0, "proxy_port": 0}),
    "head": (b"GET / HTTP/1.1\r\n", {"port": 408, "proxy_port": 408}),
    "hello": (b"\x16\x03\x01", {"port": 0, "proxy_port": 0}),
    # Through the proxy, these go to a host that is none of ours, and that is not there.
    "body": (f"{HEAD}{KEY}Content-Length: 100\r\n\r\n{{".encode(), {"port": 408, "proxy_port": 502}),
    "chunk": (f"{HEAD}{KEY}Transfer-Encoding: chunked\r\n\r\n1\r\n".encode(), {"port": 408, "proxy_port": 502}),
    "next-request": (b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", {"port": 200, "proxy_port": 502}),
}
LISTENERS = ("port", "proxy_port")


@pytest.fixture(scope="module")
def answers_to_silence(server: Running) -> Iterator[dict[tuple[str, str], Future[bytes]]]:
    """All clients are silent at once, since each waits for seconds."""

    def answer(begun: bytes, listener: str) -> bytes:
        if listener == "proxy_port":
            # A gateway key would be refused on its way to a host that is not intercepted.
            begun = begun.replace(KEY.encode(), b"Authorization: Bearer of-the-provider\r\n")
        return answer_to(getattr(server, listener), begun)

    with ThreadPoolExecutor(len(SILENCES) * len(LISTENERS)) as pool:
        yield {
            (name, listener): pool.submit(answer, begun, listener)
            for name, (begun, _) in SILENCES.items()
            for listener in LISTENERS
        }


@pytest.mark.parametrize("listener", LISTENERS)
@pytest.mark.parametrize("name", SILENCES)
def test_a_client_that_falls_silent_is_let_go(
    answers_to_silence: dict[tuple[str, str], Future[bytes]], name: str, listener: str
) -> None:
    assert status_of(answers_to_silence[name, listener].result()) == SILENCES[name][1][listener]


def test_more_silent_connections_than_descriptors_block_no_client(server: Running) -> None:
    with ExitStack() as held:
        for number in range(1100):
            sock = held.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=20))
            if number % 3 == 0:
                sock.sendall(b"GET / HTTP/1.1\r\n")
            elif number % 3 == 1:
                sock.sendall(f"{HEAD}{KEY}Content-Length: 100\r\n\r\n".encode())
        assert status_of(answer_to(server.port, f"{HEAD}{KEY}{_sized(CHAT)}".encode() + CHAT)) == 200
        assert open_files(server.process.pid) < 1000
    assert "idle connections to make room" in server.output()
    assert "max_connections: only" in server.output()


def test_requests_sent_ahead_are_not_hoarded(server: Running, upstream: Upstream) -> None:
    """A client that sends on while its request waits for an upstream."""
    with socket.create_server(("127.0.0.1", 0)) as silent, connection(server.proxy_port) as sock:
        sock.sendall(f"GET http://127.0.0.1:{silent.getsockname()[1]}/ HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        with silent.accept()[0]:
            assert pushed(sock, b"a" * 65536, 40 * MIB) < 20 * MIB


@pytest.mark.parametrize("option", ["close", "Close", "keep-alive, CLOSE"])
def test_a_client_may_have_its_connection_closed(server: Running, option: str) -> None:
    with connection(server.port) as sock:
        sock.sendall(f"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: {option}\r\n\r\n".encode())
        assert status_of(until_closed(sock)) == 200


@pytest.mark.parametrize(
    "head",
    [b"HTTP/1.1 200 OK\r\nX: " + b"y" * 40 * MIB, b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20_000 + b"\r\n"],
    ids=["endless", "20000-fields"],
)
def test_an_upstream_head_beyond_the_limits_is_a_bad_gateway(
    server: Running, talker: tuple[int, list[bytes]], head: bytes
) -> None:
    port, said = talker
    said.append(head)
    before = resident_mb(server.process.pid)
    answer = answer_to(server.proxy_port, f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    assert status_of(answer) == 502
    assert resident_mb(server.process.pid) - before < 30


def test_an_upstream_may_send_interim_responses(server: Running, talker: tuple[int, list[bytes]]) -> None:
    port, said = talker
    interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n"
    said.append(interim + b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
    request = f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n"
    answer = answer_to(server.proxy_port, request.encode())
    assert status_of(answer) == 200
    assert answer.endswith(b"hello")


def test_an_upstream_may_send_trailers(server: Running, talker: tuple[int, list[bytes]]) -> None:
    port, said = talker
    said.append(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(b"hello", trailers="X-A: 1\r\n"))
    request = f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    answer = answer_to(server.proxy_port, request.encode())
    assert status_of(answer) == 200
    assert answer.endswith(b"5\r\nhello\r\n0\r\n\r\n")


def test_every_request_that_cannot_be_read_is_counted_in_the_log(tmp_path: Path) -> None:
    with gateway(tmp_path, environment={"SVC_DETECTION": "patterns"}) as running:
        for _ in range(23):
            assert status_of(answer_to(running.port, b"BAD\r\n\r\n")) == 400
    counts = re.findall(r"refused requests whose head or body could not be read: (\d+)", running.output())
    assert sum(map(int, counts)) == 23
    assert len(counts) == 2


def test_a_key_with_too_many_requests_under_way_has_to_wait(server: Running) -> None:
    large = CHAT[:-1] + b" " * (LIMIT - 1000) + b"}"
    request = f"{HEAD}{KEY}{_sized(large)}".encode()
    with connection(server.port) as first:
        first.sendall(request + large[:-1])
        time.sleep(0.2)
        refused = answer_to(server.port, request + large)
        assert status_of(refused) == 429
        assert b"\r\nretry-after: 5\r\n" in refused.lower()
        # Small ones have room still.
        assert status_of(answer_to(server.port, f"{HEAD}{KEY}{_sized(CHAT)}".encode() + CHAT)) == 200
        first.sendall(large[-1:])
        assert status_of(first.recv(65536)) == 200
    assert status_of(answer_to(server.port, request + large)) == 200
