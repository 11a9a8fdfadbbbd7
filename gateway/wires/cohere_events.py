"""Reads the events that stream an answer of Cohere's chat wire: blocks of content, a plan, calls and citations."""

from collections.abc import Iterator
from typing import Any, Literal

from gateway.models import Family
from gateway.text.answers import AnswerText, Channel, CitedSpan
from gateway.wires.answer_reading import answer_keys, answer_strings, strings_beside
from gateway.wires.base import Body, EventFormat
from gateway.wires.chat_completions import call_texts
from gateway.wires.members import index_at, object_at
from gateway.wires.reading import word

_EVENT_KEYS = frozenset({"type", "index", "id", "delta", "logprobs", "svc"})
_DELTA_KEYS = frozenset({"message", "finish_reason", "usage"})
_TEXTS = ("text", "thinking")
type _Kind = Literal["text", "echo"]


class ChatEvents(EventFormat):
    """The events. Each has its type as its name."""

    family: Family = "cohere"
    names_events = True

    def texts(self, event: Body) -> list[AnswerText]:
        delta = object_at(event, "delta")
        return [
            *_event_texts(event, object_at(delta, "message"), index_at(event)),
            *strings_beside(_DELTA_KEYS, delta),
            *strings_beside(_EVENT_KEYS, event),
        ]

    def spans(self, event: Body) -> list[CitedSpan]:
        citation = object_at(object_at(object_at(event, "delta"), "message"), "citations")
        return [CitedSpan(citation, channel=("text", index_at(citation, "content_index")))] if citation else []

    def ends_channel(self, event: Body, channel: Channel) -> bool:
        """The end of a block or a call ends its texts; what comes after a plan ends it, and the last event all."""
        match event.get("type"):
            case "message-end":
                return True
            case "content-end":
                return channel[0] in _TEXTS and channel[1] == index_at(event)
            case "tool-call-end":
                return channel == ("call", index_at(event))
            case "content-start" | "tool-call-start":
                return channel[0] == "plan"
        return False

    def continued(self, channel: Channel, text: str, last: Body) -> Body:
        kind = channel[0]
        if kind == "plan":
            return {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": text}}}
        if kind == "call":
            call = {"function": {"arguments": text}}
            return {"type": "tool-call-delta", "index": channel[1], "delta": {"message": {"tool_calls": call}}}
        return _content("delta", channel[1], {str(kind): text})

    def is_last(self, event: Body) -> bool:
        return event.get("type") == "message-end"

    def refusal(self, message: str, like: Body) -> list[Body | bytes]:
        index, kind = index_at(like), word(like.get("type"))
        events: list[Body | bytes] = []
        if not like or kind == "message-start":
            start = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
            events.append({"id": word(like.get("id")), "type": "message-start", "delta": {"message": start}})
        elif kind in {"content-start", "content-delta", "content-end"}:
            events.append({"type": "content-end", "index": index})
            index += 1
        return [
            *events,
            _content("start", index, {"type": "text", "text": ""}),
            _content("delta", index, {"text": message}),
            {"type": "content-end", "index": index},
            {"type": "message-end", "delta": {"finish_reason": "ERROR", "error": message}},
        ]


def message_texts(message: Body) -> Iterator[AnswerText]:
    """Yields the strings of a complete message that are text."""
    for name, value in message.items():
        if name == "tool_calls" and isinstance(value, list):
            for call in value:
                yield from call_texts(call, 0)
        elif name != "role":
            yield from strings(value, message, name)


def strings(value: Any, container: Any, key: Any, kind: _Kind = "text") -> Iterator[AnswerText]:
    """Yields the strings under a value, but for the types of objects. Citations repeat documents and the answer."""
    kind = "echo" if key == "citations" else kind
    if isinstance(value, str):
        yield AnswerText(container, key, value, kind)
    elif isinstance(value, dict):
        for name, member in value.items():
            if name != "type":
                yield from strings(member, value, name, kind)
        yield from answer_keys(value, 0, kind)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from strings(member, value, index, kind)


def _event_texts(event: Body, message: Body, index: int) -> Iterator[AnswerText]:
    for name, value in message.items():
        if name == "content" and isinstance(value, dict):
            for key, text in value.items():
                if key in _TEXTS and isinstance(text, str):
                    scored = event if key == "text" else None
                    yield AnswerText(value, key, text, channel=(key, index), scored=scored)
                elif key != "type":
                    yield from answer_strings(text, value, key, 0)
        elif name == "tool_plan" and isinstance(value, str):
            yield AnswerText(message, name, value, channel=("plan",))
        elif name == "tool_calls" and isinstance(value, dict):
            yield from _call_texts(value, index)
        elif name != "role":
            yield from strings(value, message, name)


def _call_texts(call: Body, index: int) -> Iterator[AnswerText]:
    """Yields the strings of a call, whose arguments continue those of the call at the same place."""
    function = object_at(call, "function")
    tool = word(function.get("name")) or None
    for name, value in function.items():
        if name == "arguments" and isinstance(value, str):
            yield AnswerText(function, name, value, "json", 0, tool, ("call", index))
        elif name == "name" and tool:
            yield AnswerText(function, name, tool, tool=tool)
        else:
            yield from answer_strings(value, function, name, 0)
    yield from strings_beside({"function", "type"}, call)


def _content(kind: str, index: Any, content: Body) -> Body:
    return {"type": f"content-{kind}", "index": index, "delta": {"message": {"content": content}}}
