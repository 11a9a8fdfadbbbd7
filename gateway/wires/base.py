"""What a wire protocol has to say to be protected: which strings are text, which are structure.

One file a wire in this folder; each defines `WIRE`. Discovery finds it, and two wires with one id fail at start.
"""

import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeGuard

from gateway.errors import GatewayError
from gateway.http.strict_json import Json, is_json
from gateway.models import PrivacyMode
from gateway.text.fields import JsonField, KeyField, MessageField, NameField, NumberField, TextField, can_identify, lead

type Body = dict[str, Any]

_DATA_URI = re.compile(r"\s*data:[^,\s]*[;,]", re.IGNORECASE)
_WORD = re.compile(r"[a-z][a-z_]{0,31}\Z")


@dataclass(slots=True)
class Conversation:
    """A request, taken apart. Applying the slots changes `body` in place.

    `blocks` holds the slots in the order a model reads them, cut where an assistant's turn begins: what a block
    becomes depends on it and the blocks before it alone, so that the next turn repeats the same bytes (law 5).
    `seed` is what the placeholder key is derived from: the first text of a user. Blocks before that text have been sent
    without it, so theirs is derived from `opening`, which stands in the first of them; there are `before_seed`.
    A conversation without any text of a user has its opening as its seed.
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


@dataclass(slots=True)
class AnswerText:
    """One string of an answer at `container[key]`, of the given choice.

    `json` marks tool-call arguments, `data` what no person reads, such as sound: nothing is restored in it.
    """

    container: Any
    key: Any
    text: str
    kind: Literal["text", "json", "data"] = "text"
    choice: int = 0
    tool: str | None = field(default=None, repr=False)


class Wire(Protocol):
    """One protocol of model calls."""

    @property
    def id(self) -> str: ...

    def serves(self, method: str, path: str) -> bool:
        """Whether this is a model call of this wire. `path` without query."""
        ...

    def harmless(self, method: str, path: str) -> bool:
        """Whether this call carries no text by its nature (a list of models) and may pass without a body."""
        ...

    def read(self, body: Body) -> Conversation:
        """Takes a request apart. Raises BadRequest for what the protocol does not allow."""
        ...

    def answer_texts(self, body: Body) -> list[AnswerText]:
        """The strings of an answer, structure left out."""
        ...

    def usage(self, body: Body) -> tuple[int, int] | None:
        """Input and output tokens as the upstream counted them, where it says so."""
        ...

    def annotate(self, body: Body, note: Body | None) -> None:
        """Puts the gateway's own member into an answer; nobody else's stays in its place."""
        ...

    def refuse_answer(self, body: Body, message: str) -> None:
        """Replaces every choice of an answer by `message`, finished by the content filter."""
        ...

    def error_body(self, error: GatewayError, request_id: str) -> Body:
        """An error as clients of this wire expect it."""
        ...


@dataclass(frozen=True, slots=True)
class Walk:
    """How to walk a part of a request.

    Keys in `structure` are the protocol's own words and are not looked at, nor is a plain word under `type`.
    Kinds of opaque content that were met are added to `attachments`.
    """

    structure: frozenset[str]
    attachments: set[str] = field(default_factory=set)

    def slots(self, container: Any, key: Any, value: Json, name: str = "") -> Iterator[MessageField]:
        """Every place under `container[key]` where text can stand: strings, numbers and unfamiliar keys.

        `name` is the unfamiliar key that a list stands under: what the strings in it are called.
        """
        is_named = isinstance(key, str)
        if is_named:
            name = "" if key in self.structure else key
        if isinstance(value, str):
            if _DATA_URI.match(value):
                self.attachments.add("data")
            elif value and key == "name" and key in self.structure:
                yield NameField(container, key, value)
            elif value:
                yield TextField(container, key, value, lead(name))
        elif isinstance(value, dict):
            for inner, member in value.items():
                if inner != "type" or not (isinstance(member, str) and _WORD.match(member)):
                    yield from self.slots(value, inner, member)
            yield from self.keys(value)
        elif isinstance(value, list):
            for index, member in enumerate(value):
                yield from self.slots(value, index, member, name)
        elif is_number(value) and can_identify(repr(value), is_named=is_named and name != ""):
            yield NumberField(container, key, value, lead(name))

    def keys(self, value: Body) -> Iterator[MessageField]:
        """Unfamiliar keys. They come after the values of their object, whose slots address it by the old name."""
        return (KeyField(value, name) for name in value if name not in self.structure)


def is_number(value: Json) -> TypeGuard[int | float]:
    """Whether a JSON value is a number: true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def json_field(container: Any, key: Any, value: str) -> MessageField:
    """The slot of a string that should hold a JSON document; one that does not is text as a whole."""
    return JsonField(container, key, value) if is_json(value) else TextField(container, key, value)


def answer_strings(value: Any, container: Any, key: Any, choice: int) -> Iterator[AnswerText]:
    """Every string under `value`, as plain text."""
    if isinstance(value, str):
        yield AnswerText(container, key, value, choice=choice)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from answer_strings(inner, value, name, choice)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from answer_strings(inner, value, index, choice)


class Wires:
    """All wires there are, found in this folder (and in `extra` folders, for a wire of one's own)."""

    def __init__(self, wires: Iterable[Wire]) -> None:
        self._wires = tuple(wires)
        ids = [wire.id for wire in self._wires]
        if len(ids) != len(set(ids)):
            raise ValueError("two wires share one id")

    @classmethod
    def discover(cls, *extra: Path) -> "Wires":
        found: list[Wire] = []
        for info in pkgutil.iter_modules([str(Path(__file__).parent)]):
            module = importlib.import_module(f"gateway.wires.{info.name}")
            if hasattr(module, "WIRE"):
                found.append(module.WIRE)
        for folder in extra:
            for info in pkgutil.iter_modules([str(folder)]):
                spec = info.module_finder.find_spec(info.name, None)
                if spec is None or spec.loader is None:
                    continue
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                found.append(module.WIRE)
        return cls(found)

    def serving(self, method: str, path: str) -> Wire | None:
        return next((wire for wire in self._wires if wire.serves(method, path)), None)

    def harmless(self, method: str, path: str) -> bool:
        return any(wire.harmless(method, path) for wire in self._wires)
