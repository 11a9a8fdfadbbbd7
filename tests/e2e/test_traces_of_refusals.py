"""Every kind of refusal leaves one line, is counted once, and has a receipt and an entry in the audit where due.

All of them have the same request id, and the code, the policy and the wire as far as these are known.
"""

import json
import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.e2e.api_keys import new_key
from tests.e2e.conftest import Gateways
from tests.e2e.mitmweb import wait_for
from tests.e2e.raw import each_connection
from tests.e2e.server import OPERATOR_KEY, Running
from tests.e2e.traces import Trace, count_lines, counted, line_of, lines_of, pages
from tests.e2e.upstream import Recorded, Reply, Upstream

CANARY = "canary-4711@example.com"
TEXT = f"I am Anna Canary, {CANARY}"
CARD = "CVV: 123"
CHAT: dict[str, Any] = {"model": "configured-upstream", "messages": [{"role": "user", "content": TEXT}]}
ANTHROPIC = {"model": "claude-1", "max_tokens": 9, "messages": [{"role": "user", "content": CARD}]}
GEMINI = {"contents": [{"role": "user", "parts": [{"text": TEXT}]}]}
WIRE = "chat-completions"
LIMIT = 100_000


def silent(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


def redirect(_: Recorded) -> Reply:
    return Reply(b"", 302, {"location": "https://example.com/"})


@pytest.fixture(scope="module")
def served(gateways: Gateways, _plain: Upstream) -> Iterator[Running]:
    table = '[upstreams.{0}]\nbase_url = "http://127.0.0.1:{1}/v1"\nmodels = ["{0}-1"]\ntimeout_seconds = 1\n'
    with ExitStack() as stack:
        quiet = stack.enter_context(each_connection(silent))
        config = table.format("dead", 9) + table.format("silent", quiet)
        config += f'[upstreams.claude]\nwire = "anthropic"\nbase_url = "{_plain.url}"\nmodels = ["claude-*"]\n'
        yield gateways(
            *gateways.with_upstream,
            config=config,
            log_json="true",
            body_limit_bytes=str(LIMIT),
            head_timeout_seconds="1",
            trusted_proxies="127.0.0.0/8",
        )


@dataclass(frozen=True)
class Case:
    """A request, and what is to be known of its refusal. `audited` is the call in the audit, empty if there is none."""

    status: int
    code: str
    path: str = "/v1/chat/completions"
    body: Any = field(default_factory=lambda: CHAT)
    method: str = "POST"
    headers: dict[str, str] = field(default_factory=dict)
    key: str = OPERATOR_KEY
    outcome: str = "refused"
    recorded: str = ""
    """The outcome of the receipt; empty if there is none."""
    wire: str | None = WIRE
    policy: str | None = "default@3"
    audited: str | None = WIRE
    audited_as: str | None = None
    answer: Callable[[Recorded], Reply] | None = None
    proxied: bool = False


NATIVE: dict[str, Any] = {"wire": None}
NO_RECEIPT: dict[str, Any] = {"policy": None}
CASES = {
    "not a key": Case(401, "unauthorized", key="svck_wrong", **NO_RECEIPT),
    "no key": Case(401, "unauthorized", key="", audited=None, **NO_RECEIPT),
    "blocked": Case(
        403,
        "blocked_by_policy",
        body=CHAT | {"messages": ANTHROPIC["messages"], "svc_policy": "pci"},
        recorded="refused",
        policy="pci@3",
    ),
    "blocked on another wire": Case(
        403,
        "blocked_by_policy",
        "/v1/messages",
        ANTHROPIC | {"svc_policy": "pci"},
        recorded="refused",
        policy="pci@3",
        wire="anthropic-messages",
        audited="anthropic-messages",
    ),
    "blocked natively": Case(
        403,
        "blocked_by_policy",
        "/v1/protect",
        {"text": CARD, "policy_id": "pci"},
        recorded="refused",
        policy="pci@3",
        audited="protect",
        **NATIVE,
    ),
    "unknown path": Case(404, "not_found", "/v1/canary-4711", audited="other", **NATIVE, **NO_RECEIPT),
    "unknown model": Case(
        404,
        "model_not_found",
        f"/v1beta/models/{CANARY}:generateContent",
        GEMINI,
        recorded="refused",
        wire="gemini",
        audited="gemini",
    ),
    "unknown policy": Case(404, "policy_not_found", body=CHAT | {"svc_policy": "canary-4711"}, recorded="refused"),
    "unknown receipt": Case(
        404, "receipt_not_found", "/v1/receipts/canary-4711", None, "GET", audited="receipt", **NATIVE, **NO_RECEIPT
    ),
    "method": Case(
        405, "method_not_allowed", "/v1/protect", {"text": TEXT}, "PUT", audited=None, **NATIVE, **NO_RECEIPT
    ),
    "conflict": Case(
        409, "conflict", "/v1/policies", {"id": "default", "name": "x"}, audited="create_policy", **NATIVE, **NO_RECEIPT
    ),
    "declared too large": Case(413, "body_too_large", body={"x": "y" * LIMIT}, **NO_RECEIPT),
    "media type": Case(415, "unsupported_media_type", headers={"content-type": "text/plain"}, recorded="refused"),
    "encoding": Case(415, "unsupported_encoding", headers={"content-encoding": "canary"}, recorded="refused"),
    "unknown field": Case(
        422,
        "validation_error",
        "/v1/protect",
        {"text": TEXT, CANARY: 1},
        recorded="refused",
        audited="protect",
        **NATIVE,
    ),
    "not JSON": Case(400, "invalid_json", body=b"{" + CANARY.encode(), recorded="refused"),
    "stream": Case(400, "streaming_not_supported", body=CHAT | {"stream": True}, recorded="refused"),
    "signed": Case(
        400,
        "signature_not_supported",
        headers={"x-svc-key": OPERATOR_KEY, "authorization": "AWS4-HMAC-SHA256 Credential=canary-4711"},
        recorded="refused",
    ),
    "upgrade": Case(
        426, "upgrade_refused", headers={"upgrade": "websocket", "connection": "upgrade"}, recorded="refused"
    ),
    "quota": Case(429, "quota_exceeded", key="quota", recorded="refused"),
    "scope": Case(403, "scope_not_permitted", key="scope", recorded="refused"),
    "model": Case(403, "model_not_permitted", key="model", recorded="refused"),
    "policy": Case(403, "policy_not_permitted", body=CHAT | {"svc_policy": "pci"}, key="policy", recorded="refused"),
    "unreachable": Case(
        502,
        "upstream_unreachable",
        body=CHAT | {"model": "dead-1"},
        outcome="upstream_error",
        recorded="upstream_error",
        audited_as="forwarded",
    ),
    "redirect": Case(
        502,
        "upstream_invalid",
        outcome="unreadable_answer",
        recorded="unreadable_answer",
        audited_as="forwarded",
        answer=redirect,
    ),
    "not JSON of the upstream": Case(
        502,
        "upstream_invalid",
        outcome="unreadable_answer",
        recorded="unreadable_answer",
        audited_as="forwarded",
        answer=lambda _: Reply(b"canary-4711"),
    ),
    "late upstream": Case(
        504,
        "upstream_timeout",
        body=CHAT | {"model": "silent-1"},
        outcome="upstream_error",
        recorded="upstream_error",
        audited_as="forwarded",
    ),
    "through the proxy": Case(
        403,
        "blocked_by_policy",
        body=CHAT | {"messages": ANTHROPIC["messages"], "svc_policy": "pci"},
        key="sk-of-the-provider",
        proxied=True,
        recorded="refused",
        policy="pci@3",
    ),
    "beyond JSON": Case(
        404,
        "unknown_route",
        "/v1/audio/transcriptions",
        key="sk-of-the-provider",
        proxied=True,
        recorded="refused",
        wire=None,
        audited="other",
    ),
    "another medium": Case(
        415,
        "unsupported_media_type",
        "/canary-4711",
        headers={"content-type": "text/plain"},
        key="",
        proxied=True,
        recorded="refused",
        wire=None,
        audited="other",
    ),
    "gateway key in the provider's place": Case(401, "unauthorized", proxied=True, **NO_RECEIPT),
}


@pytest.fixture(scope="module")
def limited(served: Running) -> dict[str, str]:
    """Keys that do not permit what a case does, by its name."""
    options = {"quota": ("--quota", "characters=1/day"), "scope": ("--scope", "protect")}
    options |= {"model": ("--model", "gpt-*"), "policy": ("--policy", "default")}
    return {name: new_key(served, name, *words) for name, words in options.items()}


@pytest.mark.parametrize("name", CASES)
def test_a_refusal(
    name: str, served: Running, upstream: Upstream, tls_upstream: Upstream, limited: dict[str, str]
) -> None:
    case = CASES[name]
    if case.answer is not None:
        upstream.answer = case.answer
    content = case.body if isinstance(case.body, bytes) else json.dumps(case.body).encode() if case.body else b""
    headers = {"content-type": "application/json", **case.headers}
    key = limited.get(case.key, case.key)
    if key and "x-svc-key" not in headers:
        headers["authorization"] = f"Bearer {key}"
    with served.proxied(tls_upstream.url) if case.proxied else served.stranger() as client:
        answer = client.request(case.method, case.path, content=content, headers=headers)
    assert answer.status_code == case.status, answer.text
    request_id = answer.headers["x-svc-request-id"]
    check(served, request_id, case)


def check(served: Running, request_id: str, case: Case) -> None:
    line = line_of(served, request_id)
    known: Trace = {"request_id": request_id, "outcome": case.outcome, "wire": case.wire, "policy": case.policy}
    known |= {"code": case.code or None, "status": case.status or None}
    assert {name: line.get(name) for name in known} == known
    with served.client() as client:

        def audited() -> list[Trace] | None:
            return [use for use in pages(client, "/v1/keys/audit") if use["request_id"] == request_id] or None

        if case.audited is not None:
            (use,) = wait_for(audited)
            assert (use["call"], use["outcome"]) == (case.audited, case.audited_as or case.code)
            assert use["key_id"] == line.get("key_id")
        receipt = client.get(f"/v1/receipts/{request_id}").json()
        assert ("receipt" in line) == bool(case.recorded) == ("error" not in receipt), receipt
        if case.recorded:
            receipt = wait_for(
                lambda: found if "outcome" in (found := client.get(f"/v1/receipts/{request_id}").json()) else None
            )
            assert receipt["sequence"] == line["receipt"]
            assert receipt["outcome"]["outcome"] == case.recorded
            assert receipt["outcome"]["code"] == case.code
            assert (receipt.get("wire"), receipt["api_key_id"]) == (case.wire, line["key_id"])
            assert f"{receipt['policy']['id']}@{receipt['policy']['version']}" == case.policy


HEAD = f"POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {OPERATOR_KEY}\r\n"
BODIES = {
    "head too large": (
        "GET /" + "canary-4711" * 8000 + " HTTP/1.1\r\n\r\n",
        Case(431, "head_too_large", wire=None, audited=None, **NO_RECEIPT),
    ),
    "chunks that cannot be read": (
        HEAD + "transfer-encoding: chunked\r\n\r\ncanary\r\n",
        Case(400, "invalid_request", **NO_RECEIPT),
    ),
    "chunks too large": (
        HEAD + "transfer-encoding: chunked\r\n\r\n1ffff\r\n" + "x" * 0x1FFFF,
        Case(413, "body_too_large", **NO_RECEIPT),
    ),
    "late": (HEAD + "content-length: 99999\r\n\r\n{", Case(408, "request_timeout", **NO_RECEIPT)),
    "gone": (
        HEAD + "content-length: 99\r\n\r\n{",
        Case(0, "", outcome="cancelled", audited_as="cancelled", **NO_RECEIPT),
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_request_that_is_not_read(name: str, served: Running) -> None:
    sent, case = BODIES[name]
    before = len(lines_of(served))
    with socket.create_connection(("127.0.0.1", served.port), 10) as sock:
        sock.sendall(sent.encode())
        answer = sock.recv(65536).decode() if case.status else time.sleep(0.3) or ""
    if case.status:
        assert answer.startswith(f"HTTP/1.1 {case.status} ")
        request_id = re.findall("req_[0-9a-f]+", answer)[0]
    else:
        ended = wait_for(lambda: [line for line in lines_of(served, before) if line["outcome"] == case.outcome])
        request_id = ended[0]["request_id"]
    check(served, request_id, case)


def test_all_are_counted_and_hold_nothing_private(served: Running) -> None:
    time.sleep(0.5)
    with served.client() as client:
        before = count_lines(lines_of(served))
        assert counted(client) == before
    assert "canary" not in served.output().lower()
