"""A chat-completions upstream on loopback that records what reached it and answers as a test tells it to."""

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import trustme
import uvicorn

type Message = dict[str, Any]


@dataclass
class Recorded:
    """One request as it arrived."""

    method: str
    path: str
    query: str
    headers: list[tuple[str, str]]
    body: bytes
    left: threading.Event = field(default_factory=threading.Event)
    """Set when the peer has closed the connection, or has got the whole answer."""
    raw_path: str = ""
    """The path as it was written."""

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)


@dataclass
class Reply:
    """An answer of the upstream: a body, or its pieces, each of which is sent before the next one is requested.

    The connection breaks off where the pieces raise an error.
    """

    body: bytes | Iterator[bytes]
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})


def completion(message: Message, finish: str = "stop") -> Reply:
    return Reply(
        json.dumps(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1,
                "model": "upstream-model",
                "choices": [{"index": 0, "message": message, "finish_reason": finish}],
                "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
            }
        ).encode()
    )


def echo(request: Recorded) -> Reply:
    """Says the last message back, word for word."""
    last = request.json["messages"][-1]
    content = last.get("content")
    if isinstance(content, list):
        content = "\n".join(part.get("text", "") for part in content)
    return completion({"role": "assistant", "content": content})


def every_host_on_loopback() -> None:
    """Has a gateway that is about to start look for every host on this machine; see `prepare` of `gateway`."""
    connect = asyncio.open_connection

    async def open_connection(host: str, *given: Any, **more: Any) -> Any:
        return await connect("127.0.0.1", *given, **more)

    asyncio.open_connection = open_connection  # type: ignore[assignment]


class Upstream:
    """The server; `answer` may be replaced at any time. With TLS, it has a certificate for loopback and `names`."""

    def __init__(self, tls: trustme.CA | None = None, *names: str) -> None:
        self.recorded: list[Recorded] = []
        self.answer: Callable[[Recorded], Reply] = echo
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.port: int = self.socket.getsockname()[1]
        self.scheme = "https" if tls else "http"
        config = uvicorn.Config(
            self._app, log_config=None, access_log=False, lifespan="off", ws="none", interface="asgi3"
        )
        config.load()
        if tls:
            import ssl

            config.ssl = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.issue_cert("localhost", "127.0.0.1", *names).configure_cert(config.ssl)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self.socket],), daemon=True)

    @property
    def url(self) -> str:
        return f"{self.scheme}://localhost:{self.port}"

    @property
    def seen(self) -> bytes:
        """All bodies, paths and headers that ever arrived, as one haystack, without our port: a number by chance."""
        everything = b"\n".join(
            b" ".join((r.path.encode(), r.query.encode(), json.dumps(r.headers).encode(), r.body))
            for r in self.recorded
        )
        return everything.replace(f"localhost:{self.port}".encode(), b"localhost:PORT")

    async def _app(self, scope: Message, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        headers = [(name.decode(), value.decode("latin-1")) for name, value in scope["headers"]]
        request = Recorded(scope["method"], scope["path"], scope["query_string"].decode(), headers, body)
        request.raw_path = scope["raw_path"].decode()
        self.recorded.append(request)
        reply = self.answer(request)
        fields = [(k.encode(), v.encode()) for k, v in reply.headers.items()]
        await send({"type": "http.response.start", "status": reply.status, "headers": fields})
        if not isinstance(reply.body, bytes):
            gone = asyncio.ensure_future(receive())
            gone.add_done_callback(lambda _: request.left.set())
            while (piece := await asyncio.to_thread(next, reply.body, None)) is not None:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": reply.body if isinstance(reply.body, bytes) else b""})

    @contextlib.contextmanager
    def running(self) -> Iterator["Upstream"]:
        self._thread.start()
        deadline = time.monotonic() + 10
        while not self._server.started:
            if time.monotonic() > deadline:
                raise TimeoutError("the upstream did not start")
            time.sleep(0.01)
        try:
            yield self
        finally:
            self._server.should_exit = True
            self._thread.join(10)
            self.socket.close()


def answer_when_told(upstream: Upstream) -> tuple[threading.Event, threading.Event]:
    """Has calls echoed once the second event is set; the first is set when one arrives."""
    asked, told = threading.Event(), threading.Event()

    def slowly(request: Recorded) -> Reply:
        asked.set()
        told.wait(120)
        return echo(request)

    upstream.answer = slowly
    return asked, told
