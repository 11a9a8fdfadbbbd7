"""A request that its client gives up is recorded as cancelled, wherever it is at that moment."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.detection import Detector
from gateway.models import Entity
from tests.e2e.server import OPERATOR_KEY, Running, gateway
from tests.e2e.upstream import Recorded, Reply, Upstream, echo

CANARY = "canary.cancelled@acme.test"
CHAT = {"model": "configured-upstream", "messages": [{"role": "user", "content": f"mail {CANARY}"}]}
CALLS: dict[str, Any] = {
    "/v1/chat/completions": CHAT,
    "/v1/protect": {"text": CANARY},
    "/v1/responses": {"model": "configured-upstream", "input": CANARY},
}


# The calls of models, which clients of the proxy send.
MODELS = {"/v1/chat/completions", "/v1/responses"}


def slow(begun: Path) -> None:
    """Has a search of a text with the canary tell that it has begun, and then take longer than any test."""
    sound = Detector.detect

    def detect(self: Detector, text: str) -> tuple[Entity, ...]:
        if CANARY in text:
            begun.touch()
            time.sleep(3600)
        return sound(self, text)

    Detector.detect = detect  # type: ignore[method-assign]


@contextmanager
def asked(running: Running, path: str, body: object, host: str = "") -> Iterator[socket.socket]:
    """A connection that has sent a request, to the gateway or through the proxy to `host`."""
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: {host or 'h'}\r\nx-svc-key: {OPERATOR_KEY}\r\n"
    head += f"content-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
    port = running.proxy_port if host else running.port
    with socket.create_connection(("127.0.0.1", port), 60) as plain:
        if not host:
            plain.sendall(head.encode() + content)
            yield plain
            return
        plain.sendall(f"CONNECT {host} HTTP/1.1\r\nhost: {host}\r\n\r\n".encode())
        assert b" 200 " in plain.recv(4096)
        context = running.trust
        with context.wrap_socket(plain, server_hostname=host.partition(":")[0]) as secured:
            secured.sendall(head.encode() + content)
            yield secured


def newest(client: httpx.Client) -> Any:
    """The newest receipt, once it has an outcome. Until the request is recorded as cancelled, there is none."""
    while True:
        receipts = client.get("/v1/receipts", params={"limit": 1}).json()["data"]
        if receipts and "outcome" in receipts[0]:
            return receipts[0]
        time.sleep(0.05)


def uses(client: httpx.Client) -> list[tuple[str, int]]:
    """How often which call ended how, once that is written."""
    while not (found := client.get("/v1/keys/audit").json()["data"]):
        time.sleep(0.05)
    return [(use["outcome"], use["count"]) for use in found if use["call"] != "receipts"]


@pytest.mark.parametrize(
    ("path", "proxied"),
    [(path, proxied) for path in CALLS for proxied in ((False, True) if path in MODELS else (False,))],
)
def test_in_the_middle_of_a_search(
    path: str, proxied: bool, tmp_path: Path, upstream: Upstream, tls_upstream: Upstream
) -> None:
    host = f"localhost:{tls_upstream.port}" if proxied else ""
    begun = tmp_path / "begun"
    with (
        gateway(
            tmp_path,
            *("--upstream", f"{upstream.url}/v1", "--intercept", f"localhost:{tls_upstream.port}"),
            prepare=partial(slow, begun),
        ) as running,
        running.client() as client,
    ):
        with asked(running, path, CALLS[path], host):
            while not begun.exists():
                time.sleep(0.05)
        receipt = newest(client)
        assert receipt["outcome"]["outcome"] == "cancelled"
        assert "code" not in receipt["outcome"]
        assert receipt["tokens"]["external"] == 0
        used = client.get("/v1/usage").json()
        assert (used["outcomes"], used["refusals"], used["tokens"]["external"]) == ({"cancelled": 1}, {}, 0)
        assert ("cancelled", 1) in uses(client)
        assert "canary" not in running.output()
        assert "ERROR" not in running.output()
        line = next(line for line in running.output().splitlines() if receipt["request_id"] in line)
        assert 'key_id="key_environment"' in line
        assert "outcome=cancelled" in line
        assert ("wire" in receipt) == (path in MODELS)
    assert not upstream.recorded
    assert not tls_upstream.recorded


def test_while_the_upstream_answers(tmp_path: Path, upstream: Upstream) -> None:
    recorded = threading.Event()

    def wait(request: Recorded) -> Reply:
        recorded.wait(60)
        return echo(request)

    upstream.answer = wait
    with gateway(tmp_path, "--upstream", f"{upstream.url}/v1") as running, running.client() as client:
        with asked(running, "/v1/chat/completions", CHAT):
            while not upstream.recorded:
                time.sleep(0.05)
        try:
            outcome = newest(client)["outcome"]
        finally:
            recorded.set()
        assert outcome["outcome"] == "cancelled"
        assert client.get("/v1/usage").json()["tokens"]["external"] == outcome["tokens_sent"] > 0
    assert CANARY.encode() not in upstream.recorded[0].body
