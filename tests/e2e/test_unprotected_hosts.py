"""Known hosts of models that cannot be protected are refused in every mode, unless the settings say otherwise."""

import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Gateways
from tests.e2e.raw import answer_to, connected, connection, status_of, until_closed
from tests.e2e.server import Running, free_port, gateway

LISTED = (
    "chat.openai.com",
    "CHAT.OPENAI.COM",
    "chat.openai.com.",
    "api2.codeium.com",
    "llm.zed.dev",
)


@pytest.fixture(scope="module")
def server(gateways: Gateways) -> Iterator[tuple[Running, int]]:
    socks = free_port()
    arguments = ("--mode", f"socks5@127.0.0.1:{socks}", "--intercept", "api2.cursor.sh")
    running = gateways(*arguments, detection="patterns")
    yield running, socks
    assert "Addon error" not in running.output()


def connect(host: str, port: int = 443) -> bytes:
    return f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()


def absolute(host: str) -> bytes:
    return f"GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()


def by_host(host: str) -> bytes:
    return f"GET http://192.0.2.1/ HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()


@pytest.mark.parametrize("host", LISTED)
@pytest.mark.parametrize("form", [connect, absolute, by_host])
def test_a_listed_host_is_refused_with_the_reason(server: tuple[Running, int], form: object, host: str) -> None:
    answer = answer_to(server[0].proxy_port, form(host))  # type: ignore[operator]
    assert status_of(answer) == 403
    assert b'"unprotected_host"' in answer
    assert b"`unprotected_hosts" in answer
    assert b"Instead, " in answer


def handshake(sock: socket.socket, name: str) -> None:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.wrap_socket(sock, server_hostname=name).close()


def over_socks5(sock: socket.socket, place: bytes) -> None:
    """Asks for a connection to an address as SOCKS5 writes it."""
    sock.sendall(b"\x05\x01\x00\x05\x01\x00" + place)
    said = b""
    while len(said) < 12:
        said += sock.recv(12 - len(said))
    assert said[:4] == b"\x05\x00\x05\x00"


@pytest.mark.parametrize("name", ["chat.openai.com", "ws.ChatGPT.com", "gemini.google.com"])
def test_the_name_in_a_hello_is_refused_where_the_address_tells_nothing(server: tuple[Running, int], name: str) -> None:
    running, port = server
    with socket.create_server(("127.0.0.1", 0)) as service:
        service.settimeout(0)
        place = service.getsockname()[1]
        with connection(running.proxy_port) as sock:
            connected(sock, f"127.0.0.1:{place}")
            with pytest.raises(ssl.SSLError, match=r"(?i)access.denied"):
                handshake(sock, name)
        with connection(port) as sock:
            over_socks5(sock, b"\x01\x7f\x00\x00\x01" + place.to_bytes(2))
            with pytest.raises(ssl.SSLError, match=r"(?i)access.denied"):
                handshake(sock, name)
        with pytest.raises(BlockingIOError):
            service.accept()


def test_a_name_given_to_socks5_is_refused(server: tuple[Running, int]) -> None:
    with connection(server[1]) as sock:
        over_socks5(sock, b"\x03\x0bllm.zed.dev\x01\xbb")
        sock.sendall(b"\x00")
        assert until_closed(sock) == b""


def test_a_host_that_is_intercepted_is_not_refused(server: tuple[Running, int]) -> None:
    running, _ = server
    context = running.trust
    with connection(running.proxy_port) as sock:
        connected(sock, "api2.cursor.sh:443")
        with context.wrap_socket(sock, server_hostname="api2.cursor.sh") as secure:
            secure.sendall(b"POST /unknown HTTP/1.1\r\nHost: api2.cursor.sh\r\nContent-Length: 1\r\n\r\nx")
            assert status_of(secure.recv(65536)) == 415


def test_other_hosts_are_tunnelled(server: tuple[Running, int]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as service, connection(server[0].proxy_port) as sock:
        service.settimeout(20)
        connected(sock, f"127.0.0.1:{service.getsockname()[1]}")
        sock.sendall(b"\x00\x01")
        with service.accept()[0] as reached:
            assert reached.recv(10) == b"\x00\x01"


def test_refusals_are_in_the_log(server: tuple[Running, int]) -> None:
    answer_to(server[0].proxy_port, connect("canary.cursor.sh"))
    text = server[0].output()
    assert "such as `*.cursor.sh` (Cursor;" in text
    assert "canary" not in text


def test_the_setting_lets_them_pass(tmp_path: Path) -> None:
    environment = {"SVC_DETECTION": "patterns", "SVC_UNPROTECTED_HOSTS": "tunnel"}
    with gateway(tmp_path, environment=environment) as running, connection(running.proxy_port) as sock:
        sock.sendall(connect("chat.openai.com"))
        # Without a network, the name cannot be resolved.
        assert status_of(sock.recv(65536)) in (200, 502)


@pytest.mark.parametrize("host", ["chatgpt.com", "cloudcode-pa.googleapis.com", "api.individual.githubcopilot.com"])
def test_the_host_of_a_sign_in_is_refused_where_it_is_not_intercepted(gateways: Gateways, host: str) -> None:
    running = gateways(config='intercept_hosts = ["api.openai.com"]', detection="patterns")
    answer = answer_to(running.proxy_port, connect(host))
    assert status_of(answer) == 403
    assert b"`intercept_also`" in answer


def test_without_the_proxy_nothing_listens_on_its_port(tmp_path: Path) -> None:
    with gateway(tmp_path, "--no-proxy", environment={"SVC_DETECTION": "patterns"}) as running:
        with pytest.raises(ConnectionRefusedError), connection(running.proxy_port):
            pass
        assert "as a proxy" not in running.output()
        with running.client() as client:
            assert client.get("/v1/models").status_code == 200
