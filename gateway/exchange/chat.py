"""Serves chat: the one way from a parsed request to its answer, for both listeners, the ASGI app and the playground.

A `Destination` says where a request goes: to a configured upstream, to the host that a proxy client chose, or to a
surface of the gateway itself. `Pipeline.open` protects it for there. Behind mitmproxy's listeners, the dispatcher has
mitmproxy forward it and calls `Pipeline.close` with the answer; elsewhere `ChatHandler.answer` does all of it.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from gateway.auth.callers import Callers
from gateway.auth.credentials import PROVIDER_CREDENTIALS, refuse_repeated, scrub_secrets, secrets_of
from gateway.auth.query_key import take_keys
from gateway.config.settings import CONFIGURED_UPSTREAM
from gateway.exchange.destination import Destination
from gateway.exchange.header_policy import forwardable
from gateway.exchange.operations import Question
from gateway.exchange.pipeline import Pipeline
from gateway.exchange.state import Exchange
from gateway.http.strict_json import dump, parse_object
from gateway.http.types import Field
from gateway.ids import new_request_id
from gateway.models import Caller
from gateway.surfaces import Surface, SurfaceRegistry, UpstreamSurface
from gateway.surfaces.chunks import as_events
from gateway.wires import Body, Wire, Wires


class ChatHandler:
    """Finds the destination of chat requests, and serves those that mitmproxy does not forward.

    `forward` names the headers to forward in addition to the harmless ones; `proxy_seconds` is the time limit for
    hosts that proxy clients choose. `streaming` allows streams, which are complete before the client gets them.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        callers: Callers,
        wires: Wires,
        surfaces: SurfaceRegistry,
        *,
        forward: frozenset[bytes],
        proxy_seconds: float,
        streaming: bool,
    ) -> None:
        self._pipeline = pipeline
        self._callers = callers
        self._wires = wires
        self._surfaces = surfaces
        self._forward = forward
        self._proxy_seconds = proxy_seconds
        self._streaming = streaming

    def destination_for(
        self, wire: Wire, body: Body, path: str, fields: Sequence[Field], caller: Caller
    ) -> Destination:
        """Returns the configured upstream or the surface for a request to `path`. The latter has no `url`.

        Where the client sends its gateway key as `X-SVC-Key`, its own credentials are forwarded to the upstream. Raises
        BadRequest for a repeated credential and for a gateway key in a header that would be forwarded; BadRequest and
        NotFound (`model_not_found`) for the model.
        """
        place = path.partition("?")[0]
        asked = wire.model(body, place)
        if not body and asked == CONFIGURED_UPSTREAM:
            # A read of an answer by its id, which only the upstream that gave it knows.
            asked = self._pipeline.answered_by(caller, wire.read(body, place).continues) or asked
        surface, model = self._surfaces.resolve(asked, wire.family)
        return self._destination(surface, model, wire, path, fields)

    def _destination(self, surface: Surface, model: str, wire: Wire, path: str, fields: Sequence[Field]) -> Destination:
        place, _, query = path.partition("?")
        query, _ = take_keys(query)
        if not isinstance(surface, UpstreamSurface):
            return Destination(model, surface.trust, query=query)
        refuse_repeated(fields)
        config, own = surface.config, self._callers.own_credentials(fields)
        self._callers.refuse_gateway_key(forwardable(fields, self._forward))
        method = wire.method_path(place, model)
        url = config.endpoint(method)
        return Destination(
            model,
            config.trust,
            f"{url}?{query}" if query else url,
            config.name,
            config.timeout_seconds,
            fields,
            path=f"/{method}",
            query=query,
            credential=None if own else config.credential,
            credentials=own,
            forward=self._forward,
        )

    def host_for(self, model: object, origin: str, path: str, fields: Sequence[Field]) -> Destination:
        """Returns the host that a proxy client chose. `path` is as sent, including the query."""
        place, _, query = path.partition("?")
        return Destination(
            model if isinstance(model, str) else "",
            url=origin + path,
            timeout_seconds=self._proxy_seconds,
            fields=fields,
            path=place,
            query=query,
            credentials=PROVIDER_CREDENTIALS,
            forward=self._forward,
        )

    async def textless(self, origin: str, path: str, fields: Sequence[Field]) -> tuple[Destination, list[Field]]:
        """Returns the destination of a proxied call without a body, and the header fields that may go there.

        `path` is as sent, including the query. Raises NotFound (`unknown_route`) if it holds private text.
        """
        caller = self._callers.authenticate_proxied(path, fields)
        destination = self.host_for(None, origin, path, fields)
        return destination, await self._pipeline.forwarded_headers(destination, caller)

    async def answer(
        self, wire: Wire, body: Body, caller: Caller, path: str, fields: Sequence[Field]
    ) -> tuple[Exchange, int, bytes]:
        """Serves a request to its end: opens it, has the upstream or surface answer, closes it.

        Returns the exchange, the status and the body for the client.
        """
        place = path.partition("?")[0]
        surface, model = self._surfaces.resolve(wire.model(body, place), wire.family)
        destination = self._destination(surface, model, wire, path, fields)
        exchange = await self._pipeline.open(
            wire,
            body,
            caller,
            destination,
            request_id=new_request_id(),
            path=place,
            streams=self._streaming,
            annotated=True,
        )
        with self._pipeline.answering(exchange):
            if isinstance(surface, UpstreamSurface):
                status, reply = await surface.send(exchange.body, exchange.headers, destination.url)
                content = scrub_secrets(reply, secrets_of(exchange.headers))
            else:
                status, answer = 200, await surface.complete(body)
                content = dump(answer) if exchange.framing is None else as_events(answer, usage=_wants_usage(body))
            return exchange, status, await self._pipeline.close(exchange, status, content)

    async def playground(self, question: Question, caller: Caller) -> tuple[Exchange, dict[str, Any]]:
        """Protects a text, has the demo surface answer it, and guards and restores the answer.

        Returns the exchange and the members of the playground's answer, which are the same for the same input.
        """
        wire = self._wires.serving("POST", "/v1/chat/completions")
        surface, model = self._surfaces.resolve("svc-demo")
        assert wire is not None
        body: Body = {"model": model, "messages": [{"role": "user", "content": question.text}]}
        settings = {"svc_task": question.task, "svc_policy": question.policy_id, "svc_privacy_mode": question.mode}
        body |= {name: value for name, value in settings.items() if value is not None}
        exchange = await self._pipeline.open(
            wire, body, caller, Destination(model, surface.trust), request_id=new_request_id(), operation="playground"
        )
        with self._pipeline.answering(exchange):
            answer = await surface.complete(body)
            restored = await self._pipeline.close(exchange, 200, dump(answer))
        note = exchange.note()
        return exchange, {
            "request_id": exchange.request_id,
            "protected_text": body["messages"][0]["content"],
            "protected_answer": _content(answer),
            "guard": note["guard"],
            "reconstructed_text": _content(parse_object(restored)),
            "risk": asdict(exchange.assessment.risk),
            "route": note["route"],
            "receipt": note["receipt"],
        }


def _wants_usage(body: Body) -> bool:
    """Whether a client wants the usage in the last event."""
    options = body.get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True


def _content(answer: Body) -> Any:
    return answer["choices"][0]["message"]["content"]
