"""Hosts an ASGI application (ASGI 3.0) without a server: one request, read whole, and its response, whole."""

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
    """What the application answered. `route` is the path of its route, with names in place of values."""

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
    """The application's response. `path` is as it was sent, with its query; `state` is what the application may know.

    An exception of the application is the caller's to handle: there is no answer then.
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
    asked = False

    async def receive() -> Message:
        nonlocal asked
        if not asked:
            asked = True
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
