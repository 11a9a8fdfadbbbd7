"""Every request leaves one line in the log, with its request id, and is counted; neither holds anything private."""

import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.conftest import Gateways
from tests.e2e.server import Running
from tests.e2e.traces import lines_of, next_lines
from tests.e2e.upstream import Upstream

CANARY = "canary-4711@example.com"
CHAT = {"model": "gpt-4o", "messages": [{"role": "user", "content": f"I am Anna Canary, {CANARY}"}]}


@pytest.fixture(scope="module")
def served(gateways: Gateways) -> Iterator[Running]:
    yield gateways(
        *gateways.with_upstream,
        log_json="true",
        upstream_key="upstream-key-of-the-tests",
        trusted_proxies="127.0.0.0/8",
        default_upstream="configured-upstream",
    )


def last(running: Running, before: int) -> dict[str, Any]:
    """Returns the line that followed the first lines; waits for it."""
    (line,) = next_lines(running, before)
    return line


def test_a_protected_chat(served: Running, upstream: Upstream) -> None:
    before = len(lines_of(served))
    with served.client() as client:
        answer = client.post("/v1/chat/completions", json=CHAT, headers={"x-forwarded-for": "198.51.100.7"})
    line = last(served, before)
    assert answer.status_code == 200
    expected = {
        "request_id": answer.headers["x-svc-request-id"],
        "key_id": "key_environment",
        "client": "198.51.100.7",
        "listener": "gateway",
        "method": "POST",
        "wire": "chat-completions",
        "operation": "chat",
        "model": "gpt-4o",
        "route": "protected",
        "policy": "default@3",
        "upstream": "configured-upstream",
        "outcome": "answered",
        "status": 200,
        "upstream_status": 200,
        "entities": {"EMAIL_ADDRESS": 1, "PERSON": 1},
        "actions": {"placeholder": 2},
    }
    assert {name: line[name] for name in expected} == expected
    assert set(line["ms"]) == {"protect", "receive", "first_byte", "upstream", "restore", "overhead", "total"}
    assert line["ms"]["total"] >= line["ms"]["upstream"]
    assert line["bytes"]["sent"] == len(answer.content)
    with served.client() as client:
        receipt = client.get(f"/v1/receipts/{line['request_id']}").json()
    assert receipt["sequence"] == line["receipt"]
    asked = {"api_key_id": "key_environment", "wire": line["wire"], "upstream": line["upstream"], "model": "gpt-4o"}
    assert {name: receipt[name] for name in asked} == asked
    assert 0 <= receipt["outcome"]["milliseconds"]["protected"] <= receipt["outcome"]["milliseconds"]["total"]


@pytest.mark.parametrize(
    ("method", "path", "key", "body", "expected"),
    [
        ("POST", "/v1/protect", True, {"text": CANARY}, {"outcome": "answered", "status": 200, "path": "/v1/protect"}),
        (
            "POST",
            "/v1/chat/completions",
            True,
            {**CHAT, "model": "svc-demo"},
            {"outcome": "answered", "upstream": None, "guard": {"action": "pass", "findings": {}}},
        ),
        ("POST", "/v1/protect", True, {"tex": CANARY}, {"outcome": "refused", "code": "validation_error"}),
        ("POST", "/v1/protect", False, {"text": CANARY}, {"outcome": "refused", "code": "unauthorized"}),
        ("POST", "/v1/chat/completions", False, CHAT, {"outcome": "refused", "code": "unauthorized", "status": 401}),
        ("POST", "/canary-4711", True, CHAT, {"outcome": "refused", "status": 404}),
        ("GET", "/healthz", False, None, {"outcome": "answered", "path": "/healthz"}),
    ],
)
def test_calls_of_the_gateway_itself(
    served: Running, method: str, path: str, key: bool, body: Any, expected: dict[str, Any]
) -> None:
    before = len(lines_of(served))
    with served.client() if key else served.client("svck_wrong") as client:
        answer = client.request(method, path, json=body)
    line = last(served, before)
    assert {name: line.get(name) for name in expected} == expected
    assert line["request_id"] == answer.headers.get("x-svc-request-id", line["request_id"])


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"GET /v1/models HTTP/1.1\r\ncanary-4711\r\n\r\n", "invalid_request"),
        (b"GET /" + b"canary-4711" * 8000 + b" HTTP/1.1\r\n\r\n", "head_too_large"),
    ],
)
def test_a_head_that_cannot_be_read(served: Running, sent: bytes, code: str) -> None:
    before = len(lines_of(served))
    with socket.create_connection(("127.0.0.1", served.port), 10) as sock:
        sock.sendall(sent)
        answer = sock.recv(65536).decode()
    line = last(served, before)
    assert line["code"] == code
    assert line["request_id"] in answer


def test_a_client_that_leaves_before_its_body_is_complete(served: Running) -> None:
    before = len(lines_of(served))
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\nContent-Length: 99\r\n\r\n{"
    with socket.create_connection(("127.0.0.1", served.port), 10) as sock:
        sock.sendall(head)
        time.sleep(0.2)
    assert last(served, before)["outcome"] == "cancelled"


def test_the_proxy_and_its_tunnels(served: Running, tls_upstream: Upstream, upstream: Upstream) -> None:
    before = len(lines_of(served))
    with served.proxied(tls_upstream.url, authorization="Bearer of-the-provider") as client:
        answer = client.post("/v1/chat/completions", json=CHAT)
    line = last(served, before)
    assert (line["listener"], line["upstream"]) == ("proxy", "localhost")
    assert line["key_id"].startswith("proxy_")
    assert line["request_id"] == answer.headers["x-svc-request-id"]
    with socket.create_connection(("127.0.0.1", served.proxy_port), 10) as sock:
        sock.sendall(b"CONNECT claude.ai:443 HTTP/1.1\r\nHost: claude.ai\r\n\r\n")
        sock.recv(4096)
    line = last(served, before + 1)
    assert (line["method"], line["code"]) == ("CONNECT", "unprotected_host")
    with served.proxied() as client:
        client.get(f"http://127.0.0.1:{upstream.port}/canary-4711")
    assert last(served, before + 2)["outcome"] == "tunnel"


@pytest.mark.parametrize(
    ("sent", "outcome", "status", "code"),
    [
        ("POST http://claude.ai/x", "refused", 403, "unprotected_host"),
        ("POST http://127.0.0.1:{served.port}/x", "refused", 403, "forbidden"),
        ("CONNECT 127.0.0.1:{served.port}", "refused", 403, "forbidden"),
        ("CONNECT localhost:{served.proxy_port}", "refused", 403, "forbidden"),
        ("GET http://127.0.0.1:1/", "upstream_error", 502, "upstream_unreachable"),
        ("GET canary://127.0.0.1/", "refused", 400, "invalid_request"),
        ("POST {upstream.url}/x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz", "refused", 400, "invalid_request"),
        ("to the gateway: CONNECT canary.invalid:80", "refused", 400, "invalid_request"),
    ],
)
def test_what_the_listeners_refuse_has_one_line(
    served: Running, upstream: Upstream, sent: str, outcome: str, status: int, code: str
) -> None:
    before = len(lines_of(served))
    there, _, request = sent.rpartition("gateway: ")
    request = request.format(served=served, upstream=upstream) + ("" if "\r\n" in sent else " HTTP/1.1\r\nHost: a\r\n")
    with socket.create_connection(("127.0.0.1", served.port if there else served.proxy_port), 10) as sock:
        sock.sendall(f"{request}\r\n".encode())
        answer = sock.recv(65536).decode()
    time.sleep(0.3)
    line = last(served, before)
    assert (line["outcome"], line["status"], line["code"]) == (outcome, status, code)
    assert line["request_id"] in answer
    assert f" {status} " in answer


def test_metrics_count_what_the_log_has_and_hold_nothing_private(served: Running) -> None:
    with served.client() as client:
        text = client.get("/metrics").text
        assert client.get("/readyz").json()["status"] == "ok"
    with served.stranger() as stranger:
        assert stranger.get("/metrics").status_code == 401
        assert stranger.get("/livez").status_code == 200
    counted = [line for line in text.splitlines() if line.startswith("privacy_gateway_requests_total")]
    known = lines_of(served)
    assert sum(float(line.rpartition(" ")[2]) for line in counted) == len(known) - 4
    assert "canary" not in served.output() + text
