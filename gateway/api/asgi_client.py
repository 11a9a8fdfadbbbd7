"""Calls an ASGI application (ASGI 3.0) in-process with a buffered request and returns its buffered response."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

from gateway.http.types import Address, Field

type Message = MutableMapping[str, Any]
type AsgiApp = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]
]


class Response(NamedTuple):
    """The response of the application. `route` is the path template of the matched route."""

    status: int
    headers: Sequence[Field]
    body: bytes
    route: str | None


async def serve(
    app: AsgiApp,
    method: str,
    path: str,
    headers: Sequence[Field],
    content: bytes,
    *,
    client: Address = None,
    server: Address = None,
    state: dict[str, Any],
) -> Response:
    """Returns the application's response. `path` is the raw request target; `state` becomes `request.state`.

    Exceptions of the application propagate to the caller.
    """
    raw, _, query = path.encode("utf-8", "surrogateescape").partition(b"?")
    scope: Message = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(raw.decode("latin-1")),
        "raw_path": raw,
        "query_string": query,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in headers],
        "client": client,
        "server": server,
        "state": state,
    }
    start: Message = {}
    body = bytearray()
    received = False

    async def receive() -> Message:
        nonlocal received
        if not received:
            received = True
            return {"type": "http.request", "body": content, "more_body": False}
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            start.update(message)
        elif message["type"] == "http.response.body":
            body.extend(message.get("body", b""))

    await app(scope, receive, send)
    fields = [(name, value) for name, value in start.get("headers", ())]
    return Response(start["status"], fields, bytes(body), getattr(scope.get("route"), "path_format", None))
