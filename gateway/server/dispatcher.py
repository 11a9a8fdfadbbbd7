"""Serves the calls of both listeners: has each protected for its upstream, answered by the gateway itself, or refused.

Keeps the exchanges that wait for their answers.
"""

import asyncio
from contextlib import suppress
from functools import partial
from typing import Any

from starlette.types import ASGIApp

from gateway.api.asgi_client import serve
from gateway.auth.key_permissions import check_scope
from gateway.container import Container
from gateway.errors import EditRefused, GatewayError, InternalError, UpgradeRefused
from gateway.exchange.messages import AnswerEnd, Call, ForwardedRequest, Listener, NativeResponse
from gateway.exchange.recent_findings import counted_reasons
from gateway.exchange.state import Exchange
from gateway.http.metrics import exposition
from gateway.ids import serving
from gateway.models import Caller, ReceiptRef, Scope
from gateway.usage import count_other_call


class Dispatcher:
    """Implements `gateway.exchange.messages.Gateway` on top of the container's parts and the ASGI application."""

    def __init__(self, container: Container, app: ASGIApp) -> None:
        # A reload replaces `admission` and `protection`, so they are read from it for each call.
        self._container = container
        self._audit = container.key_audit
        self._callers = container.callers
        self._answers = container.answers
        self._edits = container.edits
        self._records = container.records
        self._store = container.store
        self._sockets = container.sockets
        self._app = app
        self._exchanges: dict[str, Exchange] = {}

    async def check_proxy_key(self, key: str) -> Caller:
        field = (b"x-svc-key", key.encode("utf-8", "surrogateescape"))
        caller, outcome = None, "connected"
        try:
            caller = self._callers.identify([field])
            check_scope(caller, Scope.CHAT)
            return caller
        except GatewayError as error:
            error.caller, outcome = caller, error.code
            raise
        finally:
            self._audit.note(self._callers.audited([field]), "proxy", outcome)

    async def check_head(self, call: Call) -> Caller | None:
        try:
            return self._container.admission.check_head(call)
        except GatewayError as error:
            error.caller = error.caller or self._caller(call)
            self.note(call, error.code)
            raise

    async def open(self, call: Call) -> ForwardedRequest | NativeResponse:
        # Whether it is a proxied call that no wire knows.
        is_other = call.listener is Listener.PROXY and not call.wire
        try:
            with serving(call.request_id):
                opened = await self._open(call)
        except Exception as error:
            code = InternalError.default_code
            if isinstance(error, GatewayError):
                code, error.caller = error.code, error.caller or self._caller(call)
            if is_other or (call.listener is Listener.PROXY and isinstance(error, UpgradeRefused)):
                count_other_call(self._store, "refused")
            self.note(call, code)
            if call.content:
                await self._record_refused(call, error)
            raise
        if is_other:
            forwarded = "passed" if opened.receipt is None else "protected"
            count_other_call(self._store, "dropped" if isinstance(opened, NativeResponse) else forwarded)
        return opened

    async def _open(self, call: Call) -> ForwardedRequest | NativeResponse:
        admitted = self._container.admission.admit(call)
        if isinstance(admitted, NativeResponse):
            self.note(call, "dropped")
            return admitted._replace(caller=self._caller(call))
        if admitted is None or not admitted.destination.url:
            return await self._serve(call, admitted.caller if admitted else None)
        if call.wire or call.content:
            opened = await self._protect(call, admitted)
        else:
            headers = await self._container.protection.forwarded_headers(admitted)
            destination = admitted.destination
            if admitted.operation == "websocket":
                self._sockets.begin(call.request_id, destination.provider)
            opened = ForwardedRequest(
                destination.url, headers, b"", timeout_seconds=destination.timeout_seconds, caller=admitted.caller
            )
        self.note(call, "forwarded", admitted.caller)
        return opened

    async def _protect(self, call: Call, exchange: Exchange) -> ForwardedRequest:
        """Protects a call for an upstream or a host. One that is cancelled meanwhile is recorded as that."""
        try:
            await self._container.protection.protect(exchange)
        except asyncio.CancelledError as error:
            self.note(call, "cancelled", exchange.caller)
            await self._record_refused(call, error)
            raise
        self._exchanges[exchange.request_id] = exchange
        return self._forwarded(exchange, exchange.receipt.ref)

    def _forwarded(self, exchange: Exchange, receipt: ReceiptRef) -> ForwardedRequest:
        destination, protected = exchange.destination, exchange.protected
        minted = [each.placeholder for each in protected.transformations if each.placeholder]
        headers = exchange.headers
        if destination.signer is not None:
            # Also after an operator's edit, since the signature covers the body.
            headers = destination.signer.signed(destination.url, headers, exchange.body)
        return ForwardedRequest(
            destination.url,
            headers,
            exchange.body,
            receipt,
            bool(protected.hidden),
            list(dict.fromkeys(minted)),
            destination.upstream,
            destination.timeout_seconds,
            self._answers.plan(exchange) if exchange.streams else None,
            exchange.caller,
            counted_reasons(protected) if self._container.settings.web else (),
        )

    async def _serve(self, call: Call, caller: Caller | None) -> NativeResponse:
        """Has the ASGI application answer. A `caller` that is known already is not counted against its rate again."""
        state: dict[str, Any] = {} if caller is None else {"caller": caller}
        answered = await serve(
            self._app,
            call.method,
            call.path,
            call.fields,
            call.content,
            client=call.client,
            server=call.server,
            state=state,
        )
        return answered._replace(caller=state.get("caller") or self._caller(call))

    def _caller(self, call: Call) -> Caller | None:
        with suppress(GatewayError):
            return self._container.admission.caller_of(call)
        return None

    async def caller_of(self, call: Call) -> Caller | None:
        return self._caller(call)

    def note(self, call: Call, outcome: str, caller: Caller | None = None) -> None:
        """Records the use of a key. Native routes record it themselves."""
        who: tuple[str | None, str]
        if caller is not None:
            who = caller.key_id, caller.credential
        else:
            who = self._callers.audited(call.fields, call.path, proxied=call.listener is Listener.PROXY)
        self._audit.note(who, call.wire or "other", outcome, call.request_id)

    async def _record_refused(self, call: Call, error: Exception | asyncio.CancelledError) -> None:
        operation = "chat" if call.wire else "other"
        identify = partial(self._container.admission.caller_of, call)
        await self._records.refused(error, call.request_id, operation, identify, wire=call.wire)

    async def close(self, request_id: str, status: int, body: bytes) -> tuple[bytes, str, dict[str, Any] | None]:
        exchange = self._exchanges.pop(request_id, None)
        if exchange is None:
            return body, "answered", None
        restored = await self._answers.close(exchange, status, body)
        return restored, exchange.outcome, _verdict(exchange)

    async def end(self, request_id: str, end: AnswerEnd) -> dict[str, Any] | None:
        exchange = self._exchanges.pop(request_id, None)
        if exchange is not None:
            await self._answers.end(exchange, end)
        return _verdict(exchange)

    async def edit(self, request_id: str, edited: bytes, operator: str) -> ForwardedRequest:
        exchange = self._exchanges.get(request_id)
        if exchange is None:
            raise EditRefused.because("the request carries no text, and none can be added. Release it unchanged.")
        receipt = await self._edits.apply(exchange, edited, operator)
        return self._forwarded(exchange, receipt.ref)

    async def check(self) -> None:
        self._container.check()

    async def metrics(self) -> bytes:
        return exposition(self._container.readings)

    def fail(self, request_id: str, outcome: str, sent: bool = False, code: str | None = None) -> None:
        exchange = self._exchanges.pop(request_id, None)
        if exchange is not None:
            self._records.end(exchange, outcome, sent=sent, code=code)

    def disconnected(self, connection: str) -> None:
        self._sockets.end(connection)

    def stop(self) -> None:
        """Records every request under way as cancelled."""
        for request_id in list(self._exchanges):
            self.fail(request_id, "cancelled")


def _verdict(exchange: Exchange | None) -> dict[str, Any] | None:
    return exchange.verdict.as_dict() if exchange is not None and exchange.verdict else None
