"""Reads a request of the Gemini wire: the texts of contents, tools and settings.

The API takes every name in camel case and in snake case, and clients mix them. Names are compared in camel case.
Thought signatures are sent byte for byte if they look like opaque data.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from gateway.detection.data_files import word_lists
from gateway.errors import BadRequest
from gateway.http.strict_json import Json
from gateway.text.fields import MessageField, NameField, NumberField, Place, SettingField, TextField, placed
from gateway.text.uuids import is_drawn
from gateway.wires.attached_files import part_of_gemini
from gateway.wires.base import Body
from gateway.wires.reading import (
    SCHEMA_KEYS,
    FieldReader,
    Turn,
    ValueReader,
    continuing,
    is_opaque,
    plain_text,
    unknown_keys,
)

_WORDS = word_lists(__file__)
_SNAKE = re.compile(r"(?<=[a-z0-9])([A-Z])")
_CAMEL = re.compile(r"_([a-z])")
_CAMEL_KEYS = SCHEMA_KEYS | _WORDS["keys"]
KEYS = _CAMEL_KEYS | {_SNAKE.sub(r"_\1", word).lower() for word in _CAMEL_KEYS if not word.startswith("$")}
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]*={0,2}\Z")


def camel(name: str) -> str:
    """Returns a name of the protocol in camel case."""
    return _CAMEL.sub(lambda letter: letter[1].upper(), name)


def named_requests(body: Body) -> Iterator[Body]:
    """Yields the objects of a body that can name the model."""
    yield body
    for name, value in body.items():
        if camel(name) in {"generateContentRequest", "requests"}:
            listed = value if isinstance(value, list) else [value]
            yield from (each for each in listed if isinstance(each, dict))


def items(value: Any, where: str) -> list[Any]:
    """Returns the items of a list. As in the API, a single object stands for a list of one. Raises BadRequest."""
    if isinstance(value, dict):
        return [value]
    if value is not None and not isinstance(value, list):
        raise BadRequest(f"`{where}` must be a list.", param=where)
    return value or []


def _check_role(content: Any, where: str) -> str:
    if not isinstance(content, dict):
        raise BadRequest(f"`{where}` must be an object.", param=where)
    role = content.get("role") or ""
    if not isinstance(role, str) or role not in {"", *_WORDS["roles"]}:
        raise BadRequest(f"`{where}.role` must be `user` or `model`.", param=f"{where}.role")
    return role or "user"


class RequestReader(FieldReader):
    """Yields the fields of one request. `files` fills up meanwhile."""

    def __init__(self, files: set[str]) -> None:
        super().__init__(files, KEYS)
        # Whether the content that is being read is an answer of the model.
        self._is_models = False

    def turns(self, contents: list[Any]) -> Iterator[Turn]:
        """Yields the contents as messages. Raises BadRequest."""
        for index, content in enumerate(contents):
            where = f"contents[{index}]"
            role = _check_role(content, where)
            parts = content.get("parts")
            listed = [parts] if isinstance(parts, dict) else parts
            said = plain_text(listed) if role == "user" and isinstance(listed, list) else ""
            fields = self.content(contents, index, where)
            yield role == "model", said, placed(Place.INSTRUCTIONS, fields) if role == "system" else fields

    def content(self, container: Any, key: Any, where: str) -> Iterator[MessageField]:
        """Yields the fields of a content: a string, or an object with parts. Raises BadRequest."""
        content = container[key]
        self._is_models = isinstance(content, dict) and content.get("role") == "model"
        if not isinstance(content, dict):
            yield from self.fields(container, key, content)
            return
        for name, value in content.items():
            if name == "parts" and value is not None and not isinstance(value, str):
                goes_on = False
                for position, part in enumerate(items(value, f"{where}.parts")):
                    is_text = isinstance(part, dict) and "text" in part
                    fields = self._part(value, position, part)
                    yield from continuing(fields) if goes_on and is_text else fields
                    goes_on = is_text
            else:
                yield from self.fields(content, name, value)
        yield from unknown_keys(content, KEYS)

    def _part(self, parts: Any, position: int, part: Any) -> Iterator[MessageField]:
        if not isinstance(part, dict):
            self.files.add("unknown")
            yield from self.fields(parts, position, part)
            return
        kinds = {camel(name) for name in part}
        if kinds == {"inlineData"}:
            passing = partial(self._passing, part, kinds)
            if (document := part_of_gemini(parts, position, part, passing)) is not None:
                yield document
                return
        yield from self._passing(part, kinds)

    def _passing(self, part: Body, kinds: set[str]) -> Iterator[MessageField]:
        """Yields the fields of a part that is sent as it is, but for what is hidden in them."""
        self.files |= kinds & _WORDS["files"]
        if kinds and kinds.isdisjoint(_WORDS["content"] | _WORDS["files"]):
            self.files.add("unknown")
        yield from self.members(part)

    def string(self, container: Any, key: Any, value: str, under: str, label: str) -> Iterator[MessageField]:
        name = camel(under)
        if not value or (name in _WORDS["enums"] and value.upper() in _WORDS["enum_words"]):
            return
        if name == "sessionId" and is_drawn(value):
            return
        if name == "thoughtSignature" and self._is_models and is_opaque(value):
            return
        if name == "data" and _BASE64.match(value):
            # A file, or something that is no text to the model either.
            self.files.add("inlineData")
            return
        is_name = name in _WORDS["names"]
        yield NameField(container, key, value) if is_name else TextField(container, key, value, label)

    def number(self, container: Any, key: Any, value: float, under: str, label: str) -> MessageField:
        is_setting = isinstance(key, str) and camel(key) in _WORDS["numbers"]
        return SettingField(container, key, value) if is_setting else NumberField(container, key, value, label)

    def member(self, container: Body, name: str, value: Json) -> Iterator[MessageField]:
        known = camel(name)
        if known in _WORDS["calls"] and isinstance(value, dict):
            fields = self._call(value)
        elif known in {"labels", "partMetadata"}:
            fields = ValueReader().fields(container, name, value)
        else:
            fields = self.fields(container, name, value)
        return placed(Place.TOOL_RESULT, fields) if known in _WORDS["results"] else fields

    def _call(self, call: Body) -> Iterator[MessageField]:
        """Yields the fields of a call or its result, in whose values every key is the caller's."""
        for name, value in call.items():
            if name in {"args", "response"}:
                yield from ValueReader(documents=name == "response").fields(call, name, value)
            elif name == "parts" and isinstance(value, list):
                for position, part in enumerate(value):
                    yield from self._part(value, position, part)
            else:
                yield from self.fields(call, name, value)
        yield from unknown_keys(call, KEYS)
