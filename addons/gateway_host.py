"""Answers native endpoints in-process: hosts the ASGI application (ASGI 3.0) inside mitmproxy."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import unquote

from mitmproxy import http

from gateway.models import Caller

type Message = MutableMapping[str, Any]
type AsgiApp = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]
]


async def serve(
    app: AsgiApp, flow: http.HTTPFlow, headers: http.Headers, caller: Caller | None = None
) -> tuple[http.Response, str | None]:
    """The application's response to a flow, and the path of the route that made it, with names in place of values.

    `headers` are the client's own, which the flow no longer shows; `caller` is who the host knows to have sent them.

    An exception of the application is the caller's to handle: nothing is sent then.
    """
    path, _, query = flow.request.data.path.partition(b"?")
    scope: Message = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": flow.request.method,
        "scheme": "http",
        "path": unquote(path.decode("latin-1")),
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in headers.fields],
        "client": flow.client_conn.peername,
        "server": flow.client_conn.sockname,
        "state": {} if caller is None else {"caller": caller},
    }
    start: Message = {}
    body = bytearray()
    asked = False

    async def receive() -> Message:
        nonlocal asked
        if not asked:
            asked = True
            return {"type": "http.request", "body": flow.request.raw_content or b"", "more_body": False}
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            start.update(message)
        elif message["type"] == "http.response.body":
            body.extend(message.get("body", b""))

    await app(scope, receive, send)
    response_headers = http.Headers(tuple(map(tuple, start.get("headers", ()))))
    response = http.Response.make(start["status"], bytes(body), response_headers)
    return response, getattr(scope.get("route"), "path", None)
