"""Reads the items of the Responses API: messages, calls of tools with their outputs, reasoning.

Everything that is not known to be structure is text: unknown items, members and keys are searched like a message.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from gateway.detection.data_files import word_lists
from gateway.errors import BadRequest
from gateway.http.strict_json import Json, is_json
from gateway.text.fields import MessageField, Place, TextField, placed
from gateway.text.uuids import is_drawn
from gateway.wires.attached_files import part_of_openai
from gateway.wires.base import Body
from gateway.wires.openai_reading import OpenAIReader
from gateway.wires.reading import (
    SCHEMA_KEYS,
    Turn,
    continuing,
    is_opaque,
    json_field,
    kind_of,
    plain_text,
    unknown_keys,
    word,
)

_WORDS = word_lists(__file__)
KEYS = SCHEMA_KEYS | _WORDS["keys"]


def _is_made(item: Body) -> bool:
    """Whether an item is part of a turn of the model."""
    role, kind = item.get("role"), word(item.get("type"))
    return role == "assistant" if isinstance(role, str) else kind in _WORDS["made"] or kind.endswith("_call")


def _place_of(item: Body) -> Place:
    """Returns the part of the conversation that an item belongs to."""
    if item.get("role") in ("system", "developer"):
        return Place.INSTRUCTIONS
    is_result = item.get("role") == "tool" or word(item.get("type")).endswith("_output")
    return Place.TOOL_RESULT if is_result else Place.MESSAGE


def _is_structure(item: Body, name: str, value: Json) -> bool:
    """Whether a member cannot be text: a role or status, the id of a session, or what the provider encrypted."""
    if not isinstance(value, str):
        return False
    return (
        (name == "role" and value in _WORDS["roles"])
        or (name == "status" and value in _WORDS["statuses"])
        or (name == "phase" and value in _WORDS["phases"])
        or (name == "encrypted_content" and word(item.get("type")) not in _WORDS["said"] and is_opaque(value))
        or is_session_id(name, value)
        or (name == "type" and value.isidentifier() and value.islower())
    )


def is_session_id(name: str, value: Json) -> bool:
    """Whether a member is an id that an agent has drawn for its session, and has in its headers as well."""
    return name in _WORDS["ids"] and isinstance(value, str) and is_drawn(value)


class ItemReader(OpenAIReader):
    """Yields the fields of items, and of the other members of a request."""

    def __init__(self, files: set[str]) -> None:
        super().__init__(files, KEYS, _WORDS["numbers"])
        # Reads objects whose keys are the caller's.
        self._own = OpenAIReader(files)

    def turns(self, items: list[Any]) -> Iterator[Turn]:
        """Yields the items as messages. Raises BadRequest."""
        was_made = False
        for position, item in enumerate(items):
            where = f"input[{position}]"
            if not isinstance(item, dict):
                raise BadRequest(f"`{where}` must be an object.", param=where)
            is_made = _is_made(item)
            said = plain_text(item.get("content")) if item.get("role") == "user" else ""
            yield is_made and not was_made, said, placed(_place_of(item), self._item(item, where))
            was_made = is_made

    def _item(self, item: Body, where: str) -> Iterator[MessageField]:
        if item.get("type") == "image_generation_call" and isinstance(item.get("result"), str):
            self.files.add("image_generation_call")
        for name, value in item.items():
            if name in _WORDS["parts"] and isinstance(value, list):
                for position, part in enumerate(value):
                    yield from self._part(value, position, part, where)
            elif not _is_structure(item, name, value):
                yield from self.item_member(item, name, value)
        yield from unknown_keys(item, KEYS)

    def item_member(self, container: Body, name: str, value: Json) -> Iterator[MessageField]:
        """Yields the fields of a member of an item, a part or a tool."""
        if isinstance(value, str) and (name == "arguments" or (name == "output" and value.lstrip()[:1] in {"{", "["})):
            yield json_field(container, name, value)
        elif name == "arguments":
            yield from self._own.fields(container, name, value)
        elif name in _WORDS["own_keys"] and isinstance(value, dict):
            yield from self._callers(value)
        elif name not in _WORDS["schemas"] and isinstance(value, dict):
            yield from self._object(value)
        elif name not in _WORDS["schemas"] and isinstance(value, list):
            for position, member in enumerate(value):
                if isinstance(member, dict):
                    yield from self._object(member)
                else:
                    yield from self.fields(value, position, member, "" if name in KEYS else name)
        else:
            yield from self.fields(container, name, value)

    def _object(self, value: Body) -> Iterator[MessageField]:
        self._note_file(value)
        for name, member in value.items():
            if not _is_structure(value, name, member):
                yield from self.item_member(value, name, member)
        yield from unknown_keys(value, KEYS)

    def _callers(self, value: Body) -> Iterator[MessageField]:
        """Yields the fields of an object whose keys are the caller's. Its values may be JSON documents."""
        for name, member in value.items():
            if is_session_id(name, member):
                continue
            if isinstance(member, str) and member.lstrip()[:1] == "{" and is_json(member):
                yield json_field(value, name, member)
                continue
            if isinstance(member, dict):
                self._note_file(member)
            yield from self._own.fields(value, name, member)
        yield from unknown_keys(value, frozenset())

    def _note_file(self, value: Body) -> None:
        if kind_of(value) in _WORDS["files"]:
            self.files.add(kind_of(value))

    def _part(self, parts: list[Any], position: int, part: Any, where: str) -> Iterator[MessageField]:
        if not isinstance(part, dict | str):
            raise BadRequest(f"A part of `{where}` must be an object.", param=where)
        if isinstance(part, str):
            yield from self.fields(parts, position, part)
            return
        passing = partial(self._passing, position, part)
        document = (
            part_of_openai(parts, position, part, "input_text", passing) if kind_of(part) == "input_file" else None
        )
        yield from (document,) if document is not None else passing()

    def _passing(self, position: int, part: Body) -> Iterator[MessageField]:
        """Yields the fields of a part that is sent as it is, but for what is hidden in them."""
        # The output of a shell is parts without a type.
        is_output = part.get("type") is None and part.keys() & {"stdout", "stderr"}
        if kind_of(part) not in _WORDS["text_parts"] and not is_output:
            self.files.add(kind_of(part))
        if part.get("logprobs"):
            # The text in pieces, and as numbers, which no search sees. No model reads it.
            part["logprobs"] = []
        for name, value in part.items():
            if not _is_structure(part, name, value):
                fields = self.item_member(part, name, value)
                yield from continuing(fields) if position else fields
        yield from unknown_keys(part, KEYS)

    def setting(self, body: Body, name: str, value: Json) -> Iterator[MessageField]:
        """Yields the fields of a member of the single request. Words that the protocol allows in one are no text."""
        if is_session_id(name, value):
            return iter(())
        is_plain = name not in _WORDS["own_keys"] and isinstance(value, str | int | float)
        found = super().setting(body, name, value) if is_plain else self.item_member(body, name, value)
        values = _WORDS["values"]
        return (field for field in found if not (isinstance(field, TextField) and field.texts[0] in values))
