"""A mix of requests of every kind, for tests that compare the traces they leave."""

import json
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.e2e.server import OPERATOR_KEY, Running
from tests.e2e.upstream import Recorded, Reply, Upstream
from tests.gateway.exchange.streaming.support import DONE, chunk, event

CANARY = "canary-4711@example.com"
TEXT = f"I am Anna Canary, {CANARY}"
FAILS, BREAKS, HANGS = "please-answer-500", "please-break-off", "please-never-answer"
SSE = {"content-type": "text/event-stream"}


def chat(text: str = TEXT, **more: Any) -> dict[str, Any]:
    return {"model": "gpt-4o", "messages": [{"role": "user", "content": text}], **more}


_GEMINI = {"contents": [{"role": "user", "parts": [{"text": TEXT}]}]}
CALLS: dict[str, tuple[str, Any]] = {
    "chat-completions": ("/v1/chat/completions", chat()),
    "completions": ("/v1/completions", {"model": "gpt-4o", "prompt": TEXT}),
    "embeddings": ("/v1/embeddings", {"model": "gpt-4o", "input": TEXT}),
    "moderations": ("/v1/moderations", {"model": "gpt-4o", "input": TEXT}),
    "responses": ("/v1/responses", {"model": "gpt-4o", "input": TEXT}),
    "anthropic-messages": ("/v1/messages", chat(model="claude-1", max_tokens=9)),
    "gemini": ("/v1beta/models/gemini-x:generateContent", _GEMINI),
}
"""A call on each wire that protects text, by the wire."""

_SAID: dict[str, Any] = {
    "completions": {"choices": [{"index": 0, "text": "Yes.", "finish_reason": "stop"}]},
    "embeddings": {"object": "list", "data": [{"object": "embedding", "index": 0, "embedding": [0.5]}]},
    "moderations": {"id": "modr-1", "model": "m", "results": []},
    "responses": {"id": "resp_1", "object": "response", "status": "completed", "output": []},
    "messages": {"id": "msg_1", "type": "message", "role": "assistant", "content": [{"type": "text", "text": "Yes."}]},
    "chat": {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}]},
    "gemini": {"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": "Yes."}]}}]},
}


def upstream_config(url: str) -> str:
    """Settings of an upstream for each API."""
    table = '[upstreams.{0}]\nwire = "{0}"\nbase_url = "{1}"\nmodels = ["{2}-*"]\n'
    apis = (("openai", f"{url}/v1", "gpt"), ("anthropic", url, "claude"), ("gemini", url, "gemini"))
    return "".join(table.format(*api) for api in apis)


def answer(request: Recorded) -> Reply:
    """Answers on every wire; text in the request has it fail, break off, or never answer."""
    if FAILS.encode() in request.body:
        return Reply(b'{"error": {"message": "canary-4711"}}', 500)
    if HANGS.encode() in request.body:
        time.sleep(5)
    is_gemini = "/models/" in request.path
    kind = "gemini" if is_gemini else request.path.removeprefix("/v1/").partition("/")[0]
    if request.method == "GET" or kind not in _SAID:
        return Reply(b'{"object": "list", "data": []}')
    if request.json.get("stream"):
        return Reply(_stream(BREAKS.encode() in request.body), headers=SSE)
    return Reply(json.dumps(_SAID[kind]).encode())


def _stream(breaks: bool) -> Iterator[bytes]:
    for word in ("Yes", ", I", " do."):
        yield event(chunk({"content": word}))
    if breaks:
        raise ConnectionError("as a test wants it")
    yield event(chunk({}, finish="stop")) + DONE


@dataclass(frozen=True)
class Traffic:
    """Sends requests to a gateway whose upstreams give this module's `answer`, and counts them.

    `limited` is a key that is used for nothing else.
    """

    running: Running
    plain: Upstream
    intercepted: Upstream
    limited: str
    sent: Counter[str] = field(default_factory=Counter)

    def kinds(self) -> dict[str, Callable[[], object]]:
        """Returns what sends the requests of a kind, by its name."""
        native = {"text": TEXT}
        path, body = CALLS["chat-completions"]
        both = (self.post, self.proxied)
        return {
            **{f"wire {wire}": lambda call=call: self.post(*call) for wire, call in CALLS.items()},
            **{f"proxied {wire}": lambda call=call: self.proxied(*call) for wire, call in CALLS.items()},
            "native": lambda: [self.post(f"/v1/{name}", native) for name in ("analyze", "protect", "playground/run")],
            "demo": lambda: self.post(path, chat(model="svc-demo")),
            "streamed": lambda: self.post(path, chat(stream=True)),
            "streamed through the proxy": lambda: self.proxied(path, chat(stream=True)),
            "of another wire": lambda: self.proxied("/api/chat", body),
            "not intercepted": self.tunnelled,
            "refused by policy": lambda: self.post(path, chat("CVV: 123", svc_policy="pci")),
            "not JSON": lambda: self.post(path, b"{" + CANARY.encode()),
            "unknown field": lambda: self.post("/v1/protect", {"text": TEXT, "canary": 1}),
            "unknown path": lambda: [self.post("/canary-4711", body), self.post("/v1/canary-4711", body)],
            "wrong key": lambda: [self.post(path, body, key="svck_wrong"), self.post("/v1/protect", native, key="x")],
            "public": lambda: self.get("/healthz"),
            "beyond its rate": self.beyond_its_rate,
            "upstream fails": lambda: [send(path, chat(FAILS)) for send in both],
            "upstream breaks off": lambda: [send(path, chat(BREAKS, stream=True)) for send in both],
            "vanishes": lambda: self.vanishes(json.dumps(chat(HANGS)).encode()),
            "vanishes in its body": lambda: self.vanishes(b'{"canary', length=99),
            "no HTTP": lambda: self.send_raw(b"canary-4711\r\n\r\n"),
        }

    def post(self, path: str, body: Any, key: str = OPERATOR_KEY) -> object:
        with self.running.client(key) as client:
            return self._send(client, path, body)

    def get(self, path: str, key: str = OPERATOR_KEY) -> httpx.Response:
        self.sent["public" if path == "/healthz" else "GET"] += 1
        with self.running.client(key) as client:
            return client.get(path)

    def proxied(self, path: str, body: Any) -> object:
        with self.running.proxied(self.intercepted.url, authorization="Bearer sk-canary-of-the-provider") as client:
            return self._send(client, path, body)

    def tunnelled(self) -> object:
        self.sent["GET"] += 1
        with self.running.proxied() as client:
            return client.get(f"http://127.0.0.1:{self.plain.port}/canary-4711")

    def beyond_its_rate(self) -> int:
        """Returns how many requests were refused."""
        answers = [self.get("/v1/models", self.limited) for _ in range(140)]
        for _ in range(2):
            self.post(*CALLS["chat-completions"], key=self.limited)
        return [each.status_code for each in answers].count(429)

    def vanishes(self, body: bytes, length: int | None = None) -> None:
        head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {OPERATOR_KEY}\r\n"
        head += f"content-type: application/json\r\ncontent-length: {length or len(body)}\r\n\r\n"
        self.send_raw(head.encode() + body, wait=False)

    def send_raw(self, data: bytes, *, wait: bool = True) -> bytes:
        self.sent["raw"] += 1
        with socket.create_connection(("127.0.0.1", self.running.port), 10) as sock:
            sock.sendall(data)
            if wait:
                return sock.recv(65536)
            time.sleep(0.5)
            return b""

    def _send(self, client: httpx.Client, path: str, body: Any) -> object:
        """Returns the answer, or the error if it breaks off."""
        self.sent["POST"] += 1
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        try:
            return client.post(path, content=content, headers={"content-type": "application/json"})
        except httpx.RemoteProtocolError as broken_off:
            return broken_off
