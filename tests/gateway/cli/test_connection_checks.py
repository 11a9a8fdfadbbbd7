"""`doctor` connects to upstreams and proxies, and says how that failed and what to do about it."""

import socket
import ssl
from pathlib import Path

import pytest
import trustme
from pydantic import SecretStr

from gateway.cli.connection_checks import reach_proxy, reach_upstream
from gateway.config.outbound_proxy import OutboundProxy
from gateway.config.upstreams import UpstreamSettings
from tests.e2e.outbound_proxy import ConnectProxy
from tests.e2e.raw import each_connection
from tests.gateway.cli.support import free_port


def way(proxy: ConnectProxy, scheme: str = "http", secret: str = "user:pw") -> OutboundProxy:
    return OutboundProxy("https" if scheme == "https" else "http", "localhost", proxy.port, SecretStr(secret))


def upstream(url: str, ca_file: Path | None = None) -> UpstreamSettings:
    return UpstreamSettings.model_validate({"base_url": url, "ca_file": ca_file})


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_an_upstream_is_reached_through_a_proxy_with_tls_in_the_tunnel(scheme: str, tmp_path: Path) -> None:
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("acme.test").configure_cert(context)
    authority.cert_pem.write_to_path(ca := tmp_path / "ca.pem")

    def speak(sock: socket.socket) -> None:
        with context.wrap_socket(sock, server_side=True) as secure:
            secure.recv(1)

    with (
        ConnectProxy("user:pw").running(authority if scheme == "https" else None) as proxy,
        each_connection(speak) as port,
    ):
        detail, remedy = reach_upstream(upstream(f"https://acme.test:{port}/v1", ca), way(proxy, scheme))
        assert (detail.rpartition(" in ")[0], remedy) == (
            f"acme.test:{port} reached through {scheme}://localhost:{proxy.port}",
            "",
        )
        detail, remedy = reach_upstream(upstream(f"https://other.test:{port}/v1", ca), way(proxy, scheme))
        assert "certificate for another name" in detail
        assert "base_url" in remedy
        assert reach_proxy(way(proxy, scheme), ca)[1] == ""
    assert proxy.asked == [f"CONNECT {name}.test:{port}" for name in ("acme", "other")]


@pytest.mark.parametrize(
    ("said", "found", "remedy"),
    [
        (b"HTTP/1.1 407 canary\r\n\r\n", "requires other credentials", "upstream_proxy_credentials"),
        (b"HTTP/1.1 403 canary\r\n\r\n", "does not permit", "no_proxy"),
        (b"HTTP/1.1 502 canary\r\n\r\n", "could not connect", "base_url"),
        (b"canary\r\n\r\n", "could not connect", "base_url"),
        (b"canary", "could not connect", "base_url"),
    ],
)
def test_what_a_proxy_answers_comes_with_a_remedy(said: bytes, found: str, remedy: str) -> None:
    with ConnectProxy(answer=said).running() as proxy:
        detail, advice = reach_upstream(upstream("https://acme.test/v1"), way(proxy, secret="user:canary"))
    assert detail.startswith("acme.test:443 cannot be reached: the outbound proxy ")
    assert found in detail
    assert remedy in advice
    assert "canary" not in detail + advice


@pytest.mark.parametrize(("status", "found"), [(200, ""), (403, ""), (404, ""), (407, "credentials"), (502, "connect")])
def test_a_proxy_is_asked_to_forward_plain_http(status: int, found: str) -> None:
    with ConnectProxy(answer=b"HTTP/1.1 %d canary\r\n\r\n" % status).running() as proxy:
        detail, advice = reach_upstream(upstream("http://acme.test/v1"), way(proxy))
    assert proxy.asked == ["HEAD http://acme.test:80/"]
    assert ("acme.test:80 reached" in detail, bool(advice)) == (not found, bool(found))
    assert found in detail


def test_a_proxy_that_is_not_there_or_not_trusted_is_a_problem() -> None:
    missing = OutboundProxy("http", "127.0.0.1", free_port())
    detail, remedy = reach_proxy(missing, None)
    assert detail.startswith(f"{missing.url}: the outbound proxy does not answer")
    assert "upstream_proxy" in remedy
    assert reach_upstream(upstream("http://far.test"), missing)[0].startswith("far.test:80 cannot be reached: the outb")
    with ConnectProxy().running(trustme.CA()) as proxy:
        detail, remedy = reach_proxy(way(proxy, "https"), None)
    assert "TLS with the outbound proxy failed" in detail
    assert "upstream_ca" in remedy


def test_an_upstream_without_a_proxy_is_reached_directly() -> None:
    with each_connection(lambda sock: sock.recv(1)) as port:
        detail, remedy = reach_upstream(upstream(f"http://localhost:{port}/v1"), None)
        assert detail.startswith(f"localhost:{port} reached in ")
        assert remedy == ""
    detail, remedy = reach_upstream(upstream(f"http://localhost:{port}/v1"), None)
    assert "refused the connection" in detail
    assert "base_url" in remedy
