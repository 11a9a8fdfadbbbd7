"""An upstream that is down: the client learns the kind of fault; the log names the upstream and nothing private."""

import contextlib
import gzip
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import trustme

from tests.e2e.conftest import Gateways
from tests.e2e.raw import each_connection
from tests.e2e.server import Running, free_port
from tests.e2e.upstream import Upstream, completion

PRIVATE = "w.oxenfoord@acme.test"

# The upstream's name: status, code, and how the log names the fault.
CASES = {
    "refusing": (502, "upstream_unreachable", "connection_refused"),
    "nameless": (502, "upstream_unreachable", "name_not_resolved"),
    "untrusted": (502, "upstream_unreachable", "certificate_not_trusted"),
    "plain": (502, "upstream_unreachable", "tls_failed"),
    "closing": (502, "upstream_unreachable", "closed_early"),
    "breaking-off": (502, "upstream_unreachable", "closed_early"),
    "babbling": (502, "upstream_invalid", "not_http"),
    "misnaming": (502, "upstream_invalid", "not_decodable"),
    "chatting": (502, "upstream_invalid", "not_json"),
    "redirecting": (502, "upstream_invalid", "redirect"),
    "vast": (502, "upstream_invalid", "too_large"),
    "inflating": (502, "upstream_invalid", "too_large"),
    "boasting": (502, "upstream_invalid", "head_too_large"),
    "listing": (502, "upstream_invalid", "head_too_large"),
}

LIMIT = 1024 * 1024


def with_body(body: bytes, *fields: str) -> bytes:
    return "\r\n".join(("HTTP/1.1 200 OK", f"content-length: {len(body)}", *fields, "", "")).encode() + body


def saying(answer: bytes) -> contextlib.AbstractContextManager[int]:
    """The port of a server that sends this answer to every client and closes."""

    def say(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(answer)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(65536)

    return each_connection(say)


MOVED = b"HTTP/1.1 301 Moved\r\nlocation: http://canary-4711.test/\r\ncontent-length: 0\r\n\r\n"
ANSWERS = {
    "closing": b"",
    "breaking-off": b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{",
    "babbling": b"BABBLE canary-4711\r\n\r\n",
    "misnaming": with_body(b"canary-4711", "content-encoding: gzip"),
    "chatting": with_body(b"canary-4711"),
    "redirecting": MOVED,
    "vast": with_body(b" " * (LIMIT + 1)),
    "inflating": with_body(gzip.compress(bytes(LIMIT + 1)), "content-encoding: gzip"),
    "boasting": with_body(b"{}", "x-long: " + "a" * LIMIT),
    "listing": with_body(b"{}", *("x: canary-4711" for _ in range(2000))),
}


@pytest.fixture(scope="module")
def failing(gateways: Gateways) -> Iterator[Running]:
    with contextlib.ExitStack() as stack:
        stranger = stack.enter_context(Upstream(trustme.CA()).running())
        ports = {name: stack.enter_context(saying(answer)) for name, answer in ANSWERS.items()}
        urls = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()} | {
            "refusing": f"http://127.0.0.1:{free_port()}",
            "nameless": "http://no-such-host.invalid",
            "untrusted": stranger.url,
            "plain": f"https://127.0.0.1:{ports['babbling']}",
        }
        table = '[upstreams.{0}]\nbase_url = "{1}/hidden-path"\nmodels = ["{0}"]\n'
        config = "".join(table.format(name, url) for name, url in urls.items())
        config += f'[upstreams.anthropic]\nwire = "anthropic"\nbase_url = "{urls["refusing"]}"\nmodels = ["claude"]\n'
        intercept = ("--intercept", f"localhost:{stranger.port}")
        yield gateways(*intercept, config=config, detection="patterns", response_limit_bytes=str(LIMIT))


def chat(model: str) -> dict[str, object]:
    return {"model": model, "messages": [{"role": "user", "content": f"Write to {PRIVATE}"}]}


@pytest.mark.parametrize("name", CASES)
def test_the_client_and_the_operator_learn_the_kind_of_fault(name: str, failing: Running) -> None:
    status, code, kind = CASES[name]
    with failing.client() as client:
        answer = client.post("/v1/chat/completions?api-version=canary", json=chat(name))
    error, request_id = answer.json()["error"], answer.json()["request_id"]
    assert (answer.status_code, error["code"]) == (status, code)
    assert error["message"].startswith(f"The upstream `{name}` ")
    (line,) = [line for line in failing.output().splitlines() if request_id in line and "WARNING" in line]
    assert f"upstream `{name}` " in line
    assert f"({kind})" in line
    assert ("`response_limit_bytes`" in error["message"]) == (kind == "too_large")
    assert ("`head_limit_bytes`" in error["message"]) == (kind == "head_too_large")


def test_the_error_has_the_shape_of_the_clients_api(failing: Running) -> None:
    body = {**chat("claude"), "max_tokens": 9}
    with failing.client() as client:
        answer = client.post("/v1/messages", json=body)
    assert answer.status_code == 502
    assert answer.json()["error"]["type"] == "api_error"
    assert answer.json()["error"]["details"] == {"error_code": "upstream_unreachable"}


def test_a_host_of_the_proxy_is_named_by_its_name(failing: Running) -> None:
    config = (failing.data.parent / "svc.toml").read_text()
    url = next(line.split('"')[1] for line in config.splitlines() if "https://localhost" in line)
    with failing.proxied() as client:
        answer = client.post(url.replace("hidden-path", "v1/chat/completions"), json=chat("gpt-x"))
    assert answer.json()["error"]["code"] == "upstream_unreachable"
    (line,) = [
        line for line in failing.output().splitlines() if "WARNING" in line and answer.json()["request_id"] in line
    ]
    assert "upstream host localhost " in line
    assert "(certificate_not_trusted)" in line


def test_nothing_private_is_in_any_line(failing: Running) -> None:
    for word in ("oxenfoord", "canary", "hidden-path", "api-version", "svck_"):
        assert word not in failing.output()


def test_an_upstream_that_was_down_is_asked_again_at_once(gateways: Gateways) -> None:
    """No failure is remembered, for the client's connection either."""
    answer = completion({"role": "assistant", "content": "Here again."})
    assert isinstance(answer.body, bytes)
    with socket.socket() as late, ThreadPoolExecutor(1) as pool:
        late.bind(("127.0.0.1", 0))
        running = gateways("--upstream", f"http://127.0.0.1:{late.getsockname()[1]}/v1", detection="patterns")
        body = {"model": "configured-upstream", "messages": [{"role": "user", "content": "Are you there?"}]}
        with running.client() as client:
            assert client.post("/v1/chat/completions", json=body).status_code == 502
            late.listen()
            served = pool.submit(serve_once, late, with_body(answer.body, "content-type: application/json"))
            assert "Here again." in client.post("/v1/chat/completions", json=body).text
            served.result()


def serve_once(server: socket.socket, answer: bytes) -> None:
    with server.accept()[0] as connection:
        connection.recv(65536)
        connection.sendall(answer)
