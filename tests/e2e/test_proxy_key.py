"""A proxy that requires a gateway key: who gets through, who the caller is, and where the key does not go."""

import json
import re
import socket
from base64 import b64encode
from collections.abc import Iterator

import httpx
import pytest

from tests.e2e.api_keys import keys, new_key
from tests.e2e.conftest import Gateways
from tests.e2e.mitmweb import everything, operator, wait_for
from tests.e2e.raw import answer_to, connection, one_answer, pushed, status_of, until_closed
from tests.e2e.server import PLAIN, Running, free_port
from tests.e2e.upstream import Upstream

BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "write to anna@acme.example"}]}).encode()
CHAT = (
    f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(BODY)}\r\n"
    "Content-Type: application/json\r\nAuthorization: Bearer of-the-provider\r\n\r\n"
).encode() + BODY


@pytest.fixture(scope="module")
def server(gateways: Gateways) -> tuple[Running, int]:
    socks = free_port()
    mode = f"socks5@127.0.0.1:{socks}"
    return gateways("--mode", mode, web=True, detection="patterns", proxy_key="true", log_level="debug"), socks


@pytest.fixture(scope="module")
def key(server: tuple[Running, int]) -> Iterator[str]:
    """A key. After all tests, checks that neither the log nor mitmweb has it."""
    running, _ = server
    made = new_key(running, "of the proxy")
    yield made
    with operator(running) as client:
        shown = everything(client) + running.output().encode()
    for spelling in (made.encode(), b64encode(f"x:{made}".encode()), b64encode(f"{made}:".encode())):
        assert spelling not in shown


def basic(pair: str) -> str:
    return f"Proxy-Authorization: Basic {b64encode(pair.encode()).decode()}\r\n"


def connect(place: str, header: str) -> bytes:
    return f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{header}\r\n".encode()


def absolute(place: str, header: str) -> bytes:
    return f"GET http://{place}/ HTTP/1.1\r\nHost: {place}\r\n{header}Connection: close\r\n\r\n".encode()


def tunnel_status(running: Running, header: str) -> int:
    """The status of the answer to CONNECT."""
    with connection(running.proxy_port) as sock:
        sock.sendall(connect("127.0.0.1:1", header))
        return status_of(sock.recv(65536))


@pytest.mark.parametrize("form", [connect, absolute])
@pytest.mark.parametrize(
    "header", ["", basic("x:svck_wrong"), "Proxy-Authorization: Bearer nothing\r\n", "X-SVC-Key: k\r\n"]
)
def test_without_a_valid_key_the_answer_is_407_and_nothing_is_reached(
    server: tuple[Running, int], form: object, header: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as service:
        service.settimeout(0)
        place = f"127.0.0.1:{service.getsockname()[1]}"
        answer = answer_to(server[0].proxy_port, form(place, header))  # type: ignore[operator]
        assert status_of(answer) == 407
        assert b"proxy-authenticate: basic" in answer.lower()
        assert b'"proxy_key_required"' in answer
        with pytest.raises(BlockingIOError):
            service.accept()


def test_no_body_is_read_before_the_key(server: tuple[Running, int]) -> None:
    with connection(server[0].proxy_port) as sock:
        sock.sendall(b"POST http://127.0.0.1:1/ HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n")
        assert status_of(one_answer(sock)) == 407
        pushed(sock, b"x" * 65536, 9_000_000)


@pytest.mark.parametrize("header", ["password", "user", "bearer"])
def test_a_valid_key_opens_tunnels_and_plain_http_and_is_not_passed_on(
    server: tuple[Running, int], key: str, header: str
) -> None:
    running, _ = server
    given = {
        "password": basic(f"x:{key}"),
        "user": basic(f"{key}:"),
        "bearer": f"Proxy-Authorization: Bearer {key}\r\n",
    }[header]
    with socket.create_server(("127.0.0.1", 0)) as service:
        service.settimeout(20)
        place = f"127.0.0.1:{service.getsockname()[1]}"
        with connection(running.proxy_port) as sock:
            sock.sendall(connect(place, given))
            assert status_of(sock.recv(65536)) == 200
            sock.sendall(b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
            with service.accept()[0] as reached:
                assert reached.recv(65536) == b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
        with connection(running.proxy_port) as sock:
            sock.sendall(absolute(place, given))
            with service.accept()[0] as reached:
                head = reached.recv(65536)
        assert head.startswith(b"GET / HTTP/1.1")
        assert b"svck_" not in head
        assert b"authorization" not in head.lower()


def test_a_client_sets_the_key_in_the_proxys_url(server: tuple[Running, int], key: str, upstream: Upstream) -> None:
    running, _ = server
    proxy = f"http://x:{key}@127.0.0.1:{running.proxy_port}"
    with httpx.Client(proxy=proxy, trust_env=False, verify=PLAIN, timeout=30) as client:
        assert client.post(f"{upstream.url}/anything", content=BODY).status_code == 200
    assert b"svck_" not in upstream.seen


def in_tunnel(running: Running, upstream: Upstream, header: str, request: bytes) -> bytes:
    context = running.trust
    with connection(running.proxy_port) as sock:
        sock.sendall(connect(f"localhost:{upstream.port}", header))
        assert status_of(sock.recv(65536)) == 200
        with context.wrap_socket(sock, server_hostname="localhost") as secure:
            secure.sendall(request)
            return one_answer(secure)


def receipts_of(running: Running, key: str) -> int:
    """The number of receipts that belong to a key."""
    with running.client(key) as client:
        return int(client.get("/v1/receipts").json()["total"])


def test_the_key_of_the_connection_is_the_caller(server: tuple[Running, int], tls_upstream: Upstream) -> None:
    running, _ = server
    one, other = new_key(running, "of the connection"), new_key(running, "of the request")
    assert status_of(in_tunnel(running, tls_upstream, basic(f"x:{one}"), CHAT)) == 200
    assert (receipts_of(running, one), receipts_of(running, other)) == (1, 0)
    with_own = CHAT.replace(b"\r\n\r\n", f"\r\nX-SVC-Key: {other}\r\n\r\n".encode(), 1)
    assert status_of(in_tunnel(running, tls_upstream, basic(f"x:{one}"), with_own)) == 200
    assert (receipts_of(running, one), receipts_of(running, other)) == (1, 1)
    assert len(tls_upstream.recorded) == 2
    assert all(request.header("authorization") == "Bearer of-the-provider" for request in tls_upstream.recorded)
    assert b"svck_" not in tls_upstream.seen
    assert b"anna@acme.example" not in tls_upstream.seen


def test_a_revoked_key_ends_new_tunnels_and_calls_in_old_ones(
    server: tuple[Running, int], tls_upstream: Upstream
) -> None:
    running, _ = server
    made = keys(running, "create", "soon revoked")
    context = running.trust
    header = basic(f"x:{made['key']}")
    with connection(running.proxy_port) as sock:
        sock.sendall(connect(f"localhost:{tls_upstream.port}", header))
        assert status_of(sock.recv(65536)) == 200
        with context.wrap_socket(sock, server_hostname="localhost") as secure:
            secure.sendall(CHAT)
            assert status_of(one_answer(secure)) == 200
            keys(running, "revoke", made["key_id"])
            wait_for(lambda: tunnel_status(running, header) == 407)
            secure.sendall(CHAT)
            assert status_of(one_answer(secure)) == 401


def test_a_key_without_the_scope_for_models_opens_nothing(server: tuple[Running, int]) -> None:
    running, _ = server
    reader = new_key(running, "reader", "--scope", "receipts:read")
    answer = answer_to(running.proxy_port, connect("127.0.0.1:1", basic(f"x:{reader}")))
    assert status_of(answer) == 403
    assert b"scope_not_permitted" in answer


def test_the_audit_names_the_key(server: tuple[Running, int]) -> None:
    running, _ = server
    made = keys(running, "create", "in the audit")
    assert tunnel_status(running, basic(f"x:{made['key']}")) == 200
    wanted = (made["key_id"], "proxy", "connected")
    wait_for(lambda: wanted in [(use["key_id"], use["call"], use["outcome"]) for use in keys(running, "audit")])


def test_the_log_names_the_key_of_tunnels_and_plain_http(server: tuple[Running, int]) -> None:
    running, _ = server
    made, reader = keys(running, "create", "logged"), keys(running, "create", "logged", "--scope", "receipts:read")

    def logged(key_id: str) -> list[str]:
        lines = [line for line in running.output().splitlines() if "gateway.requests" in line and key_id in line]
        assert all("key_label=logged " in line for line in lines)
        return [word for line in lines for word in re.findall(r'outcome="?(\w+)', line)]

    header = basic(f"x:{made['key']}")
    assert tunnel_status(running, header) == 200
    for request, status in (
        (connect("localhost:1", header), 502),
        (absolute("localhost:1", header), 502),
        (connect(f"localhost:{running.port}", header), 403),
        (connect("localhost:1", basic(f"x:{reader['key']}")), 403),
    ):
        assert status_of(answer_to(running.proxy_port, request)) == status
    expected = ["refused", "tunnel", "upstream_error", "upstream_error"]
    wait_for(lambda: sorted(logged(made["key_id"])) == expected)
    wait_for(lambda: logged(reader["key_id"]) == ["refused"])


def test_socks5_asks_for_the_key(server: tuple[Running, int], key: str) -> None:
    _, port = server
    with socket.create_server(("127.0.0.1", 0)) as service:
        service.settimeout(20)
        request = b"\x05\x01\x00\x01\x7f\x00\x00\x01" + service.getsockname()[1].to_bytes(2)
        with connection(port) as sock:
            sock.sendall(b"\x05\x01\x00" + request)
            assert until_closed(sock)[:2] == b"\x05\xff"
        for user, password, valid in (("x", key, True), (key, "", True), ("x", "svck_wrong", False)):
            with connection(port) as sock:
                sock.sendall(b"\x05\x01\x02")
                assert sock.recv(2) == b"\x05\x02"
                sock.sendall(bytes([1, len(user)]) + user.encode() + bytes([len(password)]) + password.encode())
                assert sock.recv(2) == (b"\x01\x00" if valid else b"\x01\x01")
                if valid:
                    sock.sendall(request)
                    assert sock.recv(10)[:2] == b"\x05\x00"
                    sock.sendall(b"\x00")
                    service.accept()[0].close()


def test_the_gateways_listener_is_as_before(server: tuple[Running, int]) -> None:
    with server[0].client() as client:
        assert client.get("/v1/models").status_code == 200
        assert client.get("/healthz").status_code == 200
