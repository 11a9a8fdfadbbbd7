"""An upstream that speaks the APIs of OpenAI, Anthropic, Gemini and others: three calls of a tool, then a text.

It repeats the first card number of a request, or the placeholder that has taken its place, and records what it got.
"""

import json
import re
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from . import sockets
from .batches import Batches
from .cloud_answers import (
    COHERE_LINES,
    EVENT_STREAM,
    LINES,
    Call,
    chunked,
    cohere,
    cohere_lines,
    conversation,
    converse,
    ollama,
)
from .cloud_answers import pieces as _pieces

type Json = Any

CARD = "4539578763621486"
MAIL = "anna.keller@clients.example"
CALLS = 3
# Over a WebSocket, and of clients that have signed in.
TURNS = 10
_NEEDLE = re.compile(rf"\[CREDIT_CARD_\w{{5}}\]|{CARD}")
_RESULTS = re.compile(r'"(?:type": ?"function_call_output|type": ?"tool_result|functionResponse|toolResult|outputs)"')
# Tools that save a value or run a command, in the order of preference, and where they take it.
_TOOLS = {
    "save": "value",
    "Bash": "command",
    "exec_command": "cmd",
    "run_shell_command": "command",
    "bash": "command",
}
_OUTPUT = "saved.txt"
_MODEL_CALLS = re.compile(
    r"/((chat|fim|agents)/completions|responses|messages(/count_tokens)?)\Z|:\w*(enerateContent|awPredict)\Z"
    r"|^/(v1|v2|api)/chat\Z|^/v1/conversations(/conv_1)?\Z|^/model/[^/]+/(converse|invoke)(-stream|-with-response-stream)?\Z"
)


class Upstream:
    """The server, on a port of its own. It asks for `calls` calls of a tool.

    `seen` has all bytes that reached it, `bodies` and `heads` the calls of models. With `speaks_sockets` it also takes
    WebSockets: `connections` has the messages of each, and `bodies` the whole conversations that they continue.
    """

    def __init__(self, tls: ssl.SSLContext | None = None, handler: "type[Handler] | None" = None) -> None:
        self.seen = bytearray()
        self.bodies: list[bytes] = []
        self.heads: list[dict[str, str]] = []
        self.calls = CALLS
        self.speaks_sockets = False
        self.connections: list[list[Json]] = []
        # The first answer of the conversation that the provider keeps.
        self.said = ""
        self.batches = Batches()
        own = type("Own", (handler or Handler,), {"upstream": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), own)
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def clear(self) -> None:
        self.seen.clear()
        self.bodies.clear()
        self.heads.clear()
        self.connections.clear()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    upstream: Upstream

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.upstream.seen += f"{self.requestline}\n{self.headers}".encode()
        if self.upstream.speaks_sockets and self.headers.get("upgrade", "").lower() == "websocket":
            self._converse()
        elif isinstance(kept := self.upstream.batches.read(self.path), bytes):
            self._send_bytes(kept, "application/x-jsonl")
        else:
            self._send(kept or self.simple() or {"object": "list", "data": [], "models": []})

    def simple(self) -> Json | None:
        """Returns the answer to a call that is none of a model."""
        return None

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.upstream.seen += f"{self.requestline}\n{self.headers}".encode() + body + b"\n"
        path = self.path.partition("?")[0]
        if (answer := self.simple()) is not None or _MODEL_CALLS.search(path) is None:
            self._send(answer or self._batch(path, body) or {})
            return
        self.upstream.bodies.append(body)
        self.upstream.heads.append({name.lower(): value for name, value in self.headers.items()})
        asked = json.loads(body or b"{}")
        if path.endswith("/count_tokens"):
            self._send({"input_tokens": 10})
            return
        call = next_call(asked, body.decode("utf-8", "replace"), self.upstream.calls)
        text = saved(body.decode("utf-8", "replace"))
        if path.startswith("/model/") or path in {"/api/chat", "/v1/chat"}:
            self._answer_other(path, asked, call, text)
            return
        if path.endswith("/completions"):
            answer, events, named = chat(call, text)
            if call is not None and str(asked.get("model", asked.get("agent_id"))).startswith("mistral-"):
                events = in_one_event(answer)
        elif path.endswith("/responses"):
            answer, events, named = responses(call, text)
        elif path.endswith(("/messages", "awPredict")):
            answer, events, named = messages(call, text)
        elif path.startswith("/v1/conversations"):
            self.upstream.said = text if path.endswith("s") else self.upstream.said
            (answer, events), named = conversation(self.upstream.said), True
        elif path == "/v2/chat":
            (answer, events), named = cohere(call, text), True
        else:
            answer, events, named = gemini(call, text)
        if path.startswith("/v1internal:"):
            answer, events = {"response": answer}, [{"response": event, "traceId": "trace-1"} for event in events]
        if asked.get("stream") or ":stream" in path:
            self._stream(events, named=named)
        else:
            self._send(answer)

    def _batch(self, path: str, body: bytes) -> Json | None:
        url = f"http{'s' if isinstance(self.connection, ssl.SSLSocket) else ''}://{self.headers['host']}"
        made = self.upstream.batches.create(url, path, self.headers.get("content-type", ""), body, whole_answer)
        if made is not None:
            self.upstream.bodies.append(body)
        return made

    def _answer_other(self, path: str, asked: Json, call: Call, text: str) -> None:
        """Answers calls whose streams are no server-sent events."""
        if path == "/api/chat":
            answer, lines = ollama(call, text)
            kind, streamed = LINES, lines if asked.get("stream", True) else b""
        elif path == "/v1/chat":
            answer, lines = cohere_lines(call, text)
            kind, streamed = COHERE_LINES, lines if asked.get("stream") else b""
        elif "/converse" in path:
            answer, frames = converse(call, text)
            kind, streamed = EVENT_STREAM, frames if path.endswith("-stream") else b""
        else:
            answer, events, _ = messages(call, text)
            kind, streamed = EVENT_STREAM, chunked(events) if path.endswith("-stream") else b""
        if streamed:
            self._send_bytes(streamed, kind)
        else:
            self._send(answer)

    def _converse(self) -> None:
        upstream, got = self.upstream, list[Json]()
        upstream.connections.append(got)
        known = sockets.Conversations(len(upstream.connections))
        for frames, text in sockets.messages_of(self):
            upstream.seen += f"{text}\n".encode()
            got.append(json.loads(text))
            whole = known.whole(got[-1])
            if whole is None or whole.get("type") != "response.create":
                error = {"code": "previous_response_not_found", "message": "It is of another connection."}
                sockets.send(self, frames, [{"type": "error", "status": 400, "error": error}])
                continue
            body = json.dumps(whole)
            upstream.bodies.append(body.encode())
            upstream.heads.append({name.lower(): value for name, value in self.headers.items()})
            call = next_call(whole, body, upstream.calls)
            events = responses(call, saved(body))[1]
            if whole.get("generate") is False:
                events = [events[0], {**events[-1], "response": {**events[-1]["response"], "output": []}}]
            events = known.answered(whole, events)
            if len(upstream.connections) == 1 and call is not None and call[0] == f"call_{upstream.calls // 2}":
                sockets.send(self, frames, events[: len(events) // 2])
                sockets.break_off(self, frames)
            else:
                sockets.send(self, frames, events)

    def _send(self, body: Json) -> None:
        self._send_bytes(json.dumps(body).encode(), "application/json")

    def _send_bytes(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, events: list[Json], *, named: bool) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in events:
            name = f"event: {event['type']}\n" if named else ""
            data = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(f"{name}data: {data}\n\n".encode())
        self.close_connection = True


def whole_answer(path: str, asked: Json) -> Json:
    """Returns the answer to a request of a batch."""
    return (messages if path.endswith("/messages") else chat)(None, saved(json.dumps(asked)))[0]


def saved(body: str) -> str:
    """Returns the text of the answer to a request."""
    found = _NEEDLE.search(body)
    return f"Saved {found[0] if found else 'nothing'} three times."


def call_of(asked: Json) -> str | None:
    """Returns the name of the tool to call, if the request offers one that is known."""
    request = asked.get("request", asked)
    offered = set(_names(request.get("tools") or request.get("toolConfig")))
    return next((name for name in _TOOLS if name in offered), None)


def next_call(asked: Json, body: str, calls: int) -> Call:
    """Returns id, name and arguments of the next call, or None after the last or without a known tool."""
    done = sum(body.count(mark) for mark in ('"role":"tool"', '"role": "tool"'))
    done = done or len(_RESULTS.findall(body))
    tool, found = call_of(asked), _NEEDLE.search(body)
    if tool is None or found is None or done >= calls:
        return None
    # Each result of a command tells something new that is private.
    command = f"printf '%s\\n' '{found[0]}' >> {_OUTPUT}; echo 'Saved for customer.{done}@'clients.example"
    arguments: Json = {_TOOLS[tool]: found[0] if tool == "save" else command}
    if tool == "run_shell_command":
        arguments |= {"is_background": False}
    if tool in {"bash", "Bash"}:
        arguments |= {"description": "Saves it"}
    return f"call_{done}", tool, arguments


def _names(tools: Json) -> Iterator[str]:
    if isinstance(tools, dict):
        if isinstance(tools.get("name"), str):
            yield tools["name"]
        tools = list(tools.values())
    for each in tools if isinstance(tools, list) else ():
        yield from _names(each)


def chat(call: Call, text: str) -> tuple[Json, list[Json], bool]:
    base = {"id": "c1", "created": 1, "model": "m"}
    usage = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
    message: Json = {"role": "assistant", "content": text}
    deltas: list[Json] = [{"content": piece} for piece in _pieces(text)]
    if call is not None:
        name, arguments = call[1], json.dumps(call[2])
        whole = {"id": call[0], "type": "function", "function": {"name": name, "arguments": arguments}}
        message = {"role": "assistant", "content": None, "tool_calls": [whole]}
        first = {**whole, "index": 0, "function": {"name": name, "arguments": ""}}
        rest = [{"index": 0, "function": {"arguments": piece}} for piece in _pieces(arguments)]
        deltas = [{"tool_calls": [each]} for each in (first, *rest)]
    finish = "tool_calls" if call else "stop"
    chunk = {**base, "object": "chat.completion.chunk"}
    events = [
        {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in ({"role": "assistant"}, *deltas)
    ]
    last = {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}], "usage": usage}
    choices = [{"index": 0, "message": message, "finish_reason": finish}]
    return {**base, "object": "chat.completion", "choices": choices, "usage": usage}, [*events, last, "[DONE]"], False


def in_one_event(answer: Json) -> list[Json]:
    """Returns the events of a call that comes in one piece, as Mistral streams them."""
    calls = [{**each, "index": at} for at, each in enumerate(answer["choices"][0]["message"]["tool_calls"])]
    base = {**answer, "object": "chat.completion.chunk"}
    said = (({"role": "assistant", "content": ""}, None), ({"content": "", "tool_calls": calls}, "tool_calls"))
    events = [{**base, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]} for delta, end in said]
    return [*events, "[DONE]"]


def responses(call: Call, text: str) -> tuple[Json, list[Json], bool]:
    usage: Json = {"input_tokens": 5, "output_tokens": 5, "total_tokens": 10}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    begin: Json = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m"}
    begin |= {"status": "in_progress", "output": [], "tools": [], "tool_choice": "auto", "parallel_tool_calls": False}
    place = {"output_index": 0, "item_id": "i1"}
    if call is None:
        part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        item: Json = {"type": "message", "id": "i1", "role": "assistant", "status": "completed", "content": [part]}
        at: Json = {**place, "content_index": 0}
        inner = [
            {"type": "response.content_part.added", **at, "part": {**part, "text": ""}},
            *({"type": "response.output_text.delta", **at, "delta": piece, "logprobs": []} for piece in _pieces(text)),
            {"type": "response.output_text.done", **at, "text": text, "logprobs": []},
            {"type": "response.content_part.done", **at, "part": part},
        ]
        opened = {**item, "status": "in_progress", "content": []}
    else:
        arguments = json.dumps(call[2])
        item = {"type": "function_call", "id": "i1", "call_id": call[0], "name": call[1], "arguments": arguments}
        item |= {"status": "completed"}
        name = "response.function_call_arguments"
        inner = [{"type": f"{name}.delta", **place, "delta": piece} for piece in _pieces(arguments)]
        inner.append({"type": f"{name}.done", **place, "name": call[1], "arguments": arguments})
        opened = {**item, "status": "in_progress", "arguments": ""}
    whole = {**begin, "status": "completed", "output": [item], "usage": usage}
    events = [
        {"type": "response.created", "response": begin},
        {"type": "response.output_item.added", "output_index": 0, "item": opened},
        *inner,
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return whole, [{**event, "sequence_number": at} for at, event in enumerate(events)], True


def messages(call: Call, text: str) -> tuple[Json, list[Json], bool]:
    reason = "tool_use" if call else "end_turn"
    # Claude Code takes messages of one id for one message.
    base: Json = {
        "id": f"msg_{call[0] if call else 'last'}",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "stop_sequence": None,
    }
    usage = {"input_tokens": 5, "output_tokens": 5}
    if call is None:
        block: Json = {"type": "text", "text": text}
        empty: Json = {"type": "text", "text": ""}
        deltas: list[Json] = [{"type": "text_delta", "text": piece} for piece in _pieces(text)]
    else:
        block = {"type": "tool_use", "id": call[0], "name": call[1], "input": call[2]}
        empty = {**block, "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(json.dumps(call[2]))]
    events: list[Json] = [
        {"type": "message_start", "message": {**base, "content": [], "stop_reason": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]
    return {**base, "content": [block], "stop_reason": reason, "usage": usage}, events, True


def gemini(call: Call, text: str) -> tuple[Json, list[Json], bool]:
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 5, "totalTokenCount": 10}

    def answer(part: Json, **more: Json) -> Json:
        candidate = {"content": {"role": "model", "parts": [part]}, "index": 0, **more}
        return {"candidates": [candidate], "usageMetadata": usage}

    if call is not None:
        part: Json = {"functionCall": {"name": call[1], "args": call[2]}}
        whole = answer(part, finishReason="STOP")
        return whole, [whole], False
    pieces = _pieces(text)
    events = [answer({"text": piece}) for piece in pieces[:-1]] + [answer({"text": pieces[-1]}, finishReason="STOP")]
    return answer({"text": text}, finishReason="STOP"), events, False
