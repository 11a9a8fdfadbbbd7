"""Proxy clients on other machines reach no service of the gateway's machine and network but those that are listed."""

import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.e2e.conftest import Gateways
from tests.e2e.other_machine import OtherMachine, other_machine, why_not
from tests.e2e.raw import one_answer, status_of, until_closed
from tests.e2e.server import Running, free_port
from tests.e2e.upstream import Upstream

pytestmark = pytest.mark.skipif(why_not() is not None, reason=why_not() or "")


@pytest.fixture(scope="module")
def machine() -> Iterator[OtherMachine]:
    try:
        with other_machine() as made:
            yield made
    except subprocess.CalledProcessError:
        pytest.skip("the system does not allow network namespaces")


@dataclass
class Setting:
    running: Running
    socks_port: int
    listed: int


@pytest.fixture(scope="module")
def setting(gateways: Gateways, machine: OtherMachine) -> Setting:
    """A gateway whose proxy and SOCKS5 listen on all addresses. One service of this machine is listed."""
    socks, listed = free_port(), free_port()
    running = gateways(
        *("--proxy-host", "0.0.0.0", "--mode", f"socks5@0.0.0.0:{socks}"),
        detection="patterns",
        accept_risks="open_proxy",
        proxy_private_destinations=f"127.0.0.1:{listed}",
    )
    return Setting(running, socks, listed)


def absolute(host: str, port: int) -> bytes:
    return f"GET http://{host}:{port}/ HTTP/1.1\r\nHost: stranger.test\r\nConnection: close\r\n\r\n".encode()


def connect(host: str, port: int) -> bytes:
    return f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()


SPELLINGS = ("127.0.0.1", "127.1", "2130706433", "0.0.0.0", "[::ffff:127.0.0.1]", "localhost", "169.254.169.254")


@pytest.mark.parametrize("form", [absolute, connect])
@pytest.mark.parametrize("host", [*SPELLINGS, "HERE"])
def test_no_private_destination_is_reached(setting: Setting, machine: OtherMachine, form: object, host: str) -> None:
    with socket.create_server(("0.0.0.0", 0)) as service:
        service.settimeout(0)
        place = machine.here if host == "HERE" else host
        with machine.connect(setting.running.proxy_port) as sock:
            sock.sendall(form(place, service.getsockname()[1]))  # type: ignore[operator]
            answer = until_closed(sock)
        assert status_of(answer) == 403
        assert b'"private_destination"' in answer
        assert b"proxy_private_destinations" in answer
        with pytest.raises(BlockingIOError):
            service.accept()


@pytest.mark.parametrize("form", [absolute, connect])
def test_a_listed_destination_is_reached(setting: Setting, machine: OtherMachine, form: object) -> None:
    with socket.create_server(("127.0.0.1", setting.listed)) as service:
        service.settimeout(20)
        with machine.connect(setting.running.proxy_port) as sock:
            sock.sendall(form("127.0.0.1", setting.listed))  # type: ignore[operator]
            if form is connect:
                assert status_of(sock.recv(65536)) == 200
                sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            reached, _ = service.accept()
            with reached:
                reached.settimeout(20)
                assert reached.recv(65536).startswith(b"GET / HTTP/1.1")
                reached.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
                assert one_answer(sock).endswith(b"ok")


@pytest.mark.parametrize("form", [absolute, connect])
def test_the_gateways_own_listeners_are_not_reached_either(
    setting: Setting, machine: OtherMachine, form: object
) -> None:
    with machine.connect(setting.running.proxy_port) as sock:
        sock.sendall(form("127.0.0.1", setting.running.port))  # type: ignore[operator]
        answer = until_closed(sock)
    assert status_of(answer) == 403
    assert b"own listeners" in answer


def test_the_address_of_the_proxy_is_not_that_of_the_gateway(setting: Setting, machine: OtherMachine) -> None:
    with pytest.raises(ConnectionRefusedError):
        machine.connect(setting.running.port)


def over_socks5(sock: socket.socket, host: str, port: int) -> int:
    """Asks for a connection, and returns the code of the answer."""
    sock.sendall(b"\x05\x01\x00")
    assert sock.recv(2) == b"\x05\x00"
    name = host.encode()
    sock.sendall(b"\x05\x01\x00\x03" + bytes([len(name)]) + name + port.to_bytes(2))
    return sock.recv(10)[1]


def test_socks5_leads_to_no_private_destination(setting: Setting, machine: OtherMachine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as service:
        service.settimeout(0)
        for host, code in (("127.0.0.1", 0), ("localhost", 2)):
            with machine.connect(setting.socks_port) as sock:
                assert over_socks5(sock, host, service.getsockname()[1]) == code
                if code == 0:
                    sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                assert until_closed(sock) == b""
        with pytest.raises(BlockingIOError):
            service.accept()


def test_an_intercepted_host_is_no_exception(setting: Setting, machine: OtherMachine, tls_upstream: Upstream) -> None:
    context = setting.running.trust
    body = b'{"model": "m", "messages": [{"role": "user", "content": "hi"}]}'
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
    with machine.connect(setting.socks_port) as sock:
        assert over_socks5(sock, "localhost", tls_upstream.port) == 0
        with context.wrap_socket(sock, server_hostname="localhost") as secure:
            secure.sendall(f"{head}Content-Type: application/json\r\nAuthorization: Bearer k\r\n\r\n".encode() + body)
            answer = one_answer(secure)
    assert status_of(answer) == 403
    assert b'"private_destination"' in answer
    assert not tls_upstream.recorded


def test_a_client_on_this_machine_reaches_its_own_services(setting: Setting) -> None:
    with socket.create_server(("127.0.0.1", 0)) as service:
        service.settimeout(20)
        with socket.create_connection(("127.0.0.1", setting.running.proxy_port), timeout=20) as sock:
            sock.sendall(connect("127.0.0.1", service.getsockname()[1]))
            assert status_of(sock.recv(65536)) == 200
            sock.sendall(b"\x00")
            reached, _ = service.accept()
            reached.close()


def test_refusals_are_in_the_log_without_the_destination(setting: Setting, machine: OtherMachine) -> None:
    with machine.connect(setting.running.proxy_port) as sock:
        sock.sendall(connect("169.254.169.254", 80))
        assert status_of(until_closed(sock)) == 403
    text = setting.running.output()
    assert "`proxy_private_destinations`" in text
    assert "169.254" not in text
