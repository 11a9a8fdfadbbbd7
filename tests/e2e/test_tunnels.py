"""Tunnels through the proxy, decrypted or not, have the limits of other connections, and one for silence."""

import re
import socket
import ssl
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from tests.e2e.conftest import Gateways
from tests.e2e.mitmweb import wait_for
from tests.e2e.raw import (
    connected,
    connection,
    cut_off,
    full_queue,
    one_answer,
    pushed,
    resident_mb,
    status_of,
    until_closed,
)
from tests.e2e.server import Running
from tests.e2e.test_connection_limits import CHAT, HEAD, LIMIT, MIB, chunked
from tests.e2e.upstream import Upstream


@pytest.fixture(scope="module")
def server(gateways: Gateways) -> Iterator[Running]:
    limit = str(LIMIT)
    running = gateways(
        detection="patterns", body_limit_bytes=limit, head_timeout_seconds="3", tunnel_timeout_seconds="4"
    )
    yield running
    assert running.faults() == []


def test_bytes_sent_before_a_tunnel_is_open_are_not_buffered(server: Running) -> None:
    before = resident_mb(server.process.pid)
    # No connection attempt is answered.
    with full_queue() as port, connection(server.proxy_port) as sock:
        connected(sock, f"127.0.0.1:{port}")
        assert pushed(sock, b"\x00" * 65536, 40 * MIB) < 20 * MIB
    assert resident_mb(server.process.pid) - before < 30


def client_hello() -> bytes:
    sent = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), sent, server_hostname="a.test").do_handshake()
    return sent.read()


@contextmanager
def tunnel(server: Running, upstream: Upstream) -> Iterator[tuple[ssl.SSLSocket, str]]:
    """A TLS connection through the proxy, and the beginning of a request on it."""
    place = f"localhost:{upstream.port}"
    context = server.trust
    with connection(server.proxy_port) as sock:
        connected(sock, place)
        with context.wrap_socket(sock, server_hostname="localhost") as secure:
            yield secure, HEAD.replace("Host: gateway", f"Host: {place}")


def test_inside_tls_the_same_holds(server: Running, tls_upstream: Upstream) -> None:
    """The proxy reads decrypted requests by the same rules, and a tunnel to it outlives its first request."""
    with tunnel(server, tls_upstream) as (secure, post):
        for _ in range(2):
            secure.sendall(f"{post}Transfer-Encoding: chunked\r\n\r\n".encode() + chunked(CHAT, trailers="X-A: 1\r\n"))
            assert status_of(one_answer(secure)) == 200
        secure.sendall(f"{post}X-SVC-Key: svck_not-a-key\r\nContent-Length: 200000\r\n\r\n".encode())
        assert status_of(one_answer(secure)) == 401
    with tunnel(server, tls_upstream) as (secure, post):
        secure.sendall(f"{post}X: {'y' * 70_000}\r\n\r\n".encode())
        assert status_of(one_answer(secure)) == 431


BEGUN = {
    "head": "Content-Le",
    "body": "Content-Length: 100\r\n\r\n{",
    "chunk": "Transfer-Encoding: chunked\r\n\r\n",
}
HOSTS = {"not-intercepted": "127.0.0.1", "intercepted": "localhost"}
FIRST = {"raw": b"\x00", "tls": client_hello()}


@pytest.fixture(scope="module")
def ends(server: Running, _tls: Upstream) -> Iterator[dict[str, Future[bytes]]]:
    """Returns the bytes that silent clients get until they are disconnected. All wait at the same time."""

    def after_connect(host: str) -> bytes:
        with connection(server.proxy_port) as sock:
            connected(sock, f"{host}:{_tls.port}")
            return until_closed(sock)

    def inside_tls(begun: str) -> bytes:
        with tunnel(server, _tls) as (secure, post):
            secure.sendall(f"{post}{begun}".encode())
            answer = one_answer(secure)
            assert until_closed(secure) == b""
            return answer

    def on_both_sides(first: bytes) -> bytes:
        with socket.create_server(("127.0.0.1", 0)) as host, connection(server.proxy_port) as sock:
            connected(sock, f"127.0.0.1:{host.getsockname()[1]}")
            sock.sendall(first)
            with host.accept()[0] as far:
                far.settimeout(20)
                # Longer than each of the time limits.
                for _ in range(6):
                    far.sendall(b".")
                    assert sock.recv(65536) == b"."
                    time.sleep(1)
                assert until_closed(sock) == b""
                return until_closed(far)

    with ThreadPoolExecutor(len(HOSTS) + len(BEGUN) + len(FIRST)) as pool:
        yield {
            **{name: pool.submit(after_connect, host) for name, host in HOSTS.items()},
            **{name: pool.submit(inside_tls, begun) for name, begun in BEGUN.items()},
            **{name: pool.submit(on_both_sides, first) for name, first in FIRST.items()},
        }


@pytest.mark.parametrize("name", HOSTS)
def test_a_client_that_is_silent_after_connect_is_closed(ends: dict[str, Future[bytes]], name: str) -> None:
    assert ends[name].result() == b""


@pytest.mark.parametrize("name", FIRST)
def test_a_tunnel_is_closed_when_neither_side_sends(ends: dict[str, Future[bytes]], name: str) -> None:
    assert ends[name].result() == FIRST[name]


@pytest.mark.parametrize("name", BEGUN)
def test_inside_tls_a_client_that_falls_silent_is_let_go(ends: dict[str, Future[bytes]], name: str) -> None:
    assert status_of(ends[name].result()) == 408


@pytest.mark.parametrize("piece", [b"10000\r\n" + b" " * 0x10000 + b"\r\n", b"zz\r\n"], ids=["over-limit", "no-size"])
def test_inside_tls_a_refused_body_is_cut_off(server: Running, tls_upstream: Upstream, piece: bytes) -> None:
    for _ in range(8):
        with tunnel(server, tls_upstream) as (secure, post):
            secure.sendall(f"{post}Transfer-Encoding: chunked\r\n\r\n".encode())
            cut_off(secure, piece * (1 + 65536 // len(piece)))
            assert status_of(one_answer(secure)) in (400, 413)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_client_without_the_proxy_s_authority_is_named_in_the_log(
    server: Running, gateways: Gateways, tls_upstream: Upstream, version: ssl.TLSVersion
) -> None:
    """In TLS 1.3 the handshake has ended for the proxy when the client refuses its certificate."""
    if version is ssl.TLSVersion.TLSv1_3:
        # The other gateway would count it, and log it after a minute.
        server = gateways(detection="patterns", head_timeout_seconds="4")
    place, before = f"localhost:{tls_upstream.port}", len(server.output())
    context = ssl.create_default_context()
    context.maximum_version = version
    with connection(server.proxy_port) as sock:
        connected(sock, place)
        with pytest.raises(ssl.SSLCertVerificationError):
            context.wrap_socket(sock, server_hostname="localhost")
    wait_for(lambda: re.search("does not trust the (?:proxy's )?certificate", server.output()[before:]))
