"""Defines the interface of a wire protocol, which separates text from structure, and discovers the wires.

Each file in this folder defines one wire as `WIRE`. Two wires with the same id fail at startup.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeGuard

from gateway.errors import GatewayError
from gateway.http.strict_json import Json, is_json
from gateway.models import PrivacyMode
from gateway.plugins import plugin_modules
from gateway.text.fields import JsonField, KeyField, MessageField, NameField, NumberField, TextField, can_identify, lead

type Body = dict[str, Any]
type Framing = Literal["sse", "json-array"]
"""How the events of a streamed answer are divided: as server-sent events, or as the items of a JSON array."""
type Channel = tuple[str | int, ...]
"""Names a text of a streamed answer that grows event by event."""

_DATA_URI = re.compile(r"\s*data:[^,\s]*[;,]", re.IGNORECASE)
_WORD = re.compile(r"[a-z][a-z_]{0,31}\Z")


@dataclass(slots=True)
class Conversation:
    """A parsed request. Applying its fields changes `body` in place.

    `blocks` has the fields in the order a model reads them, divided where an assistant's turn starts. The protected
    form of a block depends only on it and the blocks before it, so that the next turn repeats the same bytes (law
    5). The placeholder key is derived from `seed`, the first text of a user. The first `before_seed` blocks may
    have been sent without that text, so their key is derived from `opening`, which is in the first of them. Without
    a user's text, the opening is the seed.
    """

    body: Body
    model: str
    stream: bool
    blocks: list[list[MessageField]]
    seed: str
    opening: str = ""
    before_seed: int = 0
    attachments: tuple[str, ...] = ()
    task: str | None = None
    policy_id: str | None = None
    mode: PrivacyMode | None = None
    framing: Framing = "sse"

    @property
    def privacy_mode(self) -> PrivacyMode:
        """The mode asked for, else `standard`."""
        return self.mode or PrivacyMode.STANDARD

    def texts(self) -> list[str]:
        """Returns the texts of all fields in order."""
        return [text for block in self.blocks for field in block for text in field.texts]


@dataclass(slots=True)
class AnswerText:
    """A string at `container[key]` in a choice of an answer.

    `json` marks tool-call arguments, `data` content that is not text, such as audio, in which nothing is restored.
    In an event of a streamed answer, `channel` names the text that this string continues; without one it is complete.
    """

    container: Any
    key: Any
    text: str
    kind: Literal["text", "json", "data"] = "text"
    choice: int = 0
    tool: str | None = field(default=None, repr=False)
    channel: Channel | None = None


class EventFormat(Protocol):
    """How a wire streams an answer. Every event is a JSON object."""

    @property
    def names_events(self) -> bool:
        """Whether each server-sent event has its `type` as its name."""
        ...

    def texts(self, event: Body) -> list[AnswerText]:
        """Returns the strings of an event that are text."""
        ...

    def ends(self, event: Body, channel: Channel | None) -> bool:
        """Whether nothing continues `channel` after this event."""
        ...

    def continued(self, channel: Channel, text: str, last: Body) -> Body:
        """Returns an event that continues `channel` by `text`. `last` is the last event that continued it."""
        ...

    def usage(self, event: Body) -> tuple[int | None, int | None]:
        """Returns the input and output tokens that an event reports. Later events count."""
        ...

    def is_last(self, event: Body) -> bool:
        """Whether this is the event to put the gateway's own member into."""
        ...

    def refusal(self, message: str, like: Body) -> list[Body | bytes]:
        """Returns the events that end an answer with the finish reason `content_filter`.

        `like` is an earlier event, empty if there was none. Bytes are written as they are.
        """
        ...

    def error(self, error: GatewayError, request_id: str) -> Body:
        """Returns the event that reports an error to clients of this wire."""
        ...


class Wire(Protocol):
    """A protocol of model calls."""

    @property
    def id(self) -> str: ...

    @property
    def stream(self) -> EventFormat:
        """How answers are streamed."""
        ...

    def serves(self, method: str, path: str) -> bool:
        """Whether this is a model call of this wire. `path` has no query."""
        ...

    def harmless(self, method: str, path: str) -> bool:
        """Whether this call never carries text (a list of models) and may pass without a body."""
        ...

    def read(self, body: Body) -> Conversation:
        """Parses a request. Raises BadRequest if it violates the protocol."""
        ...

    def answer_texts(self, body: Body) -> list[AnswerText]:
        """Returns the strings of an answer that are text."""
        ...

    def usage(self, body: Body) -> tuple[int, int] | None:
        """Returns the input and output tokens that the upstream reports, if any."""
        ...

    def annotate(self, body: Body, note: Body | None) -> None:
        """Sets the gateway's own member of an answer, replacing any that the upstream sent."""
        ...

    def refuse_answer(self, body: Body, message: str) -> None:
        """Replaces every choice of an answer by `message`, with the finish reason `content_filter`."""
        ...

    def error_body(self, error: GatewayError, request_id: str) -> Body:
        """Returns an error in the format that clients of this wire expect."""
        ...


def text_fields(
    container: Any, key: Any, value: Json, structure: frozenset[str], attachments: set[str], name: str = ""
) -> Iterator[MessageField]:
    """Yields the fields under `container[key]`: strings, numbers and unknown keys.

    Skips keys in `structure`, which belong to the protocol, and plain words under `type`. Adds the kinds of opaque
    content it meets to `attachments`. `name` is the unknown key of an enclosing list, which names the strings in it.
    """
    is_named = isinstance(key, str)
    if is_named:
        name = "" if key in structure else key
    if isinstance(value, str):
        if _DATA_URI.match(value):
            attachments.add("data")
        elif value and key == "name" and key in structure:
            yield NameField(container, key, value)
        elif value:
            yield TextField(container, key, value, lead(name))
    elif isinstance(value, dict):
        for inner, member in value.items():
            if inner != "type" or not (isinstance(member, str) and _WORD.match(member)):
                yield from text_fields(value, inner, member, structure, attachments)
        yield from unknown_keys(value, structure)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from text_fields(value, index, member, structure, attachments, name)
    elif is_number(value) and can_identify(repr(value), is_named=is_named and name != ""):
        yield NumberField(container, key, value, lead(name))


def unknown_keys(value: Body, structure: frozenset[str]) -> Iterator[MessageField]:
    """Yields the keys that are not in `structure`. They follow the values of their object, whose fields refer to the
    old key.
    """
    return (KeyField(value, name) for name in value if name not in structure)


def is_number(value: Json) -> TypeGuard[int | float]:
    """Whether a JSON value is a number, which excludes booleans."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def json_field(container: Any, key: Any, value: str) -> MessageField:
    """Returns the field of a string that should be a JSON document. If it is not, all of it is text."""
    return JsonField(container, key, value) if is_json(value) else TextField(container, key, value)


def answer_strings(value: Any, container: Any, key: Any, choice: int) -> Iterator[AnswerText]:
    """Yields every string under `value` as plain text."""
    if isinstance(value, str):
        yield AnswerText(container, key, value, choice=choice)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from answer_strings(inner, value, name, choice)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from answer_strings(inner, value, index, choice)


class Wires:
    """All wires, discovered in this folder and in `extra` folders."""

    def __init__(self, wires: Iterable[Wire]) -> None:
        self._wires = tuple(wires)
        ids = [wire.id for wire in self._wires]
        if len(ids) != len(set(ids)):
            raise ValueError("two wires have the same id; rename one")

    @classmethod
    def discover(cls, *extra: Path) -> "Wires":
        modules = plugin_modules("gateway.wires", extra)
        return cls(module.WIRE for module in modules if hasattr(module, "WIRE"))

    def serving(self, method: str, path: str) -> Wire | None:
        return next((wire for wire in self._wires if wire.serves(method, path)), None)

    def harmless(self, method: str, path: str) -> bool:
        return any(wire.harmless(method, path) for wire in self._wires)
