"""Slots: the places of a parsed message where private text can stand, and how a protected text is put back there.

A wire (`gateway/wires/`) yields slots; `gateway/protection.py` looks at their `texts` and calls `apply` with what it
found. Everything a slot does not replace stays as it was, to the byte.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from gateway.models import Action, Entity
from gateway.placeholders import NUMBER, escape_json, number_literals, string_literals


@dataclass(frozen=True, slots=True)
class Span:
    """A finding that a policy acts on: `text[start:end]` of the slot's text becomes what `action` makes of it."""

    start: int
    end: int
    type: str
    action: Action
    score: float
    recognizer: str

    def entity(self) -> Entity:
        """The finding alone, without what becomes of it."""
        return Entity(self.type, self.start, self.end, self.score, self.recognizer)


class Replace(Protocol):
    """What a span becomes. `raw` is the spelling inside a JSON literal, where it is not the canonical one."""

    def __call__(self, span: Span, value: str, raw: str | None = None) -> str: ...


type Spans = Sequence[Span]


class Slot(Protocol):
    """One place of a message."""

    @property
    def texts(self) -> Sequence[str]:
        """The texts to look at, decoded."""
        ...

    def apply(self, spans: Sequence[Spans], replace: Replace) -> None:
        """Puts the protected text in place. `spans[i]` belong to `texts[i]`, sorted and disjoint."""
        ...

    def protected(self) -> Sequence[str]:
        """The texts as they stand now."""
        ...


def splice(text: str, spans: Spans, piece: Callable[[Span], str]) -> str:
    """`text` with each span replaced by `piece(span)`."""
    parts: list[str] = []
    position = 0
    for span in spans:
        parts.append(text[position : span.start])
        parts.append(piece(span))
        position = span.end
    parts.append(text[position:])
    return "".join(parts)


class TextSlot:
    """A plain string at `container[key]`."""

    __slots__ = ("_now", "container", "key", "texts")

    def __init__(self, container: Any, key: Any, text: str) -> None:
        self.container = container
        self.key = key
        self.texts = self._now = (text,)

    def apply(self, spans: Sequence[Spans], replace: Replace) -> None:
        if spans[0]:
            text = self.texts[0]
            self._now = (splice(text, spans[0], lambda span: replace(span, text[span.start : span.end])),)
            self.container[self.key] = self._now[0]

    def protected(self) -> Sequence[str]:
        return self._now


class KeySlot:
    """A key of an object; the order of the object's keys is kept.

    It is applied after the slots of the object's values, which address them by the old key.
    """

    __slots__ = ("_now", "container", "texts")

    def __init__(self, container: dict[str, Any], key: str) -> None:
        self.container = container
        self.texts = (key,)
        self._now = key

    def apply(self, spans: Sequence[Spans], replace: Replace) -> None:
        if not spans[0]:
            return
        old = self.texts[0]
        new = splice(old, spans[0], lambda span: replace(span, old[span.start : span.end]))
        items = [(new if key == old else key, value) for key, value in self.container.items()]
        self.container.clear()
        self.container.update(items)
        self._now = new

    def protected(self) -> Sequence[str]:
        return (self._now,)


class NumberSlot:
    """A JSON number at `container[key]`; a finding in it replaces the number as a whole, by a string."""

    __slots__ = ("_now", "container", "key", "texts")

    def __init__(self, container: Any, key: Any, number: int | float) -> None:
        self.container = container
        self.key = key
        self.texts = self._now = (repr(number),)

    def apply(self, spans: Sequence[Spans], replace: Replace) -> None:
        if spans[0]:
            token = self.texts[0]
            whole = _whole(spans[0], len(token))
            self._now = (replace(whole, token, NUMBER + token),)
            self.container[self.key] = self._now[0]

    def protected(self) -> Sequence[str]:
        return self._now


def _whole(spans: Spans, length: int) -> Span:
    best = max(spans, key=lambda span: span.score)
    return replace(best, start=0, end=length)


class JsonSlot:
    """A string at `container[key]` that holds a JSON document, as the arguments of a tool call do.

    Only the bytes of the findings change inside it: white space, escapes and number spellings around them stay.
    """

    __slots__ = ("_now", "_numbers", "_strings", "container", "document", "key", "texts")

    def __init__(self, container: Any, key: Any, document: str) -> None:
        self.container = container
        self.key = key
        self.document = self._now = document
        self._strings = string_literals(document)
        self._numbers = number_literals(document)
        self.texts = [literal.value for literal in self._strings] + [n.value for n in self._numbers]

    def apply(self, spans: Sequence[Spans], replace: Replace) -> None:
        pieces: list[tuple[int, int, str]] = []
        for literal, found in zip(self._strings, spans, strict=False):
            for span in found:
                start, end = literal.raw_span(span.start, span.end)
                value = literal.value[span.start : span.end]
                spelled = self.document[start:end]
                raw = None if spelled == escape_json(value) else spelled
                pieces.append((start, end, escape_json(replace(span, value, raw))))
        for number, found in zip(self._numbers, spans[len(self._strings) :], strict=True):
            if found:
                token = number.value
                text = replace(_whole(found, len(token)), token, NUMBER + token)
                pieces.append((number.start, number.end, f'"{escape_json(text)}"'))
        if not pieces:
            return
        pieces.sort()
        parts: list[str] = []
        position = 0
        for start, end, text in pieces:
            parts += (self.document[position:start], text)
            position = end
        parts.append(self.document[position:])
        self._now = self.container[self.key] = "".join(parts)

    def protected(self) -> Sequence[str]:
        return [literal.value for literal in string_literals(self._now)]
