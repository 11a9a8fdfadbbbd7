"""Joins the events of a streamed answer into few, with each text in one piece."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import orjson

from gateway.errors import BadUpstream, GatewayError
from gateway.exchange.streaming.event_stream import EventStream
from gateway.exchange.streaming.framing import SEPARATOR, ServerSentEvents, texts_of
from gateway.text.answers import AnswerText, Channel
from gateway.wires.base import Body, EventFormat


def events_of(data: bytes) -> list[Body]:
    """Returns the events of a streamed answer in any framing; none for a body of another kind, or one with others."""
    try:
        if data[:1] == b"\0":
            return _framed(data)
        if data.lstrip()[:1] == b"{":
            lines = data.split(b"\n") if b"\n{" in data else []
            events: Any = [orjson.loads(line) for line in lines if line.strip()]
        elif data[:1] == SEPARATOR:
            events = [orjson.loads(text) for text in texts_of(data)]
        else:
            events = orjson.loads(data) if data.lstrip()[:1] == b"[" else list(_server_sent(data))
    except (orjson.JSONDecodeError, GatewayError):
        return []
    return events if isinstance(events, list) and all(isinstance(event, dict) for event in events) else []


def _framed(data: bytes) -> list[Body]:
    """Reads an event stream of AWS, of which the end may be missing."""
    for chunked in (False, True):
        with suppress(BadUpstream):
            return [orjson.loads(event.data) for event in EventStream(chunked=chunked).feed(data) if event.data]
    return []


def _server_sent(data: bytes) -> Iterator[Any]:
    reader = ServerSentEvents()
    for event in reader.feed(data):
        if event.data and event.data.strip() != b"[DONE]":
            yield orjson.loads(event.data)


def joined(events: Sequence[Body], format: EventFormat) -> list[Body]:
    """Returns the events without those that only continue or repeat a text, with each text whole where it begins."""
    texts = [format.texts(event) for event in events]
    growing: dict[Channel, tuple[AnswerText, list[str]]] = {}
    begun: list[tuple[AnswerText, list[str]]] = []
    beginnings = set[int]()
    for index, own in enumerate(texts):
        for text in own:
            if text.channel is None:
                continue
            known = growing.get(text.channel)
            if known is not None and text.call in ("", known[0].call):
                known[1].append(text.text)
                text.container[text.key] = ""
            else:
                growing[text.channel] = text, [text.text]
                begun.append(growing[text.channel])
                beginnings.add(index)
    seen = set[str]()
    for text, pieces in begun:
        text.container[text.key] = whole = "".join(pieces)
        seen.add(whole)
    kept: list[Body] = []
    for index, (event, own) in enumerate(zip(events, texts, strict=True)):
        said = {text.text for text in own if text.channel is None}
        if index in beginnings or not own or format.is_last(event) or not said <= seen:
            kept.append(event)
        seen |= said
    return kept
