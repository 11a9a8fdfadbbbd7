"""Admits calls: decides once who calls, on which listener and wire, within which limits, and where the call goes.

The destination is a configured upstream, the host that a proxy client chose, or a surface of the gateway itself.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from gateway.auth.callers import Callers
from gateway.auth.credentials import PROVIDER_CREDENTIALS, refuse_repeated
from gateway.auth.key_permissions import check_scope, check_upstream
from gateway.auth.query_key import take_keys
from gateway.auth.signatures import is_signed, not_supported, refuse_signed
from gateway.config.settings import CONFIGURED_UPSTREAM, Settings
from gateway.errors import BadRequest, NotFound, Unauthorized, Unavailable, UnsupportedMedia, UpgradeRefused
from gateway.exchange.batch_access import BatchAccess
from gateway.exchange.batches import Batches
from gateway.exchange.destination import Destination
from gateway.exchange.earlier_answers import EarlierAnswers
from gateway.exchange.header_policy import forwardable
from gateway.exchange.messages import Call, Listener, NativeResponse
from gateway.exchange.socket_conversations import SocketConversations
from gateway.exchange.state import Exchange
from gateway.http.content_encoding import decode
from gateway.http.methods import METHODS
from gateway.http.strict_json import check_media_type, parse_object
from gateway.http.types import Field
from gateway.models import Caller, Scope
from gateway.surfaces.base import SurfaceRegistry
from gateway.surfaces.upstream import UpstreamSurface
from gateway.wires.base import Body, Wire, Wires
from gateway.wires.batches import BatchWire
from gateway.wires.other_json import OTHER_JSON
from gateway.wires.responses import CREATE, takes_sockets
from gateway.wires.responses import WIRE as RESPONSES
from gateway.wires.telemetry import report_of
from gateway.wires.unknown_calls import BEYOND_JSON, is_bedrock, is_beyond_json, unknown_path

# Methods of calls that need no body.
_READING = frozenset({"GET", "HEAD"})


class Admission:
    """Makes the exchanges of calls."""

    def __init__(
        self,
        settings: Settings,
        callers: Callers,
        wires: Wires,
        surfaces: SurfaceRegistry,
        earlier: EarlierAnswers,
        sockets: SocketConversations,
        batches: Batches,
    ) -> None:
        self._settings = settings
        self._callers = callers
        self._wires = wires
        self._surfaces = surfaces
        self._earlier = earlier
        self._sockets = sockets
        self._batches = batches
        self._forward = frozenset(name.encode() for name in settings.forward_headers)

    def check_head(self, call: Call) -> Caller | None:
        """Checks a call of which only the head has arrived. Returns its caller, if it needs a key.

        Raises GatewayError.
        """
        path = call.path.partition("?")[0]
        self._check_signature(call)
        refuse_repeated(call.fields)
        if call.listener is not Listener.PROXY and not path.startswith("/v1/") and not call.wire:
            return None
        return self.caller_of(call)

    def caller_of(self, call: Call) -> Caller:
        """Returns the caller without counting the call. Raises GatewayError."""
        if call.listener is Listener.PROXY:
            return self._callers.identify_proxied(call.path, call.fields)
        return self._callers.identify(call.fields, call.path)

    def admit(self, call: Call) -> Exchange | NativeResponse | None:
        """Returns the exchange of a call, or the answer to one that is dropped; None if it is for the gateway itself.

        A destination without `url` is a surface of the gateway. Raises GatewayError.
        """
        path = call.path.partition("?")[0]
        self._check_signature(call)
        # Other upgrades, such as h2c of clients in Java, are offers that a server may ignore (RFC 9110 section 7.8).
        if not call.connection and "websocket" in (_header(call, b"upgrade") or "").lower():
            return self._admit_socket(call, path)
        # `*` (RFC 9112 section 3.2.4) names no resource, and would not end the host in a URL.
        if ("%" in path and not is_bedrock(path)) or not path.startswith("/"):
            raise unknown_path(path)
        wire = self._wires.named(call.wire) if call.wire else None
        if call.listener is Listener.GATEWAY:
            refuse_repeated(call.fields)
            return self._admit_chat(call, wire) if wire is not None else None
        if wire is not None:
            return self._admit_proxied(call, wire, "chat")
        return self._admit_other(call, path)

    def _check_signature(self, call: Call) -> None:
        """Refuses a signed call that no upstream may sign anew. Raises BadRequest, and NotFound for a model's name."""
        path = call.path.partition("?")[0]
        if is_signed(call.fields) and path.startswith("/model/") and not is_bedrock(path):
            # Signing it anew would not help.
            raise unknown_path(path)
        wire = self._wires.named(call.wire) if call.wire else None
        signs = wire is not None and wire.family == "bedrock" and self._surfaces.signs
        refuse_signed(call.fields, call.path.partition("?")[2], signs_anew=signs)

    def _signed_anew(self, call: Call, caller: Caller, destination: Destination) -> Destination:
        """Returns the destination of a signed proxied call, for which the upstream with its host has AWS credentials.

        Raises BadRequest without such an upstream, Unauthorized without a gateway key, Forbidden if the key does not
        permit the upstream, and NotFound for a model that the upstream does not serve.
        """
        surface = self._surfaces.signing_at(call.origin)
        if surface is None or surface.signer is None:
            raise not_supported()
        if not caller.has_key:
            raise Unauthorized("The gateway signs requests of gateway keys only; send one as `X-SVC-Key`.")
        check_upstream(caller, surface.id)
        if surface.model_for(destination.model) is None:
            raise NotFound("The upstream does not serve this model.", code="model_not_found", param="model")
        return replace(destination, credentials=frozenset(), signer=surface.signer)

    def _admit_socket(self, call: Call, path: str) -> Exchange:
        """Admits the handshake of a WebSocket for the Responses API. Each message is admitted as a request later."""
        is_served = takes_sockets(path) and call.method == "GET" and not call.content
        if not (is_served and self._settings.websockets):
            raise UpgradeRefused("The gateway speaks no WebSocket here; send an HTTP POST instead.", param="Upgrade")
        if call.listener is Listener.PROXY:
            return self._admit_proxied(call, RESPONSES, "websocket")
        refuse_repeated(call.fields)
        caller = self._callers.authenticate(call.fields, call.path)
        check_scope(caller, Scope.CHAT)
        asked = {"model": CONFIGURED_UPSTREAM}
        destination = self.destination_for(RESPONSES, asked, call.path, call.fields, caller)
        if not destination.url:
            message = "No upstream serves WebSockets; send the request as an HTTP POST."
            raise UpgradeRefused(message, param="Upgrade")
        return Exchange(call.request_id, RESPONSES, caller, destination, {}, path, "websocket")

    def _check_provider(self, call: Call, destination: Destination) -> None:
        """Checks that the WebSocket of a message leads to its destination. Raises BadRequest and Unavailable."""
        provider = self._sockets.provider(call.connection)
        if provider is None:
            raise Unavailable("This connection is no longer known; open another one.")
        if provider != destination.provider:
            message = "Another upstream serves this model than this WebSocket leads to; send an HTTP POST instead."
            raise BadRequest(message, param="model")

    def _admit_chat(self, call: Call, wire: Wire) -> Exchange:
        path = call.path.partition("?")[0]
        caller = self._callers.authenticate(call.fields, call.path)
        check_scope(caller, Scope.CHAT)
        if call.method != "GET" and wire.family != "bedrock" and not isinstance(wire, BatchWire):
            # AWS's SDKs declare nothing for `invoke`, or any bytes.
            check_media_type(_header(call, b"content-type"))
        source, body = self._parse(call, wire)
        access = self._access(call, wire, caller)
        destination = self.destination_for(wire, body, call.path, call.fields, caller, access)
        if access is not None:
            access.shared, access.serve = not destination.credentials, partial(self._served_by, wire)
        if call.connection:
            self._check_provider(call, destination)
        return Exchange(
            call.request_id,
            wire,
            caller,
            destination,
            body,
            path,
            "chat",
            source,
            may_stream=wire.streams_by_default or self._settings.streaming,
            annotated=True,
            connection=call.connection,
            batch=access,
        )

    def _access(self, call: Call, wire: Wire, caller: Caller) -> BatchAccess | None:
        """Returns what a call on a batch needs besides, if it is one."""
        called = wire.called(call.method, call.path.partition("?")[0]) if isinstance(wire, BatchWire) else None
        if called is None:
            return None
        secret = self._callers.secret_of(caller, call.fields, call.path)
        return BatchAccess(called, secret, self._settings.batch_retention_hours, self._settings.session_max_values)

    def _served_by(self, wire: Wire, model: object) -> tuple[str, str]:
        surface, name = self._surfaces.resolve(model, wire.family)
        return surface.id, name

    def _admit_proxied(self, call: Call, wire: Wire, operation: str) -> Exchange:
        path, _, query = call.path.partition("?")
        source, body = self._parse(call, wire)
        caller = self._callers.authenticate_proxied(call.path, call.fields)
        model = wire.model(body, path)
        destination = Destination(
            model if isinstance(model, str) else "",
            url=call.origin + call.path,
            timeout_seconds=self._settings.upstream_timeout_seconds,
            fields=call.fields,
            path=path,
            query=query,
            credentials=PROVIDER_CREDENTIALS,
            forward=self._forward,
        )
        if is_signed(call.fields):
            destination = self._signed_anew(call, caller, destination)
        if call.connection:
            self._check_provider(call, destination)
        exchange = Exchange(call.request_id, wire, caller, destination, body, path, operation, source, may_stream=True)
        exchange.connection, exchange.batch = call.connection, self._access(call, wire, caller)
        return exchange

    def _admit_other(self, call: Call, path: str) -> Exchange | NativeResponse:
        """Admits a proxied call that no wire knows: drops telemetry, and refuses all bodies but JSON.

        Calls that read something have no body. Raises NotFound (`unknown_route`) and UnsupportedMedia.
        """
        if call.method not in (METHODS if call.content else _READING):
            raise NotFound("The gateway does not know this call and does not let it leave.", code="unknown_route")
        if not call.content:
            return self._admit_proxied(call, OTHER_JSON, "other")
        report = report_of(call.origin, path) if self._settings.telemetry == "drop" else None
        if report is not None:
            self._callers.authenticate_proxied(call.path, call.fields)
            return NativeResponse(report.status, [(b"content-type", b"application/json")], report.body, report.path)
        if is_beyond_json(path):
            message = f"{BEYOND_JSON}; to let it pass unprotected, take the host out of the setting `intercept_hosts`."
            raise NotFound(message, code="unknown_route")
        kind = _header(call, b"content-type")
        try:
            # AWS's SDKs declare nothing for `invoke`.
            if kind is not None or not is_bedrock(path):
                check_media_type(kind)
        except UnsupportedMedia:
            message = "Only JSON can be protected; send it, or take the host out of the setting `intercept_hosts`."
            raise UnsupportedMedia(message, param="Content-Type") from None
        return self._admit_proxied(call, OTHER_JSON, "other")

    def _parse(self, call: Call, wire: Wire) -> tuple[bytes | None, Body]:
        """Returns the decoded body of a call, if an operator may edit it, and the parsed one.

        That of a call that reads something may be empty.
        """
        if not call.content and (call.method in _READING or isinstance(wire, BatchWire)):
            return None, {}
        source = decode(call.content, _header(call, b"content-encoding"), self._settings.body_limit_bytes)
        if isinstance(wire, BatchWire):
            return None, wire.parse(source, _header(call, b"content-type"), call.path.partition("?")[0])
        body = parse_object(source)
        if call.connection and body.get("type") != CREATE:
            message = f"The gateway protects messages of the type `{CREATE}` only; nothing was sent."
            raise BadRequest(message, code="unknown_event", param="type")
        return source if call.editable and body else None, body

    def destination_for(
        self,
        wire: Wire,
        body: Body,
        path: str,
        fields: Sequence[Field],
        caller: Caller,
        access: BatchAccess | None = None,
    ) -> Destination:
        """Returns the configured upstream or the surface for a request to `path`. The latter has no `url`.

        Where the client sends its gateway key as `X-SVC-Key`, its own credentials are forwarded to the upstream. Raises
        BadRequest and NotFound (`model_not_found`) for the model; BadRequest for a repeated credential and for a
        gateway key in a header that would be forwarded.
        """
        place, _, query = path.partition("?")
        query, _ = take_keys(query)
        asked = wire.model(body, place)
        if access is None and asked == CONFIGURED_UPSTREAM:
            # An answer or a conversation is named, which only the upstream that gave it knows. Reading takes members.
            asked = self._earlier.provider(caller, wire.read({**body}, place).continues) or asked
        if access is not None and asked == CONFIGURED_UPSTREAM:
            asked = self._keeper(wire, body, access) or asked
        surface, model = self._surfaces.resolve(asked, wire.family)
        if not isinstance(surface, UpstreamSurface):
            return Destination(model, surface.trust, surface=surface.id, query=query)
        refuse_repeated(fields)
        own = self._callers.own_credentials(fields)
        signer = None if own else surface.signer
        if signer is not None:
            check_upstream(caller, surface.id)
        elif is_signed(fields):
            raise not_supported()
        method = wire.method_path(place, model)
        url = surface.endpoint(method)
        destination = Destination(
            model,
            surface.trust,
            f"{url}?{query}" if query else url,
            surface.id,
            surface.seconds,
            fields,
            path=f"/{method}",
            query=query,
            credential=None if own else surface.credential,
            credentials=own,
            forward=self._forward,
            signer=signer,
        )
        self._callers.refuse_gateway_key(forwardable(fields, self._forward | destination.required.every))
        return destination

    def _keeper(self, wire: Wire, body: Body, access: BatchAccess) -> str:
        """Returns the upstream that has the batch or file which a call names, if the gateway remembers it."""
        assert isinstance(wire, BatchWire)
        name = access.call.id or wire.source(body)
        own = [each.id for each in self._surfaces.surfaces if each.family == wire.family]
        return next((id for id in own if name and self._batches.knows(access, id, name)), "")


def _header(call: Call, name: bytes) -> str | None:
    """Returns the values of a header field, joined as one (RFC 9110 section 5.3)."""
    values = [value.decode("utf-8", "surrogateescape") for known, value in call.fields if known.lower() == name]
    return ", ".join(values) if values else None
