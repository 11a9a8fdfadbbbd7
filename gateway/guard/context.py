"""What the guard must know to judge an answer: the session, the request, and what a recognizer saw in the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Protocol

from gateway.errors import BadRequest
from gateway.guard.canonical_text import compact
from gateway.guard.verdict import Kind, Severity
from gateway.http.strict_json import dump, parse_object
from gateway.models import Entity
from gateway.placeholders import Placeholders, RestoreScope

_TOOLS = frozenset({"tool", "function"})
_CALLS = frozenset({"tool_calls", "function_call"})


class AnswerPart(Protocol):
    """One string of an answer, by its key. `json` is what a tool is given, JSON or not; `data` is read by no person."""

    @property
    def text(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def choice(self) -> int: ...
    @property
    def key(self) -> object: ...


class Rules(Protocol):
    """The policy's guard rules."""

    def of(self, kind: str) -> str:
        """`off`, `flag`, `redact` or `replace` for the name of a rule."""
        ...


class TypeInfo(Protocol):
    """What is known of an entity type."""

    @property
    def group(self) -> str: ...


@dataclass(frozen=True, slots=True)
class GuardContext:
    """The request behind an answer. `request` is what crossed, as it crossed: protected, JSON or plain text.

    `entities[i]` are the recognizers' candidates in the text of part i, found once and passed in; without them new
    sensitive values are not looked for.
    """

    placeholders: Placeholders
    scope: RestoreScope
    request: bytes = field(default=b"", repr=False)
    types: Mapping[str, TypeInfo] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    entities: Sequence[Sequence[Entity]] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Hit:
    """One finding: `text[start:end]` of a reading."""

    kind: Kind
    start: int
    end: int
    severity: Severity


class Source:
    """The protected request, asked whether it held something. Reads it only when asked.

    `spoken_of`: only what those said who may say where these placeholders go. What a tool answered may be anybody's,
    and what a tool was asked is the model's; but an answer in which all of them stand, as in a file with a password and
    its host, says where they belong.
    """

    def __init__(self, request: bytes, *, spoken_of: frozenset[str] | None = None) -> None:
        self._request = request
        self._spoken_of = spoken_of

    @cached_property
    def text(self) -> str:
        """In lower case; JSON's escapes of white space are white space."""
        request = self._request.decode("utf-8", "replace")
        text = (request if self._spoken_of is None else _spoken(request, self._spoken_of)).lower()
        for escape in ("\\n", "\\r", "\\t", '\\"'):
            text = text.replace(escape, " ")
        return text

    @cached_property
    def _compact(self) -> str:
        return compact(self.text)

    def holds(self, text: str) -> bool:
        """Exactly, but for case."""
        return text.lower() in self.text

    def names(self, word: str, *, whole: bool = False) -> bool:
        """As a word of its own, in lower case; a host also as part of a longer one, unless the `whole` is asked for."""
        text, at = self.text, self.text.find(word)
        while at >= 0:
            before, after = text[at - 1 : at], text[at + len(word) : at + len(word) + 1]
            longer = whole and before == "." and not text.endswith("www.", 0, at)
            if not (before.isalnum() or before == "-" or after.isalnum() or after == "-" or longer):
                return True
            at = text.find(word, at + 1)
        return False

    def holds_loosely(self, text: str) -> bool:
        """Its letters and digits, in any case and however separated."""
        wanted = compact(text)
        return bool(wanted) and wanted in self._compact


def _spoken(request: str, placeholders: frozenset[str]) -> str:
    """A request without the calls of tools and their results, but for those in which all the placeholders stand.

    One that is no conversation is left as it is.
    """
    try:
        body = parse_object(request)
    except BadRequest:
        return request
    messages = body.get("messages")
    if not isinstance(messages, list):
        return request
    kept = [
        {name: value for name, value in message.items() if name not in _CALLS}
        for message in messages
        if isinstance(message, dict) and (message.get("role") not in _TOOLS or _hold(message, placeholders))
    ]
    return dump({**body, "messages": kept}).decode()


def _hold(message: Mapping[str, object], placeholders: frozenset[str]) -> bool:
    text = dump(message).decode()
    return bool(placeholders) and all(placeholder in text for placeholder in placeholders)
