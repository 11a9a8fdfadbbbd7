"""Serves chat requests that mitmproxy does not forward: those to the gateway's surfaces, and all on an ASGI server."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from gateway.auth.credentials import scrub_secrets, secrets_of
from gateway.corrections.given import ALLOW, DENY
from gateway.errors import BadUpstream, GatewayError, UpstreamTimeout
from gateway.exchange.admit import Admission
from gateway.exchange.answer import Answers
from gateway.exchange.destination import Destination
from gateway.exchange.operations import Question
from gateway.exchange.protect import Protection
from gateway.exchange.records import Records
from gateway.exchange.state import Exchange
from gateway.http.strict_json import dump, parse_object
from gateway.http.types import Field
from gateway.ids import current_request_id
from gateway.models import Caller
from gateway.receipts.drafts import outcome_of
from gateway.receipts.records import attach_to_errors
from gateway.surfaces.base import SurfaceRegistry
from gateway.surfaces.chunks import as_events
from gateway.surfaces.upstream import UpstreamSurface
from gateway.wires.base import Body, Wire
from gateway.wires.chat_completions import WIRE
from gateway.wires.members import object_at


@dataclass
class ChatHandler:
    """Protects a request, has its surface answer it, and restores the answer.

    `streaming` allows streams of every wire. They are complete before the client gets them.
    """

    admission: Admission
    protection: Protection
    answers: Answers
    records: Records
    surfaces: SurfaceRegistry
    streaming: bool

    async def answer(
        self, wire: Wire, body: Body, caller: Caller, path: str, fields: Sequence[Field]
    ) -> tuple[Exchange, int, bytes]:
        """Serves a request to its end. Returns the exchange, the status and the body for the client."""
        place, may_stream = path.partition("?")[0], wire.streams_by_default or self.streaming
        destination = self.admission.destination_for(wire, body, path, fields, caller)
        surface = self.surfaces.named(destination.surface)
        exchange = Exchange(
            current_request_id(), wire, caller, destination, body, place, may_stream=may_stream, annotated=True
        )
        await self.protection.protect(exchange)
        with self._answering(exchange):
            if isinstance(surface, UpstreamSurface):
                status, reply = await surface.send(exchange.body, exchange.headers, destination.url)
                content = scrub_secrets(reply, secrets_of(exchange.headers))
            else:
                status, answer = 200, await surface.complete(body)
                wants_usage = object_at(body, "stream_options").get("include_usage") is True
                content = dump(answer) if exchange.framing is None else as_events(answer, usage=wants_usage)
            return exchange, status, await self.answers.close(exchange, status, content)

    async def playground(self, question: Question, caller: Caller) -> tuple[Exchange, dict[str, Any]]:
        """Protects a text, has the demo surface answer it, and guards and restores the answer.

        Returns the exchange and the members of the playground's answer, which are the same for the same input.
        """
        surface, model = self.surfaces.resolve("svc-demo")
        body: Body = {"model": model, "messages": [{"role": "user", "content": question.text}]}
        settings = {
            "svc_task": question.task,
            "svc_policy": question.policy_id,
            "svc_privacy_mode": question.mode,
            ALLOW: question.allow,
            DENY: question.deny,
        }
        body |= {name: value for name, value in settings.items() if value is not None}
        destination = Destination(model, surface.trust)
        exchange = Exchange(current_request_id(), WIRE, caller, destination, body, operation="playground")
        await self.protection.protect(exchange)
        with self._answering(exchange):
            answer = await surface.complete(body)
            restored = await self.answers.close(exchange, 200, dump(answer))
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

    @contextmanager
    def _answering(self, exchange: Exchange) -> Iterator[None]:
        """Records the exchange as failed if the surface or the closing fails, and names its receipt in the error."""
        with attach_to_errors(exchange.receipt):
            try:
                yield
            except BaseException as error:
                code = error.code if isinstance(error, GatewayError) else None
                sent = isinstance(error, BadUpstream | UpstreamTimeout) and code != BadUpstream.default_code
                self.records.end(exchange, outcome_of(code) if code else "failed", sent=sent, code=code)
                raise


def _content(answer: Body) -> Any:
    return answer["choices"][0]["message"]["content"]
