"""An upstream that speaks the Responses API over WebSockets, and clients of it through the gateway."""

import contextlib
import json
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import trustme
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request
from websockets.sync.client import ClientConnection, connect
from websockets.sync.connection import Connection
from websockets.sync.server import Server, ServerConnection, serve

from tests.e2e.server import OPERATOR_KEY, Running

type Json = dict[str, Any]
type Answer = Callable[["Socket", str], Iterable[str | bytes]]


@dataclass
class Socket:
    """One connection that arrived: its head, and the messages."""

    connection: ServerConnection
    messages: list[str] = field(default_factory=list)
    close_code: int | None = None

    @property
    def head(self) -> Request:
        assert self.connection.request is not None
        return self.connection.request

    @property
    def bodies(self) -> list[Json]:
        return [json.loads(message) for message in self.messages]


def events(text: str, number: int = 1, size: int = 3, **more: Any) -> list[str]:
    """The events of an answer with a text in pieces."""
    response = {"id": f"resp_{number}", "object": "response", "created_at": 1, "model": "m", "status": "in_progress"}
    place = {"output_index": 0, "item_id": "msg_1", "content_index": 0}
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    usage = {"input_tokens": 5, "output_tokens": 5, "total_tokens": 10}
    made: list[Json] = [
        {"type": "response.created", "response": {**response, "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
        *({"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []} for piece in pieces),
        {"type": "response.output_text.done", **place, "text": text, "logprobs": []},
        {"type": "response.content_part.done", **place, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {
            "type": "response.completed",
            "response": {**response, "status": "completed", "output": [item], "usage": usage},
        },
    ]
    return [json.dumps({**event, "sequence_number": at, **more}) for at, event in enumerate(made)]


def last_text(body: Json) -> str:
    """The text of the last item of a request."""
    given = body.get("input", "")
    if isinstance(given, str):
        return given
    last = given[-1]
    content = last.get("content", last.get("output", ""))
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def repeat(socket: Socket, message: str) -> Iterable[str]:
    """Says the last text back."""
    body = json.loads(message)
    lane = {"stream_id": body["stream_id"]} if "stream_id" in body else {}
    text = "" if body.get("generate") is False else last_text(body)
    return events(text, len(socket.messages), **lane)


class SocketUpstream:
    """The server. `answer` makes what is sent for a message, and may be replaced at any time."""

    def __init__(self, authority: trustme.CA | None = None) -> None:
        self.sockets: list[Socket] = []
        self.answer: Answer = repeat
        tls = None
        if authority is not None:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            authority.issue_cert("localhost", "127.0.0.1").configure_cert(tls)
        self.scheme = "https" if authority else "http"
        self._server: Server = serve(self._handle, "127.0.0.1", 0, ssl=tls, max_size=None)
        self.port: int = self._server.socket.getsockname()[1]

    @property
    def url(self) -> str:
        return f"{self.scheme}://localhost:{self.port}"

    @property
    def seen(self) -> str:
        """All heads and messages that arrived."""
        heads = [f"{each.head.path} {each.head.headers}" for each in self.sockets]
        return "\n".join([*heads, *(message for each in self.sockets for message in each.messages)])

    def _handle(self, connection: ServerConnection) -> None:
        socket = Socket(connection)
        self.sockets.append(socket)
        with contextlib.suppress(ConnectionClosed):
            for message in connection:
                socket.messages.append(message if isinstance(message, str) else repr(message))
                for event in self.answer(socket, socket.messages[-1]):
                    connection.send(event)
        socket.close_code = connection.close_code

    @contextlib.contextmanager
    def running(self) -> Iterator["SocketUpstream"]:
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join(10)


@dataclass(frozen=True)
class SocketEntrance:
    """One of the listeners, with its upstream."""

    name: str
    running: Running
    upstream: SocketUpstream

    def connect(self, path: str = "/v1/responses", **headers: str) -> ClientConnection:
        more = {"openai-beta": "responses_websockets=2026-02-06", **headers}
        if self.name == "gateway":
            given = {"Authorization": f"Bearer {OPERATOR_KEY}", **more}
            return connect(
                f"ws://127.0.0.1:{self.running.port}{path}", additional_headers=given, proxy=None, open_timeout=60
            )
        given = {"Authorization": "Bearer key-of-the-provider", **more}
        url = f"wss://localhost:{self.upstream.port}{path}"
        trust, proxy = self.running.trust, self.running.proxy
        # Python 3.13 loses what one thread sends while another reads a session ticket, which TLS 1.3 sends late.
        trust.maximum_version = ssl.TLSVersion.TLSv1_2
        return connect(url, additional_headers=given, proxy=proxy, ssl=trust, open_timeout=60)


def answered(client: Connection) -> list[Json]:
    """The events up to the end of the next answer."""
    got: list[Json] = []
    while not got or got[-1]["type"] not in {"response.completed", "response.incomplete", "response.failed", "error"}:
        got.append(json.loads(client.recv(30)))
    return got


def ask(client: Connection, text: str, **more: Any) -> list[Json]:
    """Sends a text, and returns the events of its answer."""
    client.send(json.dumps(create(text, **more)))
    return answered(client)


def create(text: str, **more: Any) -> Json:
    said = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}]
    return {"type": "response.create", "model": "gpt-5", "input": said, "store": False, **more}


def text_of(got: list[Json]) -> str:
    """The text of an answer, which its pieces and its end agree on."""
    pieces = "".join(event["delta"] for event in got if event["type"] == "response.output_text.delta")
    for item in got[-1].get("response", {}).get("output", ()):
        assert item["content"][0]["text"] == pieces
    return pieces
