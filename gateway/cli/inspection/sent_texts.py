"""Finds the texts of a protected request, each with its place in the body and the role that sends it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import orjson

from gateway.cli.inspection.records import Sent
from gateway.errors import GatewayError
from gateway.exchange.streaming.framing import ServerSentEvents
from gateway.placeholders import looks_like_placeholder
from gateway.text.fields import KeyField, MessageField, Place
from gateway.text.pointers import escaped
from gateway.wires.base import Body, Wires

_PLACES = {Place.TOOL_RESULT: "tool result", Place.SETTINGS: "settings"}
_TOOLS = ("/tools", "/functions", "/response_format")


@dataclass(frozen=True, slots=True)
class SentText:
    """A text, its JSON pointer in the body, and its role: `system`, `tools`, `user`, `assistant`, `tool result` …"""

    pointer: str
    role: str
    text: str


@cache
def _wires() -> Wires:
    return Wires.discover()


def texts_of(sent: Sent) -> list[SentText]:
    """Returns the texts in the order in which a model reads them. A body that is no JSON is one text."""
    if not sent.body:
        return []
    wire = _wires().named(sent.wire or "")
    try:
        body: Any = orjson.loads(sent.body)
        if wire is None or not isinstance(body, dict):
            raise ValueError
        blocks = wire.read(body, sent.path).blocks
    except (ValueError, GatewayError):
        return [SentText("", "body", sent.body.decode("utf-8", "replace"))]
    known = {id(value): place for value, *place in _containers(body, "", "")}
    return [text for block in blocks for field in block for text in _read(field, known)]


def answer_of(sent: Sent) -> list[str]:
    """Returns the texts of an answer, those of a stream joined. One that its wire does not read is one text."""
    wire = _wires().named(sent.wire or "")
    try:
        if wire is None:
            raise ValueError
        if wire.stream is not None and (events := _events(sent.answer)):
            channels: dict[object, list[str]] = {}
            for text in (text for event in events for text in wire.stream.texts(event) if text.channel is not None):
                channels.setdefault(text.channel, []).append(text.text)
            return ["".join(pieces) for pieces in channels.values()]
        return [text.text for text in wire.answer_texts(orjson.loads(sent.answer))]
    except (ValueError, GatewayError):
        return [sent.answer.decode("utf-8", "replace")]


def _events(answer: bytes) -> list[Body]:
    start = answer.lstrip()[:1]
    if start == b"[":
        return [event for event in orjson.loads(answer) if isinstance(event, dict)]
    data = () if start == b"{" else (event.data for event in ServerSentEvents().feed(answer + b"\n\n"))
    return [orjson.loads(each) for each in data if each and each.strip() != b"[DONE]"]


def _containers(value: Any, pointer: str, role: str) -> Iterator[tuple[Any, str, str]]:
    """Yields every object and array with its pointer, and the role of the message that it is part of."""
    if isinstance(value, dict):
        named, kind = value.get("role"), value.get("type")
        role = named if isinstance(named, str) else role
        if isinstance(kind, str) and kind.endswith(("_call", "tool_use")):
            role = "tool call"
    yield value, pointer, role
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for name, inner in members:
        if isinstance(inner, dict | list):
            yield from _containers(inner, f"{pointer}/{escaped(str(name))}", role)


def _read(field: MessageField, known: Mapping[int, list[str]]) -> Iterator[SentText]:
    container, key = getattr(field, "container", None), getattr(field, "key", None)
    pointer, role = known.get(id(container), ["", ""])
    pointer = f"{pointer}/{escaped(str(key))}"
    if isinstance(field, KeyField) and not looks_like_placeholder(field.key):
        return
    value = key if isinstance(field, KeyField) else container[key] if container is not None else None
    texts = [value] if isinstance(value, str) else field.protected()
    for text in texts:
        yield SentText(pointer, _role(field.place, pointer, role), text)


def _role(place: Place, pointer: str, role: str) -> str:
    if place is Place.INSTRUCTIONS:
        return "tools" if pointer.startswith(_TOOLS) else role or "system"
    return _PLACES.get(place) or role or "user"
