"""Serves the calls of both listeners: decides what is forwarded, what is answered here, and what is refused."""

import asyncio
import re
from typing import Any

from gateway.api.asgi_client import AsgiApp, serve
from gateway.api.error_handlers import BEYOND_JSON, is_beyond_json, unknown_path
from gateway.auth.credentials import refuse_repeated
from gateway.auth.grants import check_scope
from gateway.auth.signatures import refuse_signed
from gateway.container import Container
from gateway.errors import EditRefused, GatewayError, InternalError, NotFound, UnsupportedMedia, UpgradeRefused
from gateway.exchange.destination import Destination
from gateway.exchange.messages import (
    Call,
    CheckedHead,
    ForwardedRequest,
    Listener,
    NativeResponse,
    RestoredAnswer,
    StreamEnd,
)
from gateway.exchange.state import Exchange
from gateway.http.content_encoding import decode
from gateway.http.methods import METHODS
from gateway.http.strict_json import check_media_type, parse_object
from gateway.models import Caller, ReceiptRef, Scope
from gateway.usage import count_other_call
from gateway.wires import Body, Wire
from gateway.wires.other_json import OTHER_JSON

# Reports of clients on their own use, which repeat whole conversations.
_TELEMETRY = ("/v1/traces/ingest", "/api/event_logging/", "/api/claude_code/metrics")
# Model calls of Amazon Bedrock. AWS's SDKs encode `:` and `/` in the id or ARN of a model.
_BEDROCK = re.compile(
    r"/model/(?:[\w.:-]|%3A|%2F)+/(?:converse|converse-stream|count-tokens|invoke|invoke-with-response-stream)",
    re.ASCII | re.IGNORECASE,
)
# Methods of calls that need no body.
_READING = frozenset({"GET", "HEAD"})


class Dispatcher:
    """Implements `gateway.exchange.messages.Gateway` on top of the container's parts and the ASGI application."""

    def __init__(self, container: Container, app: AsgiApp) -> None:
        self._audit = container.key_audit
        self._callers = container.callers
        self._chat = container.chat
        self._edits = container.edits
        self._pipeline = container.pipeline
        self._refusals = container.refusals
        self._settings = container.settings
        self._store = container.store
        self._wires = container.wires
        self._app = app
        self._exchanges: dict[str, Exchange] = {}

    async def check_proxy_key(self, key: str) -> None:
        field = (b"x-svc-key", key.encode("utf-8", "surrogateescape"))
        outcome = "connected"
        try:
            check_scope(self._callers.identify([field]), Scope.CHAT)
        except GatewayError as error:
            outcome = error.code
            raise
        finally:
            self._audit.note(self._callers.key_id([field]), "proxy", outcome)

    async def check_head(self, call: Call) -> CheckedHead:
        try:
            return self._check_head(call)
        except GatewayError as error:
            self._note(call, error.code)
            raise

    def _check_head(self, call: Call) -> CheckedHead:
        settings = self._settings
        path, _, query = call.path.partition("?")
        refuse_signed(call.fields, query)
        refuse_repeated(call.fields)
        if (
            call.listener is not Listener.PROXY
            and not path.startswith("/v1/")
            and self._wires.serving(call.method, path) is None
        ):
            # Public pages, none of which takes a body.
            return CheckedHead(min(settings.head_limit_bytes, settings.body_limit_bytes))
        return CheckedHead(settings.body_limit_bytes, self._caller_of(call).key_id)

    async def open(self, call: Call) -> ForwardedRequest | NativeResponse:
        try:
            opened = await self._open(call)
        except Exception as error:
            self._note(call, error.code if isinstance(error, GatewayError) else InternalError.default_code)
            if call.content:
                path = call.path.partition("?")[0]
                operation = "other" if self._wires.serving(call.method, path) is None else "chat"
                await self._refusals.record(error, call.request_id, operation, lambda: self._caller_of(call))
            raise
        if isinstance(opened, ForwardedRequest):
            self._note(call, "forwarded")
        elif call.listener is Listener.PROXY:
            self._note(call, "dropped")
        return opened

    def _note(self, call: Call, outcome: str) -> None:
        """Records the use of a key. Native routes record it themselves."""
        path, _, query = call.path.partition("?")
        key_id = self._callers.key_id(call.fields, query, proxied=call.listener is Listener.PROXY)
        wire = self._wires.serving(call.method, path)
        self._audit.note(key_id, wire.id if wire is not None else "other", outcome)

    def _caller_of(self, call: Call) -> Caller:
        """Returns the caller without counting the call. Raises GatewayError."""
        if call.listener is Listener.PROXY:
            return self._callers.identify_proxied(call.path, call.fields)
        return self._callers.identify(call.fields, call.path.partition("?")[2])

    async def _open(self, call: Call) -> ForwardedRequest | NativeResponse:
        path, _, query = call.path.partition("?")
        refuse_signed(call.fields, query)
        # Other upgrades, such as h2c of clients in Java, are offers that a server may ignore (RFC 9110 section 7.8).
        if "websocket" in (_header(call, b"upgrade") or "").lower():
            if call.listener is Listener.PROXY:
                count_other_call(self._store, "refused")
            raise UpgradeRefused("The gateway speaks no WebSocket; send the request as an HTTP POST.", param="Upgrade")
        wire = self._wires.serving(call.method, path)
        # `*` (RFC 9112 section 3.2.4) names no resource, and would not end the host in a URL.
        if ("%" in path and _BEDROCK.fullmatch(path) is None) or not path.startswith("/"):
            raise unknown_path(path)
        if call.listener is Listener.GATEWAY:
            refuse_repeated(call.fields)
            return await (self._serve(call) if wire is None else self._open_chat(call, wire))
        return await (self._count_other(call) if wire is None else self._open_proxied(call, wire, "chat"))

    async def _open_chat(self, call: Call, wire: Wire) -> ForwardedRequest | NativeResponse:
        query = call.path.partition("?")[2]
        caller = self._callers.authenticate(call.fields, query)
        check_scope(caller, Scope.CHAT)
        if call.method != "GET":
            check_media_type(_header(call, b"content-type"))
        source, body = self._read(call)
        destination = self._chat.destination_for(wire, body, call.path, call.fields, caller)
        if not destination.url:
            return await self._serve(call, caller)
        return await self._protect(call, wire, source, body, caller, destination, streams=self._settings.streaming)

    async def _open_proxied(self, call: Call, wire: Wire, operation: str) -> ForwardedRequest:
        source, body = self._read(call)
        caller = self._callers.authenticate_proxied(call.path, call.fields)
        model = wire.model(body, call.path.partition("?")[0])
        destination = self._chat.host_for(model, call.origin, call.path, call.fields)
        return await self._protect(call, wire, source, body, caller, destination, operation=operation, streams=True)

    async def _protect(
        self,
        call: Call,
        wire: Wire,
        source: bytes,
        body: Body,
        caller: Caller,
        destination: Destination,
        *,
        operation: str = "chat",
        streams: bool,
    ) -> ForwardedRequest:
        """Protects a call for an upstream or a host. One that is cancelled meanwhile is recorded as that."""
        try:
            exchange = await self._pipeline.open(
                wire,
                body,
                caller,
                destination,
                request_id=call.request_id,
                source=source if call.editable and body else None,
                operation=operation,
                path=call.path.partition("?")[0],
                streams=streams,
                annotated=call.listener is Listener.GATEWAY,
            )
        except asyncio.CancelledError as error:
            self._note(call, "cancelled")
            await self._refusals.record(error, call.request_id, operation, lambda: caller)
            raise
        self._exchanges[exchange.request_id] = exchange
        return self._forwarded(exchange, exchange.receipt.ref)

    async def _count_other(self, call: Call) -> ForwardedRequest | NativeResponse:
        """Handles a proxied call that no wire knows, and counts what becomes of it."""
        try:
            opened = await self._open_other(call)
        except GatewayError:
            count_other_call(self._store, "refused")
            raise
        if isinstance(opened, NativeResponse):
            count_other_call(self._store, "dropped")
        else:
            count_other_call(self._store, "passed" if opened.receipt is None else "protected")
        return opened

    async def _open_other(self, call: Call) -> ForwardedRequest | NativeResponse:
        """Drops telemetry, protects JSON, and refuses all other bodies.

        Calls that read something pass without a body. Raises NotFound (`unknown_route`) and UnsupportedMedia.
        """
        path = call.path.partition("?")[0]
        if call.method not in (METHODS if call.content else _READING):
            raise NotFound("The gateway does not know this call and does not let it leave.", code="unknown_route")
        if not call.content:
            destination, headers = await self._chat.textless(call.origin, call.path, call.fields)
            return ForwardedRequest(destination.url, headers, b"", timeout_seconds=destination.timeout_seconds)
        telemetry = next((known for known in _TELEMETRY if path.startswith(known)), None)
        if telemetry is not None and self._settings.telemetry == "drop":
            self._callers.authenticate_proxied(call.path, call.fields)
            return NativeResponse(202, [(b"content-type", b"application/json")], b"{}", telemetry)
        if is_beyond_json(path):
            raise NotFound(f"{BEYOND_JSON}; `intercept_hosts` can omit the host.", code="unknown_route")
        kind = _header(call, b"content-type")
        try:
            # AWS's SDKs declare nothing for `invoke`.
            if kind is not None or _BEDROCK.fullmatch(path) is None:
                check_media_type(kind)
        except UnsupportedMedia:
            message = "Only JSON can be protected, so this body is refused; `intercept_hosts` can omit its host."
            raise UnsupportedMedia(message, param="Content-Type") from None
        return await self._open_proxied(call, OTHER_JSON, "other")

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

    def _read(self, call: Call) -> tuple[bytes, Body]:
        """Returns the body of a call, decoded and parsed. That of a call that reads something may be empty."""
        source = self._decode(call)
        return source, parse_object(source) if source or call.method != "GET" else {}

    def _decode(self, call: Call) -> bytes:
        return decode(call.content, _header(call, b"content-encoding"), self._settings.body_limit_bytes)

    def _forwarded(self, exchange: Exchange, receipt: ReceiptRef) -> ForwardedRequest:
        destination, protected = exchange.destination, exchange.protected
        minted = [each.placeholder for each in protected.transformations if each.placeholder]
        return ForwardedRequest(
            destination.url,
            exchange.headers,
            exchange.body,
            receipt,
            bool(protected.hidden),
            list(dict.fromkeys(minted)),
            destination.upstream,
            destination.timeout_seconds,
            self._pipeline.stream_plan(exchange) if exchange.streams else None,
        )

    async def close(self, request_id: str, status: int, body: bytes) -> RestoredAnswer:
        exchange = self._exchanges.pop(request_id, None)
        if exchange is None:
            return RestoredAnswer(body)
        restored = await self._pipeline.close(exchange, status, body)
        return RestoredAnswer(restored, exchange.verdict.as_dict() if exchange.verdict else None)

    async def end(self, request_id: str, end: StreamEnd) -> dict[str, Any] | None:
        exchange = self._exchanges.pop(request_id, None)
        if exchange is None:
            return None
        await self._pipeline.end(exchange, end)
        return exchange.verdict.as_dict() if exchange.verdict else None

    async def edit(self, request_id: str, edited: bytes) -> ForwardedRequest:
        exchange = self._exchanges.get(request_id)
        if exchange is None:
            raise EditRefused.because("the request carries no text, and none can be added. Release it unchanged.")
        receipt = await self._edits.apply(exchange, edited)
        return self._forwarded(exchange, receipt.ref)

    def fail(self, request_id: str, outcome: str, sent: bool = False) -> None:
        exchange = self._exchanges.pop(request_id, None)
        if exchange is not None:
            self._pipeline.fail(exchange, outcome, sent=sent)

    def stop(self) -> None:
        """Records every request under way as cancelled."""
        for request_id in list(self._exchanges):
            self.fail(request_id, "cancelled")


def _header(call: Call, name: bytes) -> str | None:
    """Returns the values of a header field, joined as one (RFC 9110 section 5.3)."""
    values = [value.decode("utf-8", "surrogateescape") for known, value in call.fields if known.lower() == name]
    return ", ".join(values) if values else None
