"""Where calls come in: both listeners ask here what may cross, and give back what came of it."""

from dataclasses import dataclass, field

from gateway.api.asgi_client import AsgiApp, serve
from gateway.api.error_handlers import unknown_path
from gateway.container import Service
from gateway.errors import BadRequest, EditRefused, GatewayError, NotFound
from gateway.http.content_encoding import decode
from gateway.http.strict_json import check_media_type, parse_object
from gateway.ipc.messages import Answered, Call, Crossing, Filed, Listener, Refused, Restored
from gateway.models import Caller
from gateway.pipeline.exchange import Exchange
from gateway.pipeline.operator_edits import Edit, OperatorEdits
from gateway.receipts import Receipt, following
from gateway.wires import Body


@dataclass(frozen=True, slots=True)
class _Open:
    """A call that is under way. `source` is the request as it came, kept only where an operator may edit it."""

    exchange: Exchange
    source: bytes | None = field(repr=False)


class Dispatcher:
    """The gateway, as listeners see it: a `gateway.ipc.messages.Gateway`."""

    def __init__(self, service: Service, app: AsgiApp) -> None:
        self._service = service
        self._app = app
        self._amendments = OperatorEdits(service.protector, service.workers, service.receipts)
        self._open: dict[str, _Open] = {}

    async def enter(self, call: Call) -> Crossing | Answered | Refused:
        with following() as followed:
            try:
                entered = await self._admit(call)
            except GatewayError as error:
                return Refused(error, _filed(followed.receipt))
            if isinstance(entered, Crossing):
                return entered
            guard = followed.outcome.guard if followed.outcome else None
            return entered._replace(
                filed=_filed(followed.receipt), guard=str(guard["action"]) if guard is not None else None
            )

    async def _admit(self, call: Call) -> Crossing | Answered:
        path, _, query = call.path.partition("?")
        if "%" in path:
            raise unknown_path(path)
        if any(name.lower() == b"upgrade" for name, _ in call.fields):
            raise BadRequest("The gateway does not upgrade connections.", code="upgrade_refused", param="Upgrade")
        if call.listener is Listener.PROXY:
            return await self._from_proxy(call, path, query)
        return await self._from_gateway(call, path)

    async def _from_gateway(self, call: Call, path: str) -> Crossing | Answered:
        wire = self._service.wires.serving(call.method, path)
        caller: Caller | None = None
        if wire is not None:
            caller = self._service.authenticate(_field(call, b"authorization"), _field(call, b"x-svc-key"))
            check_media_type(_field(call, b"content-type"))
            source, body = self._read(call)
            upstream = self._service.upstream_for(body.get("model"))
            if upstream is not None:
                url, exchange = await self._service.cross_to_upstream(
                    wire, body, caller, upstream, call.fields, request_id=call.request_id
                )
                config, _ = upstream
                return self._opened(call, url, exchange, source, upstream=config.name, seconds=config.timeout_seconds)
        return await self._answer(call, caller)

    async def _answer(self, call: Call, caller: Caller | None) -> Answered:
        response = await serve(
            self._app,
            call.method,
            call.path,
            call.fields,
            call.content,
            client=call.client,
            server=call.server,
            # Known already, so that the call is counted once against the caller's rate.
            state={} if caller is None else {"caller": caller},
        )
        return Answered(*response)

    async def _from_proxy(self, call: Call, path: str, query: str) -> Crossing:
        wire = self._service.wires.serving(call.method, path)
        url = call.origin + path
        seconds = self._service.settings.upstream_timeout_seconds
        if wire is not None:
            source, body = self._read(call)
            url, exchange = await self._service.cross_to_host(
                wire, body, url, query, call.fields, request_id=call.request_id
            )
            return self._opened(call, url, exchange, source, seconds=seconds)
        if call.content:
            raise NotFound("The gateway does not know this call and does not let it leave.", code="unknown_route")
        url, fields = await self._service.cross_harmless(call.method, url, path, query, call.fields)
        return Crossing(url, fields, b"", seconds=seconds)

    def _read(self, call: Call) -> tuple[bytes, Body]:
        coding = _field(call, b"content-encoding")
        source = decode(call.content, coding, self._service.settings.body_limit_bytes)
        return source, parse_object(source)

    def _opened(
        self, call: Call, url: str, exchange: Exchange, source: bytes, *, upstream: str = "", seconds: float
    ) -> Crossing:
        self._open[call.request_id] = _Open(exchange, source if call.held else None)
        made = [each.placeholder for each in exchange.protected.transformations if each.placeholder]
        return Crossing(
            url,
            exchange.headers,
            exchange.body,
            _filed(exchange.receipt),
            bool(exchange.protected.hidden),
            list(dict.fromkeys(made)),
            upstream,
            seconds,
        )

    async def leave(self, request_id: str, status: int, body: bytes, annotate: bool) -> Restored:
        under_way = self._open.pop(request_id, None)
        if under_way is None:
            return Restored(body)
        exchange = under_way.exchange
        restored = await self._service.pipeline.close(exchange, status, body, annotate=annotate)
        return Restored(restored, exchange.verdict.as_dict() if exchange.verdict else None)

    async def amend(self, request_id: str, edited: bytes) -> Crossing:
        under_way = self._open.get(request_id)
        if under_way is None:
            raise EditRefused.because("It carries no text, and none can be added.")
        if under_way.source is None:
            raise EditRefused.because("It was under way already when holding requests back was switched on.")
        exchange = under_way.exchange
        edit = Edit(
            exchange.wire,
            exchange.policy,
            exchange.mode,
            exchange.receipt,
            exchange.caller.key_id,
            under_way.source,
            exchange.body,
            edited,
        )
        crossing, receipt = await self._amendments.admit(edit)
        exchange.body, exchange.edit = crossing, receipt.request_id
        return Crossing("", (), crossing, _filed(receipt))

    def close(self) -> None:
        """Nobody waits for what is under way any more; its receipts say so."""
        for request_id in list(self._open):
            self.fail(request_id, "cancelled")

    def fail(self, request_id: str, outcome: str) -> None:
        under_way = self._open.pop(request_id, None)
        if under_way is not None:
            self._service.pipeline.fail(under_way.exchange, outcome)


def _field(call: Call, name: bytes) -> str | None:
    """The values of a header field, joined as one (RFC 9110 section 5.3)."""
    values = [value.decode("utf-8", "surrogateescape") for known, value in call.fields if known.lower() == name]
    return ", ".join(values) if values else None


def _filed(receipt: Receipt | None) -> Filed | None:
    return Filed(receipt.request_id, receipt.sequence, receipt.record.body) if receipt else None
