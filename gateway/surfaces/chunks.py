"""Divides a complete answer into the events of a stream, for clients that asked for one."""

from gateway.http.strict_json import dump
from gateway.surfaces.base import Body


def as_events(answer: Body, *, usage: bool) -> bytes:
    """Returns a `chat.completion` as server-sent `chat.completion.chunk` events, with the `usage` if that is wanted."""
    shared = {name: answer[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    events: list[Body] = []
    for choice in answer["choices"]:
        delta = dict(choice["message"])
        if delta.get("tool_calls"):
            delta["tool_calls"] = [{"index": index, **call} for index, call in enumerate(delta["tool_calls"])]
        events.append({"choices": [{"index": choice["index"], "delta": delta, "finish_reason": None}]})
        finish = choice["finish_reason"]
        events.append({"choices": [{"index": choice["index"], "delta": {}, "finish_reason": finish}]})
    if usage:
        events.append({"choices": [], "usage": answer["usage"]})
    return b"".join(b"data: " + dump(shared | event) + b"\n\n" for event in events) + b"data: [DONE]\n\n"
