"""Implements the InvokeModel wire of Amazon Bedrock (POST /model/{model}/invoke and /invoke-with-response-stream).

Its bodies are those of the model's provider. They are told apart by their members, since the name of a profile or a
deployment does not say whose model it is: Anthropic's Messages, Nova's (the body of the Converse wire), chat
completions, and all others (Titan, Llama, Cohere, embeddings), which are read as unknown JSON is.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gateway.errors import BadRequest, GatewayError
from gateway.models import Family
from gateway.text.answers import AnswerText, Channel
from gateway.wires.answer_reading import answer_strings, count_of
from gateway.wires.anthropic_messages import WIRE as ANTHROPIC
from gateway.wires.base import Body, Conversation, EventFormat, Tokens, Wire
from gateway.wires.bedrock_answers import is_event
from gateway.wires.bedrock_converse import WIRE as CONVERSE
from gateway.wires.bedrock_converse import ModelCall, calls, read_converse
from gateway.wires.chat_completions import WIRE as CHAT
from gateway.wires.members import object_at
from gateway.wires.other_json import OTHER_JSON
from gateway.wires.reading import word

# Members that an event of other families continues.
_GROWING = frozenset({"outputText", "generation", "completion", "text"})
# Members of a body of Nova's.
_NOVAS = frozenset({"schemaVersion", "inferenceConfig", "toolConfig"})
_METRICS = "amazon-bedrock-invocationMetrics"
_EVENTS = ("message_", "content_block_", "ping", "error")


class InvokeEvents(EventFormat):
    """The events of a streamed answer, each of the format that its members say."""

    family: Family = "bedrock"

    def texts(self, event: Body) -> list[AnswerText]:
        form = _format_of(event)
        return form.texts(event) if form is not None else [*_grown(event, event, ())]

    def ends_channel(self, event: Body, channel: Channel) -> bool:
        form = _format_of(event)
        return _METRICS in event or (form is not None and form.ends_channel(event, channel))

    def continued(self, channel: Channel, text: str, last: Body) -> Body:
        if (form := _format_of(last)) is not None:
            return form.continued(channel, text, last)
        body: Any = text
        for name in reversed(channel):
            body = [body] if isinstance(name, int) else {name: body}
        event: Body = body
        return event

    def is_last(self, event: Body) -> bool:
        form = _format_of(event)
        return form is not None and form.is_last(event)

    def refusal(self, message: str, like: Body) -> list[Body | bytes]:
        # Two events of Nova's have a member each.
        is_novas = any(is_event({name: members}) for name, members in like.items())
        form = CONVERSE.stream if is_novas else _format_of(like)
        if form is not None:
            # Not the line that ends a stream of server-sent events.
            return [event for event in form.refusal(message, like) if isinstance(event, dict)]
        named = next((text.channel for text in _grown(like, like, ()) if text.channel), ("outputText",))
        return [self.continued(named, message, {})]

    def error(self, error: GatewayError, request_id: str) -> Body:
        return CONVERSE.stream.error(error, request_id)


class BedrockInvoke(ModelCall):
    """The wire. Stateless."""

    id = "bedrock-invoke"
    stream = InvokeEvents()
    framing = "eventstream-chunks"
    path = calls("invoke", "invoke-with-response-stream")
    routes = (("POST", "/model/{model}/invoke"), ("POST", "/model/{model}/invoke-with-response-stream"))

    def read(self, body: Body, path: str = "") -> Conversation:
        own = self.begun(body, path)
        if not body:
            raise BadRequest("The body must be that of the model's API.", param="body")
        wire = _wire_of_request(body)
        if wire is CONVERSE:
            read_converse(own, body)
            return own
        inner = OTHER_JSON.read(body, path) if wire is OTHER_JSON else _read_named(wire, body, own.model)
        beside = {name: getattr(own, name) for name in ("task", "policy_id", "mode", "allow", "deny")}
        return replace(inner, body=body, model=own.model, stream=own.stream, framing=own.framing, **beside)

    def answer_texts(self, body: Body) -> list[AnswerText]:
        return _wire_of_answer(body).answer_texts(body)

    def usage(self, body: Body) -> Tokens:
        counted = object_at(body, _METRICS)
        if counted:
            return count_of(counted.get("inputTokenCount")), count_of(counted.get("outputTokenCount"))
        return (CONVERSE if is_event(body) else _wire_of_answer(body)).usage(body)

    def refuse_answer(self, body: Body, message: str) -> None:
        _wire_of_answer(body).refuse_answer(body, message)


def _read_named(wire: Wire, body: Body, model: str) -> Conversation:
    """Reads a body by a wire that has the model's name in it."""
    is_named = "model" in body
    body.setdefault("model", model)
    try:
        return wire.read(body)
    finally:
        if not is_named:
            del body["model"]


def _wire_of_request(body: Body) -> Wire:
    messages = body.get("messages")
    if "anthropic_version" in body:
        return ANTHROPIC
    if not isinstance(messages, list):
        return OTHER_JSON
    is_novas = not body.keys().isdisjoint(_NOVAS) or any(map(_has_blocks, messages))
    return CONVERSE if is_novas else CHAT


def _has_blocks(message: Any) -> bool:
    """Whether a message has blocks without a type, as those of the Converse wire are."""
    blocks = message.get("content") if isinstance(message, dict) else None
    return isinstance(blocks, list) and any(isinstance(block, dict) and "type" not in block for block in blocks)


def _wire_of_answer(body: Body) -> Wire:
    if body.get("type") in {"message", "error"}:
        return ANTHROPIC
    if isinstance(body.get("output"), dict):
        return CONVERSE
    return CHAT if isinstance(body.get("choices"), list) else OTHER_JSON


def _format_of(event: Body) -> EventFormat | None:
    """Returns the format of an event; None for one of another family."""
    if word(event.get("type")).startswith(_EVENTS):
        return ANTHROPIC.stream
    if is_event(event):
        return CONVERSE.stream
    return CHAT.stream if isinstance(event.get("choices"), list) else None


def _grown(value: Any, container: Any, path: Channel) -> Iterator[AnswerText]:
    """Yields the strings of an event of another family. Those that say something continue those of the last one."""
    for name, member in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(member, dict | list) and name != _METRICS:
            yield from _grown(member, value, (*path, name))
        elif isinstance(member, str) and name in _GROWING:
            yield AnswerText(value, name, member, channel=(*path, name))
        else:
            yield from answer_strings(member, value, name, 0)


WIRE = BedrockInvoke()
