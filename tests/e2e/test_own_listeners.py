"""No client reaches the gateway's own listeners through its proxy, by any name."""

import socket
from itertools import product

import pytest

from tests.e2e.conftest import Gateways
from tests.e2e.raw import answer_to, status_of
from tests.e2e.server import Running, free_port

SPELLINGS = (
    "127.0.0.1",
    "127.1",
    "0.0.0.0",
    "0",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "017700000001",
    "0177.0.0.1",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:7f00:0001]",
    "localhost",
    "LOCALHOST",
)
FORMS = {
    "absolute": "GET http://{place}/healthz HTTP/1.1\r\nHost: stranger.test\r\nConnection: close\r\n\r\n",
    "host": "GET /healthz HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n",
    "connect": "CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n",
}


@pytest.fixture(scope="module")
def server(gateways: Gateways) -> tuple[Running, dict[str, int]]:
    socks, wildcard, operations = free_port(), free_port(), free_port()
    modes = ("--mode", f"socks5@127.0.0.1:{socks}", "--mode", f"regular@0.0.0.0:{wildcard}")
    running = gateways(
        *modes, "--operations-port", str(operations), web=True, detection="patterns", accept_risks="open_proxy"
    )
    assert running.web_port is not None
    ports = {"gateway": running.port, "proxy": running.proxy_port, "web": running.web_port}
    return running, ports | {"socks": socks, "wildcard": wildcard, "operations": operations}


@pytest.mark.parametrize(("spelling", "form"), list(product(SPELLINGS, FORMS)))
def test_every_spelling_of_every_listener_is_refused(
    server: tuple[Running, dict[str, int]], spelling: str, form: str
) -> None:
    running, ports = server
    for name, port in ports.items():
        answer = answer_to(running.proxy_port, FORMS[form].format(place=f"{spelling}:{port}").encode())
        assert status_of(answer) == 403, (name, answer[:200])
        assert b"gateway's own listeners" in answer
        assert b"`HTTPS_PROXY`" in answer
        assert b"connection: close" in answer.lower()


@pytest.mark.parametrize("form", FORMS)
def test_the_names_and_addresses_of_the_machine_lead_to_a_listener_on_all_addresses(
    server: tuple[Running, dict[str, int]], form: str
) -> None:
    running, ports = server
    names = {"127.0.0.2", socket.gethostname()}
    names |= {str(each[4][0]) for each in socket.getaddrinfo(socket.gethostname(), 80, socket.AF_INET)}
    for name in names:
        answer = answer_to(running.proxy_port, FORMS[form].format(place=f"{name}:{ports['wildcard']}").encode())
        assert status_of(answer) == 403, (name, answer[:200])


def test_socks_does_not_lead_to_a_listener(server: tuple[Running, dict[str, int]]) -> None:
    running, ports = server
    with socket.create_connection(("127.0.0.1", ports["socks"]), timeout=20) as sock:
        sock.sendall(b"\x05\x01\x00")
        assert sock.recv(2) == b"\x05\x00"
        sock.sendall(b"\x05\x01\x00\x01\x7f\x00\x00\x01" + running.port.to_bytes(2))
        sock.recv(10)
        sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        said = b""
        while data := sock.recv(65536):
            said += data
    assert b'"status"' not in said


def test_another_program_on_another_address_of_the_same_port_is_reached(
    server: tuple[Running, dict[str, int]],
) -> None:
    running, _ = server
    with socket.create_server(("127.0.0.3", running.port)) as other:
        other.settimeout(20)
        with socket.create_connection(("127.0.0.1", running.proxy_port), timeout=20) as sock:
            sock.sendall(f"GET http://127.0.0.3:{running.port}/ HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            reached, _ = other.accept()
            with reached:
                reached.settimeout(20)
                assert reached.recv(65536).startswith(b"GET / HTTP/1.1")
                reached.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                assert status_of(sock.recv(65536)) == 200
