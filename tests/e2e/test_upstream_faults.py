"""An upstream that is down: the client is told how; a line of the log names the upstream and nothing private."""

import contextlib
import gzip
import socket
import ssl
import threading
from collections.abc import Iterator

import httpx
import pytest
import trustme

from tests.e2e.server import Running, free_port, gateway
from tests.e2e.upstream import Upstream

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


@contextlib.contextmanager
def saying(answer: bytes) -> Iterator[int]:
    """The port of a server that says this to everybody, and closes."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection:
                        connection.recv(65536)
                        connection.sendall(answer)
                        connection.shutdown(socket.SHUT_WR)
                        connection.recv(65536)

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("faults")
    with contextlib.ExitStack() as stack:
        stranger = stack.enter_context(Upstream(trustme.CA()).running())
        closing = stack.enter_context(saying(b""))
        breaking = stack.enter_context(saying(b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{"))
        babbling = stack.enter_context(saying(b"BABBLE canary-4711\r\n\r\n"))
        misnaming = stack.enter_context(saying(with_body(b"canary-4711", "content-encoding: gzip")))
        chatting = stack.enter_context(saying(with_body(b"canary-4711")))
        moved = b"HTTP/1.1 301 Moved\r\nlocation: http://canary-4711.test/\r\ncontent-length: 0\r\n\r\n"
        redirecting = stack.enter_context(saying(moved))
        vast = stack.enter_context(saying(with_body(b" " * (LIMIT + 1))))
        inflating = stack.enter_context(saying(with_body(gzip.compress(bytes(LIMIT + 1)), "content-encoding: gzip")))
        boasting = stack.enter_context(saying(with_body(b"{}", "x-long: " + "a" * LIMIT)))
        listing = stack.enter_context(saying(with_body(b"{}", *("x: canary-4711" for _ in range(2000)))))
        urls = {
            "refusing": f"http://127.0.0.1:{free_port()}",
            "nameless": "http://no-such-host.invalid",
            "untrusted": stranger.url,
            "plain": f"https://127.0.0.1:{babbling}",
            "closing": f"http://127.0.0.1:{closing}",
            "breaking-off": f"http://127.0.0.1:{breaking}",
            "babbling": f"http://127.0.0.1:{babbling}",
            "misnaming": f"http://127.0.0.1:{misnaming}",
            "chatting": f"http://127.0.0.1:{chatting}",
            "redirecting": f"http://127.0.0.1:{redirecting}",
            "vast": f"http://127.0.0.1:{vast}",
            "inflating": f"http://127.0.0.1:{inflating}",
            "boasting": f"http://127.0.0.1:{boasting}",
            "listing": f"http://127.0.0.1:{listing}",
        }
        config = folder / "svc.toml"
        config.write_text(
            "".join(
                f'[upstreams.{name}]\nbase_url = "{url}/hidden-path"\nmodels = ["{name}"]\n'
                for name, url in urls.items()
            )
            + f'[upstreams.anthropic]\nwire = "anthropic"\nbase_url = "{urls["refusing"]}"\nmodels = ["claude"]\n'
        )
        arguments = ("--config", str(config), "--intercept", f"localhost:{stranger.port}")
        environment = {"SVC_DETECTION": "patterns", "SVC_RESPONSE_LIMIT_BYTES": str(LIMIT)}
        with gateway(folder, *arguments, environment=environment) as running:
            yield running


def chat(model: str) -> dict[str, object]:
    return {"model": model, "messages": [{"role": "user", "content": f"Write to {PRIVATE}"}]}


@pytest.mark.parametrize("name", CASES)
def test_the_client_and_the_operator_are_told_what_kind_of_fault_it_is(name: str, failing: Running) -> None:
    status, code, kind = CASES[name]
    with failing.client() as client:
        answer = client.post("/v1/chat/completions?api-version=canary", json=chat(name))
    error, request_id = answer.json()["error"], answer.json()["request_id"]
    assert (answer.status_code, error["code"]) == (status, code)
    assert error["message"].startswith(f"The upstream `{name}` ")
    (line,) = [line for line in failing.output().splitlines() if request_id in line]
    assert "WARNING" in line
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
    proxied = httpx.Client(
        proxy=failing.proxy, verify=ssl.create_default_context(cafile=failing.ca), trust_env=False, timeout=30
    )
    with proxied as client:
        answer = client.post(url.replace("hidden-path", "v1/chat/completions"), json=chat("gpt-x"))
    assert answer.json()["error"]["code"] == "upstream_unreachable"
    (line,) = [line for line in failing.output().splitlines() if answer.json()["request_id"] in line]
    assert "upstream host localhost " in line
    assert "(certificate_not_trusted)" in line


def test_nothing_private_is_in_any_line(failing: Running) -> None:
    for word in ("oxenfoord", "canary", "hidden-path", "api-version", "svck_"):
        assert word not in failing.output()
