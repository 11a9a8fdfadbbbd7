"""Reads the answers of the Converse wire: messages, the events that stream them, and their errors.

An event is an object with one member, named as its frame is: `{"contentBlockDelta": {…}}`. Reasoning with a signature
is left as it came, so that it is valid when the client sends it back. In a stream the signature follows its text, so no
reasoning is changed there.
"""

from collections.abc import Iterator
from typing import Any

from gateway.detection.data_files import word_lists
from gateway.errors import GatewayError
from gateway.http.strict_json import dump
from gateway.models import Family
from gateway.text.answers import AnswerText, Channel
from gateway.wires.answer_reading import DocumentWriter, answer_strings, count_of
from gateway.wires.base import Body, EventFormat, Tokens
from gateway.wires.error_shapes import error_type
from gateway.wires.members import index_at, object_at, objects_at
from gateway.wires.reading import is_opaque

_WORDS = word_lists(__file__)
_FILTERED = "content_filtered"
_INDEX = "contentBlockIndex"
_NO_USAGE = {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}
_USAGE = ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")


class ConverseEvents(EventFormat):
    """The events of a streamed answer. Each block of content may start, grows by deltas and stops."""

    family: Family = "bedrock"

    def texts(self, event: Body) -> list[AnswerText]:
        return [text for name, members in event.items() for text in _event_texts(name, members, event)]

    def ends_channel(self, event: Body, channel: Channel) -> bool:
        if "contentBlockStop" in event:
            return index_at(object_at(event, "contentBlockStop"), _INDEX) == channel[0]
        return not event.keys() & {"messageStart", "contentBlockStart", "contentBlockDelta"}

    def continued(self, channel: Channel, text: str, last: Body) -> Body:
        index, name = channel
        return _delta(index, {"text": text} if name == "text" else {"toolUse": {"input": text}})

    def is_last(self, event: Body) -> bool:
        return "metadata" in event

    def refusal(self, message: str, like: Body) -> list[Body | bytes]:
        begun, index = like.keys() - {"messageStart"}, 0
        before: list[Body] = [] if begun else [{"messageStart": {"role": "assistant"}}]
        for name in begun & {"contentBlockStart", "contentBlockDelta", "contentBlockStop"}:
            index = index_at(object_at(like, name), _INDEX)
            if name != "contentBlockStart":
                before.append({"contentBlockStop": {_INDEX: index}})
                index += 1
        return [
            *before,
            _delta(index, {"text": message}),
            {"contentBlockStop": {_INDEX: index}},
            {"messageStop": {"stopReason": _FILTERED}},
            {"metadata": {"usage": dict(_NO_USAGE), "metrics": {"latencyMs": 0}}},
        ]

    def error(self, error: GatewayError, request_id: str) -> Body:
        """The name of an exception in a stream begins with a small letter."""
        name = error_type(error, self.family)
        return {name[0].lower() + name[1:]: {"message": error.message}}


def is_event(body: Body) -> bool:
    """Whether an object is an event of a stream."""
    return len(body) == 1 and (not body.keys().isdisjoint(_WORDS["events"]) or is_exception(body))


def is_exception(body: Body) -> bool:
    """Whether an event is an error."""
    return next(iter(body), "").endswith("Exception")


def annotate(body: Body, note: Body | None) -> None:
    """Sets the gateway's own member of an answer or an event."""
    inner = next(iter(body.values())) if is_event(body) else body
    for each in (body, inner):
        if isinstance(each, dict):
            each.pop("svc", None)
    if note is not None and isinstance(inner, dict):
        inner["svc"] = note


def answer_texts(body: Body) -> Iterator[AnswerText]:
    """Yields the strings of an answer that are text."""
    for block in objects_at(object_at(object_at(body, "output"), "message"), "content"):
        yield from _block_texts(block)
    for name, value in body.items():
        if name not in _WORDS["answer"]:
            yield from answer_strings(value, body, name, 0)


def tokens(body: Body) -> Tokens:
    """Returns the tokens that an answer or the last event of a stream reports, those of caches included."""
    usage = object_at(body, "usage") or object_at(object_at(body, "metadata"), "usage")
    given = [count_of(usage.get(name)) for name in _USAGE]
    read, written = sum(count or 0 for count in given), count_of(usage.get("outputTokens"))
    return (None, None) if given[0] is None or written is None else (read, written)


def refuse(body: Body, message: str) -> None:
    """Replaces all of an answer but what it counts."""
    usage, metrics = object_at(body, "usage"), object_at(body, "metrics")
    body.clear()
    body["output"] = {"message": {"role": "assistant", "content": [{"text": message}]}}
    body |= {"stopReason": _FILTERED, "usage": usage or dict(_NO_USAGE), "metrics": metrics or {"latencyMs": 0}}


def _event_texts(name: str, members: Any, event: Body) -> Iterator[AnswerText]:
    if not isinstance(members, dict):
        yield from answer_strings(members, event, name, 0)
        return
    index = index_at(members, _INDEX)
    for key, value in members.items():
        if name == "contentBlockStart" and key == "start" and isinstance(value, dict):
            yield from _block_texts(value)
        elif name == "contentBlockDelta" and key == "delta" and isinstance(value, dict):
            yield from _delta_texts(value, index)
        elif key not in _WORDS["event"]:
            yield from answer_strings(value, members, key, 0)


def _delta_texts(delta: Body, index: int) -> Iterator[AnswerText]:
    for name, value in delta.items():
        given = object_at(delta, "toolUse").get("input")
        if name == "text" and isinstance(value, str):
            yield AnswerText(delta, name, value, channel=(index, "text"))
        elif name == "toolUse" and isinstance(given, str):
            yield AnswerText(value, "input", given, "json", channel=(index, "input"))
        elif name != "reasoningContent":
            yield from _strings({name: value}, delta)


def _block_texts(block: Body) -> Iterator[AnswerText]:
    """Yields the strings of a complete block. The input of a tool is one document."""
    for name, value in block.items():
        thought = object_at(value, "reasoningText") if name == "reasoningContent" else {}
        if name == "toolUse" and isinstance(value, dict):
            yield from _call_texts(value)
        elif not thought.get("signature"):
            yield from _strings({name: value}, block)


def _call_texts(call: Body) -> Iterator[AnswerText]:
    tool = call.get("name")
    label = tool if isinstance(tool, str) else None
    for name, value in call.items():
        if name == "input" and value and isinstance(value, dict | list):
            yield AnswerText(DocumentWriter(call), name, dump(value).decode(), kind="json", tool=label)
        elif name == "name" and label:
            yield AnswerText(call, name, label, tool=label)
        else:
            yield from _strings({name: value}, call)


def _strings(members: Any, container: Any) -> Iterator[AnswerText]:
    """Yields the strings under members of a container, but for words of the protocol and opaque data."""
    for name, value in members.items() if isinstance(members, dict) else enumerate(members):
        if isinstance(value, dict | list):
            yield from _strings(value, value)
        elif isinstance(value, str) and value and name not in _WORDS["protocol"]:
            is_data = name == "bytes"
            if not (name == "redactedContent" and is_opaque(value)):
                yield AnswerText(container, name, value, "data" if is_data else "text")


def _delta(index: Any, delta: Body) -> Body:
    return {"contentBlockDelta": {_INDEX: index, "delta": delta}}
