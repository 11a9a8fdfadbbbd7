"""Both listeners reach other hosts through the outbound proxy, whose credentials and answers stay with the gateway."""

import contextlib
import json
import socket
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import trustme

from tests.e2e.conftest import Gateways
from tests.e2e.mitmweb import everything, operator, wait_for
from tests.e2e.outbound_proxy import ConnectProxy
from tests.e2e.raw import (
    answer_to,
    connection,
    each_connection,
    pushed,
    resident_mb,
    status_of,
    until_closed,
)
from tests.e2e.server import Running, free_port
from tests.e2e.upstream import Upstream

MAIL = "w.oxenfoord@acme.test"
USER, PASSWORD = "outbound-4711", "canary-4711-password"
REFUSALS = {
    b"HTTP/1.1 403 Canary-4711\r\nX: canary-4711\r\n\r\ncanary-4711": "proxy_denied",
    b"HTTP/1.1 407 Canary-4711\r\n\r\ncanary-4711": "proxy_credentials",
    b"HTTP/1.1 503 Canary-4711\r\n\r\n": "proxy_failed",
    b"canary-4711\r\n\r\n": "proxy_failed",
    b"HTTP/1.1 200 OK\r\nX: " + b"canary-4711" * 10_000: "proxy_failed",
}


@dataclass
class Office:
    """A network with a proxy: only the proxy resolves `model.test` and `secure.test`."""

    running: Running
    proxy: ConnectProxy
    plain: Upstream
    tls: Upstream


@pytest.fixture(scope="module", params=["http", "https"])
def office(
    request: pytest.FixtureRequest, gateways: Gateways, authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Office]:
    proxy = ConnectProxy(f"{USER}:{PASSWORD}")
    secret = tmp_path_factory.mktemp("secret") / "proxy"
    secret.write_text(f"{USER}:{PASSWORD}\n")
    with (
        Upstream().running() as plain,
        Upstream(authority, "secure.test").running() as tls,
        proxy.running(authority if request.param == "https" else None),
    ):
        config = "".join(
            f'[upstreams.{name}]\nbase_url = "{url}"\nmodels = ["{name}"]\n{more}\n'
            for name, url, more in (
                ("plain", f"http://model.test:{plain.port}/v1", ""),
                ("tls", f"https://secure.test:{tls.port}/v1", ""),
                ("loopback", f"http://localhost:{plain.port}/v1", ""),
                ("skipped", f"http://skipped.invalid:{plain.port}/v1", 'proxy = "direct"'),
                ("exempt", f"http://exempt.corp.invalid:{plain.port}/v1", ""),
            )
        )
        running = gateways(
            "--intercept",
            f"secure.test:{tls.port}",
            config=f'upstream_proxy = "{request.param}://localhost:{proxy.port}"\n'
            f'upstream_proxy_credentials = "file:{secret}"\nno_proxy = [".corp.invalid", "10.0.0.0/8"]\n' + config,
            web=True,
            detection="patterns",
            log_level="debug",
        )
        yield Office(running, proxy, plain, tls)
        assert "canary" not in running.output()
        assert "reports a problem" not in running.output()


@pytest.fixture(autouse=True)
def _fresh(request: pytest.FixtureRequest) -> None:
    if "office" in request.fixturenames:
        office = request.getfixturevalue("office")
        office.proxy.answer = b""
        for each in (office.proxy.asked, office.proxy.heads, office.plain.recorded, office.tls.recorded):
            each.clear()


def warnings_of(running: Running, request_id: str) -> list[str]:
    return [line for line in running.output().splitlines() if request_id in line and "WARNING" in line]


def chat(model: str) -> dict[str, object]:
    return {"model": model, "messages": [{"role": "user", "content": f"Write to {MAIL}"}]}


@pytest.mark.parametrize("name", ["plain", "tls"])
def test_a_configured_upstream_is_reached_through_the_proxy(office: Office, name: str) -> None:
    upstream, host = (office.plain, "model.test") if name == "plain" else (office.tls, "secure.test")
    with office.running.client() as client:
        answers = [client.post("/v1/chat/completions", json=chat(name)) for _ in range(2)]
    assert [answer.json()["choices"][0]["message"]["content"] for answer in answers] == [f"Write to {MAIL}"] * 2
    plainly = f"POST http://{host}:{upstream.port}/v1/chat/completions"
    assert office.proxy.asked == ([plainly] * 2 if name == "plain" else [f"CONNECT {host}:{upstream.port}"])
    assert MAIL.encode() not in upstream.seen
    assert PASSWORD.encode() not in upstream.seen
    assert b"proxy-authorization" not in upstream.seen.lower()


def test_an_intercepted_host_is_reached_through_the_proxy(office: Office) -> None:
    with office.running.proxied(
        f"https://secure.test:{office.tls.port}", authorization="Bearer of-the-provider"
    ) as client:
        answer = client.post("/v1/chat/completions", json=chat("any"))
    assert answer.json()["choices"][0]["message"]["content"] == f"Write to {MAIL}"
    assert office.proxy.asked == [f"CONNECT secure.test:{office.tls.port}"]
    assert MAIL.encode() not in office.tls.seen


@pytest.mark.parametrize("name", ["loopback", "skipped", "exempt"])
def test_exempt_hosts_are_reached_directly(office: Office, name: str) -> None:
    with office.running.client() as client:
        answer = client.post("/v1/chat/completions", json=chat(name))
    assert answer.status_code == (200 if name == "loopback" else 502)
    assert "proxy" not in answer.text
    assert office.proxy.asked == []


def test_an_untouched_tunnel_and_plain_http_take_the_proxy(office: Office) -> None:
    greeting = b"SSH-2.0-greeting\r\n"

    def greet(far: socket.socket) -> None:
        far.sendall(greeting)
        far.sendall(far.recv(65536))

    with each_connection(greet) as port, connection(office.running.proxy_port) as sock:
        sock.sendall(tunnel_to(f"ssh.test:{port}") + b"\x00pong")
        assert until_closed(sock).endswith(b"\r\n\r\n" + greeting + b"\x00pong")
    place = f"http://model.test:{office.plain.port}"
    request = f"POST {place}/x HTTP/1.1\r\nHost: model.test\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{{}}"
    answer_to(office.running.proxy_port, request.encode())
    assert [each.path for each in office.plain.recorded] == ["/x"]
    assert office.proxy.asked == [f"CONNECT ssh.test:{port}", f"POST http://model.test:{office.plain.port}/x"]


def test_credentials_that_the_proxy_refuses_for_plain_http(office: Office) -> None:
    office.proxy.answer = (
        b"HTTP/1.1 407 Canary\r\nProxy-Authenticate: Basic realm=canary\r\nContent-Length: 6\r\n\r\ncanary"
    )
    with office.running.client() as client:
        answer = client.post("/v1/chat/completions", json=chat("plain"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_unreachable")
    assert "canary" not in f"{answer.text}{answer.headers}".lower()
    (line,) = warnings_of(office.running, answer.json()["request_id"])
    assert "(proxy_credentials)" in line
    request = f"GET http://model.test:{office.plain.port}/ HTTP/1.1\r\nHost: model.test\r\n\r\n"
    passed = answer_to(office.running.proxy_port, request.encode())
    assert (status_of(passed), b"canary" in passed.lower()) == (502, False)


@pytest.mark.parametrize("said", REFUSALS, ids=lambda said: said[:20].decode())
def test_what_the_proxy_refuses_is_a_502_with_its_own_fault(office: Office, said: bytes) -> None:
    office.proxy.answer = said
    with office.running.client() as client:
        answer = client.post("/v1/chat/completions", json=chat("tls"))
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (502, "upstream_unreachable")
    assert "the outbound proxy " in error["message"]
    assert "canary" not in answer.text.lower()
    (line,) = warnings_of(office.running, answer.json()["request_id"])
    assert "upstream `tls` cannot be reached: the outbound proxy " in line
    assert f"({REFUSALS[said]})" in line
    refused = refused_tunnel(office.running, "far.test:443")
    assert "the outbound proxy " in refused["error"]["message"]
    assert "far.test" not in office.running.output()


def tunnel_to(place: str) -> bytes:
    return f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode()


def refused_tunnel(running: Running, place: str, status: int = 502) -> dict[str, Any]:
    """The error that the client of a tunnel gets, whose line in the log is checked."""
    answer = answer_to(running.proxy_port, tunnel_to(place))
    assert status_of(answer) == status
    error: dict[str, Any] = json.loads(answer.partition(b"\r\n\r\n")[2])
    line = wait_for(lambda: next((line for line in running.output().splitlines() if error["request_id"] in line), None))
    assert f'outcome="upstream_error" status={status} code="{error["error"]["code"]}"' in line
    return error


@pytest.mark.parametrize("place", ["localhost:1", "nowhere.invalid:443"])
def test_a_tunnel_that_cannot_be_opened_directly_is_a_502(running: Running, place: str) -> None:
    error = refused_tunnel(running, place)["error"]
    assert error["code"] == "upstream_unreachable"
    assert ("refused" if place == "localhost:1" else "resolved") in error["message"]


def test_a_host_that_speaks_first_is_heard(running: Running) -> None:
    greeting = b"220 mail.test\r\n"
    with each_connection(lambda far: far.sendall(greeting)) as port:
        answer = answer_to(running.proxy_port, tunnel_to(f"localhost:{port}"))
    assert (status_of(answer), answer.endswith(b"\r\n\r\n" + greeting)) == (200, True)


def test_tunnels_that_the_proxy_does_not_open_are_counted_in_the_log(office: Office) -> None:
    office.proxy.answer = b"HTTP/1.1 405 Canary-4711\r\n\r\n"
    refused_tunnel(office.running, "far.test:443")
    assert (
        "untouched tunnels whose host cannot be reached: the outbound proxy does not permit" in office.running.output()
    )


def test_credentials_show_nowhere(office: Office) -> None:
    encoded = b64encode(f"{USER}:{PASSWORD}".encode())
    with office.running.client() as client:
        answer = client.post("/v1/chat/completions", json=chat("plain"))
        receipt = client.get(f"/v1/receipts/{answer.headers['x-svc-request-id']}").text
    assert any(b"Proxy-Authorization: Basic " + encoded in head for head in map(titled, office.proxy.heads))
    with operator(office.running) as web:
        stored = everything(web)
    assert b"model.test" in stored
    shown = f"{receipt}{office.running.output()}{answer.text}{answer.headers}".encode() + stored
    for database in office.running.data.glob("gateway.db*"):
        shown += database.read_bytes()
    for secret in (PASSWORD.encode(), USER.encode(), encoded):
        assert secret not in shown


def titled(head: bytes) -> bytes:
    return head.replace(b"proxy-authorization", b"Proxy-Authorization")


@pytest.fixture(scope="module", params=["unreachable", "ours", "plain-for-tls", "silent"])
def broken(request: pytest.FixtureRequest, gateways: Gateways) -> Iterator[tuple[Running, str, str]]:
    """A gateway whose proxy cannot be used, and what the log calls that."""
    with contextlib.ExitStack() as stack:
        closing = stack.enter_context(each_connection(lambda connection: connection.recv(65536)))
        port = free_port()
        modes = ("--mode", f"regular@127.0.0.1:{port}") if request.param == "ours" else ()
        url, kind = {
            "unreachable": (f"http://127.0.0.1:{port}", "proxy_unreachable"),
            "ours": (f"http://127.0.0.1:{port}", "proxy_is_own_listener"),
            "plain-for-tls": (f"https://127.0.0.1:{closing}", "proxy_unreachable"),
            "silent": (f"http://127.0.0.1:{closing}", "proxy_unreachable"),
        }[request.param]
        config = f'upstream_proxy = "{url}"\n[upstreams.far]\nbase_url = "https://far.test/v1"\n'
        yield gateways(*modes, config=config, detection="patterns"), kind, url


def test_a_proxy_that_cannot_be_used_is_told_from_the_upstream(broken: tuple[Running, str, str]) -> None:
    running, kind, url = broken
    with running.client() as client:
        answer = client.post("/v1/chat/completions", json=chat("far"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_unreachable")
    (line,) = warnings_of(running, answer.json()["request_id"])
    assert f"({kind})" in line
    assert url not in line + answer.text


def test_bytes_sent_before_the_proxy_answers_are_not_buffered(gateways: Gateways) -> None:
    with each_connection(lambda connection: (connection.recv(65536), connection.recv(1))) as port:
        running = gateways(config=f'upstream_proxy = "http://127.0.0.1:{port}"\n', detection="patterns")
        before = resident_mb(running.process.pid)
        with connection(running.proxy_port) as sock:
            sock.sendall(tunnel_to("far.test:443"))
            assert pushed(sock, b"\x00" * 65536, 40 * 1024 * 1024) < 20 * 1024 * 1024
        assert resident_mb(running.process.pid) - before < 30
