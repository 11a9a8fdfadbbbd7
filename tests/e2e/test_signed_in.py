"""Clients that have signed in with their vendor, through the proxy: what its hosts get, and what the gateway keeps."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import trustme
import zstandard

from tests.e2e.conftest import Gateways
from tests.e2e.mitmweb import everything, operator
from tests.e2e.server import OPERATOR_KEY, Running
from tests.e2e.upstream import Recorded, Reply, Upstream, every_host_on_loopback

CHATGPT, GOOGLE, COPILOT = "chatgpt.com", "cloudcode-pa.googleapis.com", "api.individual.githubcopilot.com"
EDITORS, ANTIGRAVITY = "proxy.individual.githubcopilot.com", "daily-cloudcode-pa.googleapis.com"
REPORTING = (
    "copilot-telemetry.githubusercontent.com",
    "ab.chatgpt.com",
    "play.googleapis.com",
    "telemetry.individual.githubcopilot.com",
)
MAIL, CARD = "anna.schmidt@acme.test", "4539578763621486"
SAID = f"I am {MAIL}, card {CARD}."
SESSION, ACCOUNT = "01a222eb-712a-7d82-a729-03b2fab1fc16", "0b9c3c1e-6d9a-4f4e-8f27-2f3f6f0d9a51"
# Put together, so that no scanner of this repository takes one for a live one.
TOKENS = {CHATGPT: "eyJhbGciOiJSUzI1NiJ9." + "canary4711" * 4, GOOGLE: "ya29." + "canary4711" * 4}
TOKENS[COPILOT] = "gho_" + "canary4711" * 3 + "abcdef"
EDITOR_TOKEN = (
    "tid=0a1b2c3d4e5f;exp=1785240000;sku=copilot_for_business_seat;ip=203.0.113.7;asn=AS3320;chat=1:" + "ab12" * 16
)
HEADERS = {
    CHATGPT: {
        "chatgpt-account-id": ACCOUNT,
        "originator": "codex_cli_rs",
        "session-id": SESSION,
        "thread-id": SESSION,
        "x-codex-routing-hint": "model=gpt-5",
        "x-codex-window-id": f"{SESSION}:0",
    },
    GOOGLE: {"x-goog-api-client": "gl-node/24.21.0"},
    COPILOT: {
        "copilot-integration-id": "copilot-developer-cli",
        "editor-version": "copilot/1.0.102",
        "openai-intent": "conversation-agent",
        "x-initiator": "user",
        "x-interaction-id": SESSION,
        "x-client-machine-id": ACCOUNT,
        "x-github-api-version": "2026-08-01",
    },
}
DROPPED = {"x-github-repository-nwo": "acme/kestrel", "x-codex-turn-metadata": '{"workspace": "/srv/kestrel"}'}
SENT = {host: {"authorization": f"Bearer {TOKENS[host]}", **HEADERS[host], **DROPPED} for host in HEADERS}


def events(pieces: list[Any]) -> Reply:
    body = "".join(f"data: {piece if isinstance(piece, str) else json.dumps(piece)}\r\n\r\n" for piece in pieces)
    return Reply(body.encode(), headers={"content-type": "text/event-stream"})


def in_threes(text: str) -> list[str]:
    return [text[at : at + 3] for at in range(0, len(text), 3)]


def provider(request: Recorded) -> Reply:
    """Says the last words of the user back, as each API does."""
    asked = request.json
    if request.path.endswith("/responses"):
        text = asked["input"][-1]["content"][0]["text"]
        place = {"output_index": 0, "item_id": "i", "content_index": 0}
        deltas = [{"type": "response.output_text.delta", **place, "delta": each} for each in in_threes(text)]
        done = {"type": "response.completed", "response": {"id": "r", "object": "response", "output": []}}
        limits = {"type": "codex.rate_limits", "plan_type": "pro", "rate_limits": {"allowed": True}}
        return events([limits, *deltas, {"type": "response.output_text.done", **place, "text": text}, done])
    if request.path.endswith("/chat/completions"):
        chunks = [
            {"choices": [{"index": 0, "delta": {"content": each}}]}
            for each in in_threes(asked["messages"][-1]["content"])
        ]
        return events([*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, "[DONE]"])
    if request.path.endswith("/completions"):
        chunks = [{"choices": [{"index": 0, "text": each}]} for each in in_threes(asked["prompt"])]
        return events([*chunks, "[DONE]"])
    if request.path.endswith("/messages"):
        block = {"type": "text", "text": asked["messages"][-1]["content"]}
        return Reply(json.dumps({"type": "message", "role": "assistant", "content": [block]}).encode())
    if "enerateContent" not in request.path:
        return Reply(json.dumps({"said": asked}).encode())
    text = asked["request"]["contents"][-1]["parts"][0]["text"]
    answers: list[Any] = [
        {"candidates": [{"content": {"role": "model", "parts": [{"text": each}]}}]} for each in in_threes(text)
    ]
    answers[-1]["candidates"][0]["finishReason"] = "STOP"
    if "stream" in request.path:
        return events([{"response": each, "traceId": "t1"} for each in answers])
    answers[-1]["candidates"][0]["content"]["parts"][0]["text"] = text
    return Reply(json.dumps({"response": answers[-1], "traceId": "t1"}).encode())


@pytest.fixture(scope="module")
def vendors(authority: trustme.CA) -> Iterator[Upstream]:
    with Upstream(authority, *HEADERS, EDITORS, ANTIGRAVITY, *REPORTING).running() as upstream:
        yield upstream


@pytest.fixture(scope="module")
def served(gateways: Gateways) -> Running:
    return gateways(prepare=every_host_on_loopback, web=True, log_level="debug", detection="patterns")


@pytest.fixture
def ask(served: Running, vendors: Upstream) -> Iterator[Any]:
    vendors.recorded.clear()
    vendors.answer = provider

    def asked(host: str, path: str, body: Any, **headers: str) -> httpx.Response:
        given = {**SENT.get(host, {}), "content-type": "application/json", **headers}
        with served.proxied(f"https://{host}:{vendors.port}") as client:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            return client.post(path, content=content, headers=given)

    yield asked
    assert not [word for word in (MAIL, CARD, "kestrel") if word.encode() in vendors.seen]


def check_head(vendors: Upstream, host: str) -> None:
    """Every call had the credential and what its host requires, untouched, and nothing that names a repository."""
    for request in vendors.recorded:
        sent = dict(request.headers)
        assert sent["host"] == f"{host}:{vendors.port}"
        assert {name: sent.get(name) for name in (*HEADERS[host], "authorization")} == {
            **HEADERS[host],
            "authorization": f"Bearer {TOKENS[host]}",
        }


def said(answer: httpx.Response) -> list[Any]:
    assert answer.status_code == 200, answer.text
    found = [block.partition("data: ")[2] for block in answer.text.replace("\r\n", "\n").split("\n\n")]
    return [json.loads(data) for data in found if data not in {"", "[DONE]"}]


def test_codex_with_a_chatgpt_account(ask: Any, vendors: Upstream) -> None:
    def user(text: str) -> Any:
        return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}

    body: dict[str, Any] = {"model": "gpt-5", "stream": True, "store": False, "prompt_cache_key": SESSION}
    body["client_metadata"] = {
        "session_id": SESSION,
        "x-codex-window-id": f"{SESSION}:0",
        "x-codex-turn-metadata": "{}",
    }
    for turns in ([user(SAID)], [user(SAID), user(f"Again: {SAID}")]):
        packed = zstandard.compress(json.dumps({**body, "input": turns}).encode())
        got = said(ask(CHATGPT, "/backend-api/codex/responses", packed, **{"content-encoding": "zstd"}))
        text = turns[-1]["content"][0]["text"]
        assert "".join(each["delta"] for each in got if each["type"].endswith(".delta")) == text
        assert got[0]["plan_type"] == "pro"
    one, two = (request.json for request in vendors.recorded)
    assert two["input"][:1] == one["input"]
    assert two["prompt_cache_key"] == two["client_metadata"]["session_id"] == SESSION
    assert "x-codex-turn-metadata" not in two["client_metadata"]
    check_head(vendors, CHATGPT)


def test_gemini_with_a_google_account(ask: Any, vendors: Upstream) -> None:
    envelope = {"model": "gemini-3-pro", "project": "made-up-project", "user_prompt_id": f"{SESSION}########3"}
    contents: list[Any] = [{"role": "user", "parts": [{"text": SAID}]}]
    for _ in range(2):
        request = {"contents": contents, "session_id": SESSION}
        got = said(ask(GOOGLE, "/v1internal:streamGenerateContent?alt=sse", {**envelope, "request": request}))
        texts = [each["response"]["candidates"][0]["content"]["parts"][0]["text"] for each in got]
        assert "".join(texts) == contents[-1]["parts"][0]["text"]
        assert {each["traceId"] for each in got} == {"t1"}
        contents += [
            {"role": "model", "parts": [{"text": "".join(texts)}]},
            {"role": "user", "parts": [{"text": MAIL}]},
        ]
    one, two = (request.json for request in vendors.recorded)
    assert two["request"]["contents"][:1] == one["request"]["contents"]
    assert {**two, "request": two["request"]["session_id"]} == {**envelope, "request": SESSION}
    whole = ask(GOOGLE, "/v1internal:generateContent", {**envelope, "request": {"contents": contents[:1]}}).json()
    assert whole["response"]["candidates"][0]["content"]["parts"] == [{"text": SAID}]
    assert vendors.recorded[-1].json["request"]["contents"] == one["request"]["contents"]
    asked = {"metadata": {"ideType": "IDE_UNSPECIFIED", "duetProject": "made-up-project"}, "note": SAID}
    assert ask(GOOGLE, "/v1internal:loadCodeAssist", asked).json() == {"said": asked}
    check_head(vendors, GOOGLE)


def test_copilot(ask: Any, vendors: Upstream) -> None:
    messages = [{"role": "user", "content": SAID}]
    got = said(ask(COPILOT, "/chat/completions", {"model": "gpt-5", "stream": True, "messages": messages}))
    assert "".join(each["choices"][0]["delta"].get("content", "") for each in got) == SAID
    items = [{"role": "user", "content": [{"type": "input_text", "text": SAID}]}]
    got = said(ask(COPILOT, "/responses", {"model": "gpt-5", "stream": True, "input": items}))
    assert "".join(each["delta"] for each in got if each["type"].endswith(".delta")) == SAID
    answer = ask(COPILOT, "/v1/messages", {"model": "claude-sonnet-5", "max_tokens": 9, "messages": messages}).json()
    assert answer["content"] == [{"type": "text", "text": SAID}]
    called = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"clientInfo": {"name": "copilot"}}}
    assert ask(COPILOT, "/mcp/readonly", called).json() == {"said": called}
    check_head(vendors, COPILOT)


def test_copilot_in_an_editor(ask: Any, vendors: Upstream) -> None:
    """Its token has the address of the client, which GitHub has put there."""
    head = {"authorization": f"Bearer {EDITOR_TOKEN}", "copilot-language-server-version": "1.400.0"}
    body = {"prompt": f"# {SAID}\nsend(", "suffix": ")", "stream": True, "n": 1, "extra": {"language": "python"}}
    got = said(ask(EDITORS, "/v1/engines/gpt-41-copilot/completions", body, **head))
    assert "".join(each["choices"][0]["text"] for each in got) == body["prompt"]
    messages = [{"role": "user", "content": SAID}]
    got = said(ask(COPILOT, "/chat/completions", {"model": "gpt-5", "stream": True, "messages": messages}, **head))
    assert "".join(each["choices"][0]["delta"].get("content", "") for each in got) == SAID
    for request in vendors.recorded:
        assert {name: dict(request.headers)[name] for name in head} == head
    assert vendors.recorded[0].json["extra"] == body["extra"]
    assert ask(CHATGPT, "/backend-api/codex/responses", {"input": "Hello"}, **head).status_code == 400


def test_antigravity(ask: Any, vendors: Upstream) -> None:
    contents = [{"role": "user", "parts": [{"text": SAID}]}]
    envelope = {"model": "m", "project": "made-up-project", "requestId": SESSION, "userAgent": "antigravity"}
    body = {**envelope, "requestType": "agent", "request": {"contents": contents}}
    got = said(ask(ANTIGRAVITY, "/v1internal:streamGenerateContent?alt=sse", body, authorization="Bearer ya29.made-up"))
    texts = [each["response"]["candidates"][0]["content"]["parts"][0]["text"] for each in got]
    assert "".join(texts) == SAID
    assert {name: vendors.recorded[0].json[name] for name in envelope} == envelope


@pytest.mark.parametrize(
    ("host", "path"),
    [
        (CHATGPT, "/backend-api/codex/analytics-events/events"),
        (GOOGLE, "/v1internal:recordCodeAssistMetrics"),
        ("ab.chatgpt.com", "/otlp/v1/metrics"),
        ("play.googleapis.com", "/log?format=json&hasfast=true"),
        ("telemetry.individual.githubcopilot.com", "/telemetry"),
        ("copilot-telemetry.githubusercontent.com", "/telemetry"),
    ],
)
def test_reports_are_dropped(ask: Any, vendors: Upstream, host: str, path: str) -> None:
    answer = ask(host, path, [{"text": SAID}], **{"content-type": "application/x-json-stream"})
    assert answer.status_code == 200
    assert not vendors.recorded


def test_nothing_keeps_a_credential_or_an_account(ask: Any, served: Running, vendors: Upstream) -> None:
    for host in (CHATGPT, COPILOT):
        ask(host, "/responses", {"model": "gpt-5", "input": [{"role": "user", "content": SAID}]})
    check = [*TOKENS.values(), ACCOUNT]
    with operator(served) as web:
        kept = everything(web) + served.output().encode()
    kept += b"".join(file.read_bytes() for file in served.data.iterdir() if file.is_file())
    assert [secret for secret in check if secret.encode() in kept] == []
    assert b"gpt-5" in kept


def test_at_the_base_url_tokens_go_with_the_clients_own_credential(gateways: Gateways, vendors: Upstream) -> None:
    base = f"https://{CHATGPT}:{vendors.port}/backend-api/codex"
    config = f'[upstreams.codex]\nbase_url = "{base}"\nmodels = ["*"]\n'
    running = gateways(config=config, prepare=every_host_on_loopback, detection="patterns")
    vendors.recorded.clear()
    vendors.answer = lambda _: Reply(b'{"object": "response", "output": []}')
    body = {"model": "gpt-5", "input": "Hello"}
    with running.stranger(**{"x-svc-key": OPERATOR_KEY, **SENT[CHATGPT]}) as client:
        assert client.post("/v1/responses", json=body).status_code == 200
        for name in ("chatgpt-account-id", "originator"):
            refused = client.post("/v1/responses", json=body, headers={name: OPERATOR_KEY})
            assert refused.status_code == 400
    assert len(vendors.recorded) == 1
    check_head(vendors, CHATGPT)
