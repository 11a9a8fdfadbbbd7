"""Reads the texts of answers of the Responses API, whole and streamed.

`echo` marks what the API repeats of the request.
"""

from collections.abc import Iterator
from typing import Any, Literal

from gateway.detection.data_files import word_lists
from gateway.http.strict_json import dump
from gateway.text.answers import AnswerText, Channel
from gateway.wires.answer_reading import DocumentWriter, answer_keys
from gateway.wires.base import Body
from gateway.wires.reading import is_opaque, word

type Kind = Literal["text", "json", "data", "echo"]

_NO_TEXT, _ECHO = word_lists(__file__)["no_text"], word_lists(__file__)["echo"]
# The input of a tool.
_JSON = frozenset({"arguments", "input", "code", "command", "diff"})
# Calls that the client runs, of which this member says what to do.
_RUN = {
    "local_shell_call": "action",
    "shell_call": "action",
    "computer_call": "action",
    "apply_patch_call": "operation",
}


def withheld_message(message: str) -> Body:
    """Returns the item that replaces an answer."""
    part = {"type": "output_text", "text": message, "annotations": [], "logprobs": []}
    return {
        "type": "message",
        "id": "msg_withheld",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }


def response_texts(response: Body) -> Iterator[AnswerText]:
    """Yields the texts of a response, of which each item is a message of its own."""
    for name, value in response.items():
        if name == "output" and isinstance(value, list):
            for position, item in enumerate(value):
                yield from item_texts(item, value, position, position)
        elif name not in _NO_TEXT:
            yield from _texts(value, response, name, 0, "echo" if name in _ECHO else "text")


def item_texts(item: Any, container: Any, key: Any, choice: int) -> Iterator[AnswerText]:
    """Yields the texts of an item of the output."""
    if not isinstance(item, dict):
        yield from _texts(item, container, key, choice)
        return
    kind, name = item.get("type"), item.get("name")
    tool = name if isinstance(name, str) else kind if isinstance(kind, str) else None
    for member, value in item.items():
        if member in _NO_TEXT or (kind == "image_generation_call" and member == "result"):
            continue
        if isinstance(value, dict | list) and (member == "arguments" or _RUN.get(word(kind)) == member):
            yield AnswerText(DocumentWriter(item), member, dump(value).decode(), "json", choice, tool)
        else:
            yield from _texts(value, item, member, choice, tool=tool)


def event_texts(event: Body, choice: int, channel: Channel | None = None) -> Iterator[AnswerText]:
    """Yields the texts of an event. Its `delta` continues `channel`."""
    for name, value in event.items():
        if name == "delta" and channel is not None:
            kind = _kind_of_channel(str(channel[0]))
            if isinstance(value, str):
                yield AnswerText(event, name, value, kind, choice, channel=channel, scored=event)
            else:
                for key, text in value.items():
                    if isinstance(text, str):
                        yield AnswerText(value, key, text, kind, choice, channel=(*channel, key))
                    else:
                        yield from _texts(text, value, key, choice)
        elif name == "response" and isinstance(value, dict):
            yield from response_texts(value)
        elif name == "item":
            yield from item_texts(value, event, name, choice)
        elif name not in _NO_TEXT:
            yield from _texts(value, event, name, choice)


def _kind_of_channel(name: str) -> Kind:
    """A text that grows is of the same kind as it is in the item."""
    if name == "response.audio":
        return "data"
    return "json" if name.rpartition("_")[2] in _JSON else "text"


def _texts(
    value: Any, container: Any, key: Any, choice: int, kind: Kind = "text", tool: str | None = None
) -> Iterator[AnswerText]:
    """Yields every string under `value` but ids, words of the protocol and encrypted content."""
    if isinstance(value, str):
        if key == "type" or (key == "encrypted_content" and is_opaque(value)) or value[:5] == "data:":
            return
        is_input = kind == "text" and key in _JSON
        is_called = is_input or key == "name"
        scored = container if key == "text" and isinstance(container, dict) else None
        tool = tool if is_called else None
        yield AnswerText(container, key, value, "json" if is_input else kind, choice, tool, scored=scored)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if kind == "echo" or name not in _NO_TEXT:
                yield from _texts(inner, value, name, choice, kind, tool)
        yield from answer_keys(value, choice, "echo" if kind == "echo" else "text")
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from _texts(inner, value, position, choice, kind, tool)
