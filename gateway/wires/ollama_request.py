"""Reads the parts of requests that the wires of Ollama's API share."""

import re
from collections.abc import Iterator
from typing import Any

from gateway.detection.data_files import word_lists
from gateway.http.strict_json import Json
from gateway.text.fields import MessageField, NameField
from gateway.wires.base import Body, Conversation
from gateway.wires.chat_completions import MessageReader
from gateway.wires.reading import SCHEMA_KEYS, ValueReader, begun, unknown_keys

_WORDS = word_lists(__file__)
_BASE64 = re.compile(r"[A-Za-z0-9+/\r\n]*={0,2}\s*\Z")


class RequestReader(MessageReader):
    """Yields the fields of one request. `files` fills up meanwhile."""

    def __init__(self, files: set[str]) -> None:
        super().__init__(files, SCHEMA_KEYS | _WORDS["keys"], _WORDS["numbers"])

    def fields(self, container: Any, key: Any, value: Json, under: str = "") -> Iterator[MessageField]:
        if key != "images" or not value:
            yield from super().fields(container, key, value, under)
            return
        self.files.add(key)
        is_encoded = isinstance(value, list) and all(isinstance(each, str) and _BASE64.match(each) for each in value)
        if not is_encoded:
            yield from super().fields(container, key, value, under)

    def string(self, container: Any, key: Any, value: str, under: str, label: str) -> Iterator[MessageField]:
        if value and key == "tool_name":
            yield NameField(container, key, value)
        else:
            yield from super().string(container, key, value, under, label)

    def function(self, function: Body) -> Iterator[MessageField]:
        """Yields the fields of the function of a call. In its arguments, every key is the caller's."""
        for name, value in function.items():
            reader = ValueReader() if name == "arguments" else self
            yield from reader.fields(function, name, value)
        yield from unknown_keys(function, self.keys)


def begun_by_default_streamed(body: Body) -> Conversation:
    """Returns a conversation without blocks. Answers are streamed, unless the request says otherwise."""
    conversation = begun(body)
    conversation.stream = body.get("stream") is not False
    conversation.framing = "ndjson"
    return conversation
