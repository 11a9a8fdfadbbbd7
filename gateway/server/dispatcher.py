"""Serves the calls of both listeners: decides what is forwarded, what is answered here, and what is refused."""

from typing import Any

from gateway.api.asgi_client import AsgiApp, serve
from gateway.api.error_handlers import unknown_path
from gateway.auth.credentials import refuse_repeated
from gateway.container import Container
from gateway.errors import BadRequest, EditRefused, NotFound
from gateway.http.content_encoding import decode
from gateway.http.strict_json import check_media_type, parse_object
from gateway.ipc.messages import Call, ForwardedRequest, Listener, NativeResponse, RestoredAnswer
from gateway.models import Caller
from gateway.pipeline.exchange import Exchange
from gateway.wires import Wire


class Dispatcher:
    """Implements `gateway.ipc.messages.Gateway` on top of the container's parts and the ASGI application."""

    def __init__(self, container: Container, app: AsgiApp) -> None:
        self._callers = container.callers
        self._chat = container.chat
        self._edits = container.edits
        self._pipeline = container.pipeline
        self._settings = container.settings
        self._wires = container.wires
        self._app = app
        self._exchanges: dict[str, Exchange] = {}

    async def check_head(self, call: Call) -> int:
        settings = self._settings
        refuse_repeated(call.fields)
        key = _header(call, b"x-svc-key")
        if call.listener is Listener.PROXY:
            if key is not None:
                self._callers.identify(None, key)
        elif call.path.startswith("/v1/"):
            self._callers.identify(_header(call, b"authorization"), key)
        else:
            # Public pages, none of which takes a body.
            return min(settings.head_limit_bytes, settings.body_limit_bytes)
        return settings.body_limit_bytes

    async def open(self, call: Call) -> ForwardedRequest | NativeResponse:
        path = call.path.partition("?")[0]
        if "%" in path:
            raise unknown_path(path)
        if any(name.lower() == b"upgrade" for name, _ in call.fields):
            raise BadRequest("The gateway does not upgrade connections.", code="upgrade_refused", param="Upgrade")
        wire = self._wires.serving(call.method, path)
        if call.listener is Listener.GATEWAY:
            refuse_repeated(call.fields)
            return await (self._serve(call) if wire is None else self._open_chat(call, wire))
        return await (self._forward_textless(call) if wire is None else self._open_proxied_chat(call, wire))

    async def _open_chat(self, call: Call, wire: Wire) -> ForwardedRequest | NativeResponse:
        caller = self._callers.authenticate(_header(call, b"authorization"), _header(call, b"x-svc-key"))
        check_media_type(_header(call, b"content-type"))
        source = self._decode(call)
        body = parse_object(source)
        destination = self._chat.destination_for(body.get("model"), call.fields, call.path.partition("?")[2])
        if not destination.url:
            return await self._serve(call, caller)
        return self._forward(
            await self._pipeline.open(
                wire,
                body,
                caller,
                destination,
                request_id=call.request_id,
                source=source if call.editable else None,
            )
        )

    async def _open_proxied_chat(self, call: Call, wire: Wire) -> ForwardedRequest:
        source = self._decode(call)
        body = parse_object(source)
        return self._forward(
            await self._pipeline.open(
                wire,
                body,
                self._callers.authenticate_proxied(call.path, call.fields),
                self._chat.host_for(body.get("model"), call.origin, call.path, call.fields),
                request_id=call.request_id,
                source=source if call.editable else None,
            )
        )

    async def _forward_textless(self, call: Call) -> ForwardedRequest:
        if call.content:
            raise NotFound("The gateway does not know this call and does not let it leave.", code="unknown_route")
        destination, headers = await self._chat.textless(call.method, call.origin, call.path, call.fields)
        return ForwardedRequest(destination.url, headers, b"", timeout_seconds=destination.timeout_seconds)

    async def _serve(self, call: Call, caller: Caller | None = None) -> NativeResponse:
        """Has the ASGI application answer. A `caller` that is known already is not counted against its rate again."""
        state: dict[str, Any] = {} if caller is None else {"caller": caller}
        response = await serve(
            self._app,
            call.method,
            call.path,
            call.fields,
            call.content,
            client=call.client,
            server=call.server,
            state=state,
        )
        return NativeResponse(*response, receipt=state.get("receipt"), guard=state.get("guard"))

    def _decode(self, call: Call) -> bytes:
        return decode(call.content, _header(call, b"content-encoding"), self._settings.body_limit_bytes)

    def _forward(self, exchange: Exchange) -> ForwardedRequest:
        self._exchanges[exchange.request_id] = exchange
        destination, protected = exchange.destination, exchange.protected
        minted = [each.placeholder for each in protected.transformations if each.placeholder]
        return ForwardedRequest(
            destination.url,
            exchange.headers,
            exchange.body,
            exchange.receipt.ref,
            bool(protected.hidden),
            list(dict.fromkeys(minted)),
            destination.upstream,
            destination.timeout_seconds,
        )

    async def close(self, request_id: str, status: int, body: bytes, annotate: bool) -> RestoredAnswer:
        exchange = self._exchanges.pop(request_id, None)
        if exchange is None:
            return RestoredAnswer(body)
        restored = await self._pipeline.close(exchange, status, body, annotate=annotate)
        return RestoredAnswer(restored, exchange.verdict.as_dict() if exchange.verdict else None)

    async def edit(self, request_id: str, edited: bytes) -> ForwardedRequest:
        exchange = self._exchanges.get(request_id)
        if exchange is None:
            raise EditRefused.because("the request carries no text, and none can be added. Release it unchanged.")
        receipt = await self._edits.apply(exchange, edited)
        return ForwardedRequest("", (), exchange.body, receipt.ref)

    def fail(self, request_id: str, outcome: str) -> None:
        exchange = self._exchanges.pop(request_id, None)
        if exchange is not None:
            self._pipeline.fail(exchange, outcome)

    def stop(self) -> None:
        """Records every request under way as cancelled."""
        for request_id in list(self._exchanges):
            self.fail(request_id, "cancelled")


def _header(call: Call, name: bytes) -> str | None:
    """Returns the values of a header field, joined as one (RFC 9110 section 5.3)."""
    values = [value.decode("utf-8", "surrogateescape") for known, value in call.fields if known.lower() == name]
    return ", ".join(values) if values else None
