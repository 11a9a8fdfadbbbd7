"""Reads the answers of the Anthropic wire: messages, the events that stream them, and their errors.

A thinking block with a signature is left as it came: its placeholders stay, so that the signature is valid when the
client sends the block back. In a stream the signature follows its text, so no thinking is changed there.
"""

from collections.abc import Iterator
from typing import Any

from gateway.detection.data_files import word_lists
from gateway.http.strict_json import dump
from gateway.models import Family
from gateway.text.answers import AnswerText, Channel
from gateway.wires.answer_reading import DocumentWriter, answer_strings, count_of
from gateway.wires.base import Body, EventFormat, Tokens
from gateway.wires.members import index_at, object_at, objects_at
from gateway.wires.reading import is_opaque, word

_WORDS = word_lists(__file__)
# The strings of a delta that continue those of earlier ones, with the types of the deltas.
_GROWING = {"text": "text_delta", "partial_json": "input_json_delta"}
_USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class MessageEvents(EventFormat):
    """The events of a streamed answer. Each block of content starts, grows by deltas and stops, one after the other."""

    family: Family = "anthropic"
    names_events = True

    def texts(self, event: Body) -> list[AnswerText]:
        found: list[AnswerText] = []
        match event:
            case {"type": "message_start", "message": dict(message)}:
                found += message_texts(message)
            case {"type": "content_block_start", "content_block": dict(block)}:
                found += _start_texts(block, index_at(event))
            case {"type": "content_block_delta", "delta": dict(delta)}:
                found += _delta_texts(delta, index_at(event))
            case {"delta": dict(delta)}:
                found += _strings({name: value for name, value in delta.items() if name not in _WORDS["delta"]}, delta)
        for name, value in event.items():
            if name not in _WORDS["event"]:
                found += answer_strings(value, event, name, 0)
        return found

    def ends_channel(self, event: Body, channel: Channel) -> bool:
        """The stop of a block ends its texts, and the end of the message or an error all of them."""
        kind = word(event.get("type"))
        return kind in {"message_delta", "message_stop", "error"} or (
            kind == "content_block_stop" and index_at(event) == channel[0]
        )

    def continued(self, channel: Channel, text: str, last: Body) -> Body:
        index, name = channel
        return _delta(index, {"type": _GROWING[str(name)], str(name): text})

    def is_last(self, event: Body) -> bool:
        """The event with the reason why the message ended, or else the last of all."""
        is_stopped = object_at(event, "delta").get("stop_reason") is not None
        return event.get("type") == "message_stop" or (event.get("type") == "message_delta" and is_stopped)

    def refusal(self, message: str, like: Body) -> list[Body | bytes]:
        events: list[Body | bytes] = []
        index, kind = index_at(like), word(like.get("type"))
        if not like or kind == "message_start":
            start = _empty_message(object_at(like, "message"))
            events.append({"type": "message_start", "message": start})
        elif kind in {"content_block_delta", "content_block_stop"}:
            events.append({"type": "content_block_stop", "index": index})
            index += 1
        return [
            *events,
            {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}},
            _delta(index, {"type": "text_delta", "text": message}),
            {"type": "content_block_stop", "index": index},
            {
                "type": "message_delta",
                "delta": {"stop_reason": "refusal", "stop_sequence": None},
                "usage": {"output_tokens": 0},
            },
            {"type": "message_stop"},
        ]


def message_texts(message: Body) -> Iterator[AnswerText]:
    """Yields the strings of a message that are text."""
    for block in objects_at(message, "content"):
        yield from _block_texts(block)
    if isinstance(content := message.get("content"), str):
        yield AnswerText(message, "content", content)
    for name, value in message.items():
        if name not in _WORDS["message"]:
            yield from answer_strings(value, message, name, 0)


def tokens(usage: Body) -> Tokens:
    """Returns the input tokens, cached ones included, and the output tokens that a `usage` reports."""
    given = [count_of(usage.get(name)) for name in _USAGE]
    read = None if given[0] is None else sum(count for count in given if count is not None)
    return read, count_of(usage.get("output_tokens"))


def refuse(body: Body, message: str) -> None:
    """Replaces all of a message but what identifies it."""
    empty = _empty_message(body)
    body.clear()
    body |= empty | {"content": [{"type": "text", "text": message}], "stop_reason": "refusal"}


def _empty_message(given: Body) -> Body:
    usage = given.get("usage")
    counts = usage if isinstance(usage, dict) else {"input_tokens": 0, "output_tokens": 0}
    return {
        "id": given.get("id", ""),
        "type": "message",
        "role": "assistant",
        "model": given.get("model", ""),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": counts,
    }


def _block_texts(block: Body) -> Iterator[AnswerText]:
    """Yields the strings of a complete block. The input of a tool is one document."""
    kind, called = block.get("type"), block.get("name")
    if kind == "thinking" and block.get("signature"):
        return
    is_call = isinstance(kind, str) and kind.endswith("tool_use")
    tool = called if is_call and isinstance(called, str) else None
    for name, value in block.items():
        if is_call and name == "input" and value and isinstance(value, dict | list):
            yield AnswerText(DocumentWriter(block), name, dump(value).decode(), kind="json", tool=tool)
        elif is_call and name == "input" and isinstance(value, str):
            yield AnswerText(block, name, value, kind="json", tool=tool)
        elif tool is not None and name == "name":
            yield AnswerText(block, name, tool, tool=tool)
        else:
            yield from _strings({name: value}, block)


def _strings(members: Body, container: Body) -> Iterator[AnswerText]:
    """Yields the strings under members of a container, but for types and what only the provider can read."""
    for name, value in members.items():
        if isinstance(value, str):
            if value and name != "type" and not (name in _WORDS["opaque"] and is_opaque(value)):
                yield AnswerText(container, name, value)
        elif isinstance(value, dict):
            yield from _strings(value, value)
        elif isinstance(value, list):
            for position, item in enumerate(value):
                if isinstance(item, dict):
                    yield from _strings(item, item)
                else:
                    yield from answer_strings(item, value, position, 0)


def _start_texts(block: Body, index: int) -> Iterator[AnswerText]:
    """Yields the strings of a block as it starts. Its text may go on."""
    kind, text = block.get("type"), block.get("text")
    if kind == "thinking":
        return
    if kind == "text" and isinstance(text, str):
        yield AnswerText(block, "text", text, channel=(index, "text"))
        yield from _strings({name: value for name, value in block.items() if name != "text"}, block)
    else:
        yield from _block_texts(block)


def _delta_texts(delta: Body, index: int) -> Iterator[AnswerText]:
    for name, value in delta.items():
        if name in _GROWING and isinstance(value, str):
            kind: Any = "json" if name == "partial_json" else "text"
            yield AnswerText(delta, name, value, kind, channel=(index, name))
        elif name not in _WORDS["delta"]:
            yield from _strings({name: value}, delta)


def _delta(index: Any, delta: Body) -> Body:
    return {"type": "content_block_delta", "index": index, "delta": delta}
