"""What the guard must know to judge an answer: the session, the request, and what recognizers found in the answer."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Protocol

from gateway.detection.recognizer import EntityType
from gateway.errors import BadRequest
from gateway.guard.canonical_text import compact
from gateway.guard.verdict import Kind, Severity
from gateway.http.strict_json import dump, parse_object
from gateway.models import Entity
from gateway.placeholders import Placeholders, RestoreScope

# What calls of tools and their results are called: by the role of a message, a member of it, and the end of a type.
_TOOLS = frozenset({"tool", "function"})
_CALLS = frozenset({"tool_calls", "function_call"})
_CALL_TYPES = ("tool_use",)
_RESULT_TYPES = ("tool_result",)


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


@dataclass(frozen=True, slots=True)
class GuardContext:
    """The request behind an answer. `request` is what crossed, as it crossed: protected, JSON or plain text.

    `entities[i]` are the recognizers' candidates in the text of part i, found once and passed in; without them new
    sensitive values are not searched for.
    """

    placeholders: Placeholders
    scope: RestoreScope
    request: bytes = field(default=b"", repr=False)
    types: Mapping[str, EntityType] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    entities: Sequence[Sequence[Entity]] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Hit:
    """One finding: `text[start:end]` of a reading."""

    kind: Kind
    start: int
    end: int
    severity: Severity


class Source:
    """Tells what the protected request contains. Parses it only when asked.

    `named_for`: only what can say where these placeholders may go. The result of a tool may be anybody's, and the call
    of one is the model's; but a result that contains all of them, as a file with a password and its host does, counts.
    """

    def __init__(self, request: bytes, *, named_for: frozenset[str] | None = None) -> None:
        self._request = request
        self._named_for = named_for

    @cached_property
    def text(self) -> str:
        """In lower case; JSON's escapes of white space are white space."""
        text = self._request.decode("utf-8", "replace")
        if self._named_for is not None:
            text = _without_tools(text, self._named_for)
        return re.sub(r'\\[nrt"]', " ", text.lower())

    @cached_property
    def _compact(self) -> str:
        return compact(self.text)

    def holds(self, text: str) -> bool:
        """Whether it contains a text, in any letter case."""
        return text.lower() in self.text

    def names(self, word: str, *, whole: bool = False) -> bool:
        """Whether it contains a word, in lower case, by itself; a host also within a longer one, unless `whole`."""
        text, at = self.text, self.text.find(word)
        while at >= 0:
            before, after = text[at - 1 : at], text[at + len(word) : at + len(word) + 1]
            is_longer = whole and before == "." and not text.endswith("www.", 0, at)
            if not (before.isalnum() or before == "-" or after.isalnum() or after == "-" or is_longer):
                return True
            at = text.find(word, at + 1)
        return False

    def holds_loosely(self, text: str) -> bool:
        """Whether it contains the letters and digits of a text, however separated."""
        wanted = compact(text)
        return bool(wanted) and wanted in self._compact


def _without_tools(request: str, placeholders: frozenset[str]) -> str:
    """A conversation without calls of tools and their results, except results that contain all the placeholders."""
    try:
        body = parse_object(request)
    except BadRequest:
        return request
    messages = body.get("messages")
    if not isinstance(messages, list):
        return request
    kept = [_said(message, placeholders) for message in messages if _is_said(message, placeholders)]
    return dump({**body, "messages": kept}).decode()


def _said(value: Any, placeholders: frozenset[str]) -> Any:
    """A message without the calls and results among its members and blocks."""
    if isinstance(value, list):
        return [_said(each, placeholders) for each in value if _is_said(each, placeholders)]
    if isinstance(value, dict):
        return {name: _said(member, placeholders) for name, member in value.items() if name not in _CALLS}
    return value


def _is_said(value: Any, placeholders: frozenset[str]) -> bool:
    if not isinstance(value, dict):
        return True
    kind = value.get("type")
    kind = kind if isinstance(kind, str) else ""
    if kind.endswith(_CALL_TYPES):
        return False
    is_result = kind.endswith(_RESULT_TYPES) or value.get("role") in _TOOLS
    return not is_result or _contains(value, placeholders)


def _contains(message: Mapping[str, object], placeholders: frozenset[str]) -> bool:
    text = dump(message).decode()
    return bool(placeholders) and all(placeholder in text for placeholder in placeholders)
