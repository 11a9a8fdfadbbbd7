"""Calls an ASGI application (ASGI 3.0) in-process with a buffered request and returns its buffered response."""

import asyncio
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from starlette.types import ASGIApp, Message

from gateway.exchange.messages import NativeResponse
from gateway.http.types import Address, Field


async def serve(
    app: ASGIApp,
    method: str,
    path: str,
    headers: Sequence[Field],
    content: bytes,
    *,
    client: Address = None,
    server: Address = None,
    state: dict[str, Any],
) -> NativeResponse:
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
    route = getattr(scope.get("route"), "path_format", None)
    return NativeResponse(start["status"], fields, bytes(body), route, state.get("receipt"), state.get("guard"))
