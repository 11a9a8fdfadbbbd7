"""Providers as their own SDKs call them, with their own sign-in: restored through both entrances."""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import trustme

from tests.e2e.conftest import Gateways
from tests.e2e.server import OPERATOR_KEY, Running
from tests.e2e.upstream import Recorded, Reply, Upstream, every_host_on_loopback

MAIL = "anna.schmidt@acme.test"
SAID = f"Write to {MAIL}"
PLACEHOLDER = re.compile(r"\[EMAIL_ADDRESS_\w+\]")
VERTEX, MULTI, EXPRESS = (
    "us-central1-aiplatform.googleapis.com",
    "aiplatform.eu.rep.googleapis.com",
    "aiplatform.googleapis.com",
)
AZURE, FOUNDRY, COGNITIVE = "acme.openai.azure.com", "acme.services.ai.azure.com", "acme.cognitiveservices.azure.com"
# Put together, so that no scanner of this repository takes one for a live one.
GOOGLE_TOKEN = {"authorization": "Bearer ya29." + "canary4711" * 4, "x-goog-user-project": "made-up-project"}
ENTRA = {"authorization": "Bearer eyJhbGciOiJSUzI1NiJ9." + "canary4711" * 4}
API_KEY = {"api-key": "0a1b2c3d" * 4}
PROJECT = "/v1/projects/123456789012/locations/us-central1"
GEMINI: Any = {"contents": [{"role": "user", "parts": [{"text": SAID}]}]}
CLAUDE: Any = {"max_tokens": 9, "messages": [{"role": "user", "content": SAID}]}
ON_VERTEX: Any = {**CLAUDE, "anthropic_version": "vertex-2023-10-16"}
CHAT: Any = {"model": "m", "messages": [{"role": "user", "content": SAID}]}
STREAM = {"stream": True}
OLLAMA, MISTRAL, COHERE = "ollama.com", "api.mistral.ai", "api.cohere.com"
BEARER = {"authorization": "Bearer " + "0a1b2c3d" * 4}
# Host, path, the client's credentials, and body.
CALLS: dict[str, tuple[str, str, dict[str, str], Any]] = {
    "gemini": (VERTEX, f"{PROJECT}/publishers/google/models/gemini-x:generateContent", GOOGLE_TOKEN, GEMINI),
    "gemini, streamed": (
        MULTI,
        f"{PROJECT}/publishers/google/models/gemini-x:streamGenerateContent?alt=sse",
        GOOGLE_TOKEN,
        GEMINI,
    ),
    "gemini, tuned": (EXPRESS, f"{PROJECT}/endpoints/1234567890:streamGenerateContent?alt=sse", GOOGLE_TOKEN, GEMINI),
    "gemini, express": (
        EXPRESS,
        "/v1beta1/publishers/google/models/gemini-x:generateContent",
        {"x-goog-api-key": "AIza" + "SyCanary0f7heTests" * 2},
        GEMINI,
    ),
    "prediction": (
        VERTEX,
        f"{PROJECT}/publishers/google/models/text-x:predict",
        GOOGLE_TOKEN,
        {"instances": [{"content": SAID}]},
    ),
    "claude": (VERTEX, f"{PROJECT}/publishers/anthropic/models/claude-x@20250514:rawPredict", GOOGLE_TOKEN, ON_VERTEX),
    "claude, streamed": (
        EXPRESS,
        f"{PROJECT}/publishers/anthropic/models/claude-x:streamRawPredict",
        GOOGLE_TOKEN,
        {**ON_VERTEX, **STREAM},
    ),
    "openapi": (VERTEX, f"{PROJECT}/endpoints/openapi/chat/completions", GOOGLE_TOKEN, {**CHAT, **STREAM}),
    "azure": (AZURE, "/openai/deployments/dep/chat/completions?api-version=2025-04-01-preview", API_KEY, CHAT),
    "azure, streamed": (
        COGNITIVE,
        "/openai/deployments/dep/chat/completions?api-version=2024-10-21",
        ENTRA,
        {**CHAT, **STREAM},
    ),
    "azure, v1": (AZURE, "/openai/v1/chat/completions", ENTRA, {**CHAT, **STREAM}),
    "azure, models": (
        FOUNDRY,
        "/models/chat/completions?api-version=2024-05-01-preview",
        {**API_KEY, "authorization": f"Bearer {API_KEY['api-key']}", "extra-parameters": "pass-through"},
        CHAT,
    ),
    "azure, claude": (
        FOUNDRY,
        "/anthropic/v1/messages",
        {**API_KEY, "x-api-key": API_KEY["api-key"]},
        {"model": "claude-x", **CLAUDE, **STREAM},
    ),
    "ollama": (OLLAMA, "/api/chat", BEARER, {**CHAT, "stream": False}),
    "ollama, streamed": (OLLAMA, "/api/chat", BEARER, CHAT),
    "cohere": (COHERE, "/v2/chat", BEARER, {**CHAT, "documents": [{"id": "1", "data": {"text": SAID}}]}),
    "cohere, streamed": (COHERE, "/v2/chat", BEARER, {**CHAT, **STREAM}),
    "cohere, rank": (COHERE, "/v2/rerank", BEARER, {"model": "m", "query": SAID, "documents": ["a"]}),
    "cohere, first version": (COHERE, "/v1/chat", BEARER, {"message": SAID, **STREAM}),
    "mistral, conversation": (
        MISTRAL,
        "/v1/conversations",
        BEARER,
        {"agent_id": "ag_1", "inputs": CHAT["messages"], **STREAM},
    ),
    "mistral, code": (MISTRAL, "/v1/fim/completions", BEARER, {"model": "m", "prompt": SAID, **STREAM}),
    "mistral, agent": (
        MISTRAL,
        "/v1/agents/completions",
        BEARER,
        {"agent_id": "ag_1", "messages": CHAT["messages"], **STREAM},
    ),
    "ollama, prompt": (OLLAMA, "/api/generate", BEARER, {"model": "m", "prompt": SAID}),
}
HOSTS = list(dict.fromkeys(call[0] for call in CALLS.values()))
SAFE = {"violence": {"filtered": False, "severity": "safe"}}


def events(pieces: list[Any], *, named: bool = False) -> Reply:
    lines = [
        (f"event: {piece['type']}\n" if named else "")
        + f"data: {piece if piece == '[DONE]' else json.dumps(piece)}\n\n"
        for piece in pieces
    ]
    return Reply("".join(lines).encode(), headers={"content-type": "text/event-stream"})


def provider(request: Recorded) -> Reply:
    """Says the placeholder of the request, in the shape of each API, in pieces where it is streamed."""
    found = PLACEHOLDER.search(request.body.decode())
    text = f"Write to {found[0] if found else 'no one'}."
    pieces = [text[at : at + 3] for at in range(0, len(text), 3)]
    is_streamed = "stream" in request.path or request.json.get("stream")
    if "enerateContent" in request.path:
        bodies: list[Any] = [
            {"candidates": [{"content": {"role": "model", "parts": [{"text": each}]}}]}
            for each in (pieces if is_streamed else [text])
        ]
        bodies[-1]["candidates"][0]["finishReason"] = "STOP"
        return events(bodies) if is_streamed else Reply(json.dumps(bodies[0]).encode())
    if request.path.startswith("/v2/"):
        message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
        whole = {"message": message} if request.path.endswith("chat") else {"results": [{"document": {"text": text}}]}
        deltas = [
            {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": each}}}} for each in pieces
        ]
        end = {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}}
        return events([*deltas, end], named=True) if is_streamed else Reply(json.dumps(whole).encode())
    if request.path == "/v1/chat":
        said: list[Any] = [{"event_type": "text-generation", "text": each} for each in pieces]
        end = {"event_type": "stream-end", "response": {}}
        content = b"".join(json.dumps(line).encode() + b"\n" for line in (*said, end))
        return Reply(content, headers={"content-type": "application/stream+json"})
    if request.path.endswith("/conversations"):
        start: Any = {"type": "conversation.response.started", "conversation_id": "conv_1"}
        outputs = [{"type": "message.output.delta", "id": "m", "role": "assistant", "content": each} for each in pieces]
        return events([start, *outputs, {"type": "conversation.response.done", "usage": {}}], named=True)
    if request.path.startswith("/api/"):
        place = "response" if request.path.endswith("generate") else "message"
        lines = [
            {place: each if place == "response" else {"role": "assistant", "content": each}, "done": False}
            for each in (pieces if request.json.get("stream") is not False else [text])
        ]
        lines[-1]["done"] = True
        kind = "application/x-ndjson" if len(lines) > 1 else "application/json"
        return Reply(b"".join(json.dumps(line).encode() + b"\n" for line in lines), headers={"content-type": kind})
    if request.path.endswith(":predict"):
        return Reply(json.dumps({"predictions": [{"text": text, "embeddings": {"values": [0.5]}}]}).encode())
    if request.path.endswith(("Predict", "/messages")):
        if not is_streamed:
            block = {"type": "text", "text": text}
            return Reply(json.dumps({"type": "message", "role": "assistant", "content": [block]}).encode())
        deltas = [
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": each}}
            for each in pieces
        ]
        start = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        return events([start, *deltas, {"type": "content_block_stop", "index": 0}], named=True)
    choice: dict[str, Any] = {"index": 0, "finish_reason": "stop", "content_filter_results": SAFE}
    filtered = {"prompt_filter_results": [{"prompt_index": 0, "content_filter_results": SAFE}]}
    if not is_streamed:
        message = {"role": "assistant", "content": text}
        return Reply(json.dumps({**filtered, "choices": [{**choice, "message": message}]}).encode())
    chunks: list[Any] = [{"choices": [{"index": 0, "delta": {"content": each}}]} for each in pieces]
    late = {"index": 0, "content_filter_results": SAFE, "content_filter_offsets": {"check_offset": 4, "end_offset": 9}}
    # An asynchronous filter reports once the text is out.
    return events([{**filtered, "choices": []}, *chunks, {"choices": [late]}, {"choices": [choice]}, "[DONE]"])


def spoken(value: Any) -> str:
    """Returns the texts of an answer or event, one after the other."""
    if isinstance(value, list):
        return "".join(map(spoken, value))
    if not isinstance(value, dict):
        return ""
    return "".join(
        member if name in {"text", "content", "response"} and isinstance(member, str) else spoken(member)
        for name, member in value.items()
    )


def read(answer: httpx.Response) -> str:
    assert answer.status_code == 200, answer.text
    if answer.headers["content-type"] == "application/json":
        return spoken(answer.json())
    if answer.headers["content-type"] in {"application/x-ndjson", "application/stream+json"}:
        return spoken([json.loads(line) for line in answer.text.splitlines()])
    found = [block.partition("data: ")[2] for block in answer.text.split("\n\n")]
    return spoken([json.loads(data) for data in found if data not in {"", "[DONE]"}])


@pytest.fixture(scope="module")
def clouds(authority: trustme.CA) -> Iterator[Upstream]:
    with Upstream(authority, *HOSTS).running() as upstream:
        upstream.answer = provider
        yield upstream


@pytest.fixture(scope="module")
def served(gateways: Gateways, clouds: Upstream) -> Running:
    def base(host: str, path: str = "") -> str:
        return f'base_url = "https://{host}:{clouds.port}{path}"\n'

    key = "api_key_env = 'SVC_UPSTREAM_KEY'\nkey_header = 'api-key'\n"
    settings = (
        f"streaming = true\n[upstreams.gemini]\nwire = 'gemini'\n{base(VERTEX, '/v1')}"
        f"[upstreams.claude]\nwire = 'anthropic'\nmodels = ['claude-*']\n{key}{base(VERTEX)}"
        f"[upstreams.local]\nwire = 'ollama'\n{base(OLLAMA)}"
        f"[upstreams.cohere]\nwire = 'cohere'\n{base(COHERE)}"
        f"[upstreams.azure]\n{key}{base(AZURE, '/openai/deployments/dep')}"
    )
    return gateways(
        config=settings, prepare=every_host_on_loopback, upstream_key="key-of-the-cloud", detection="patterns"
    )


@pytest.mark.parametrize("name", CALLS)
def test_through_the_proxy(served: Running, clouds: Upstream, name: str) -> None:
    """The hosts are intercepted by default, and the client's own credentials go there."""
    host, path, headers, body = CALLS[name]
    clouds.recorded.clear()
    with served.proxied(f"https://{host}:{clouds.port}") as client:
        answer = client.post(path, json=body, headers=headers)
    assert read(answer) == f"{SAID}."
    (request,) = clouds.recorded
    assert {header: request.header(header) for header in headers} == headers
    assert f"{request.path}?{request.query}".rstrip("?") == path
    assert MAIL.encode() not in clouds.seen


SERVED = [name for name in CALLS if name.startswith(("gemini", "prediction", "claude", "ollama", "cohere"))] + ["azure"]
KEYLESS = ("gemini", "prediction", "ollama", "cohere")


@pytest.mark.parametrize("name", [name for name in SERVED if name != "gemini, express"])
@pytest.mark.parametrize("own", [True, False])
def test_through_the_gateway(served: Running, clouds: Upstream, name: str, own: bool) -> None:
    """With the client's own credentials beside the gateway's key, or with the key of the upstream."""
    _, path, headers, body = CALLS[name]
    clouds.recorded.clear()
    given = {**headers, "x-svc-key": OPERATOR_KEY} if own else {"authorization": f"Bearer {OPERATOR_KEY}"}
    with served.stranger(**given) as client:
        answer = client.post(path, json=body)
    assert read(answer).startswith(f"{SAID}.")
    (request,) = clouds.recorded
    place, _, query = path.partition("?")
    assert (request.path, request.query) == (place, query)
    if own:
        assert request.header("authorization") == headers.get("authorization")
    else:
        assert request.header("api-key") == (None if name.startswith(KEYLESS) else "key-of-the-cloud")
        assert request.header("authorization") is None
    assert MAIL.encode() not in clouds.seen


@pytest.mark.parametrize("entrance", ["proxied", "stranger"])
def test_what_ollama_says_of_its_models_and_itself(served: Running, clouds: Upstream, entrance: str) -> None:
    shown = {"capabilities": ["completion", "tools"], "model_info": {"m.context_length": 4096}}
    clouds.answer = lambda request: Reply(
        json.dumps(shown if request.method == "POST" else {"version": "0.12.3"}).encode()
    )
    clouds.recorded.clear()
    try:
        with (
            served.proxied(f"https://{OLLAMA}:{clouds.port}")
            if entrance == "proxied"
            else served.stranger(authorization=f"Bearer {OPERATOR_KEY}")
        ) as client:
            answered = client.post("/api/show", json={"model": "qwen3:8b"}).json()
            assert client.get("/api/version").json()["version"] == "0.12.3"
    finally:
        clouds.answer = provider
    assert answered.items() >= shown.items()
    assert [(each.method, each.path, each.body) for each in clouds.recorded] == [
        ("POST", "/api/show", b'{"model":"qwen3:8b"}'),
        ("GET", "/api/version", b""),
    ]


def test_unknown_calls_of_these_hosts_are_refused(served: Running, clouds: Upstream) -> None:
    clouds.recorded.clear()
    for host, path in (
        (VERTEX, f"{PROJECT}/batchPredictionJobs"),
        (AZURE, "/openai/deployments/dep/audio/speech"),
        (MISTRAL, "/v1/ocr"),
        (COGNITIVE, "/openai/deployments/dep/images/generations"),
    ):
        with served.proxied(f"https://{host}:{clouds.port}") as client:
            assert client.post(path, json={"a": MAIL}).status_code == 404
    assert not clouds.recorded
