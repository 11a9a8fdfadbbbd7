"""Defines the fields of a parsed message that can hold private text, and writes protected text back to them.

A wire (`gateway/wires/`) yields fields; `gateway/protection/protector.py` searches their `texts` and calls `apply` with
the spans. Everything outside the spans keeps its exact bytes.

Detection searches a structured value with what announces it as a prefix (`gateway/text/leads.py`). This `lead` is only
for detection; entities inside it belong to the field of the name.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from enum import Enum, auto
from itertools import accumulate
from typing import Any, NamedTuple, Protocol

from gateway.errors import BadRequest
from gateway.models import Action, Entity
from gateway.placeholders import NUMBER, escape_json, number_at, number_literals, string_literals
from gateway.placeholders import splice as spliced
from gateway.text.leads import document_leads, lead_beside

# Minimum number of digits of numbers that detection searches, without and with a name.
_SHORTEST_NUMBER = 7
_SHORTEST_NAMED_NUMBER = 3
_COLON = re.compile(r"\s*:\s*")
# Programs write long numbers so, PHP and R for example. Those of Windows may write the exponent with three digits.
_EXPONENT = re.compile(r"[^eE]+[eE][+-]?0*\d{1,2}\Z")
# The characters that the OpenAI API accepts in names.
_NAME = re.compile(r"[a-zA-Z0-9_-]+\Z")
_BLANK = re.compile(r"\s")
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]+")


class Span(NamedTuple):
    """An entity and the policy's action for it. `text[start:end]` refers to a text of a field.

    `is_repeat` says that nothing recognized it there: it is a value that was recognized elsewhere.
    """

    start: int
    end: int
    type: str
    action: Action
    score: float
    recognizer: str
    is_repeat: bool = False

    def entity(self) -> Entity:
        """Returns the entity without the action."""
        return Entity(self.type, self.start, self.end, self.score, self.recognizer)


class Replace(Protocol):
    """Returns the replacement for a span. `raw` is its spelling inside a JSON literal, if that is not canonical."""

    def __call__(self, span: Span, value: str, raw: str | None = None) -> str: ...


type Spans = Sequence[Span]


class Place(Enum):
    """The part of a conversation that a field belongs to."""

    MESSAGE = auto()
    """Text of users and of the model, calls of tools included."""
    TOOL_RESULT = auto()
    INSTRUCTIONS = auto()
    """System prompts, and the definitions of tools and formats."""
    SETTINGS = auto()
    """Members of the single request, such as metadata, that are no part of the conversation."""


class MessageField(Protocol):
    """A field of a message, at `container[key]`.

    `starts` are the offsets of the replacements in the changed text, where the spans do not give them.
    """

    container: Any
    key: Any
    place: Place
    starts: Sequence[int] | None

    @property
    def texts(self) -> Sequence[str]:
        """Returns the decoded texts to search."""
        ...

    def apply(self, spans: Sequence[Spans], replace: Replace) -> None:
        """Replaces spans in place. `spans[i]` belong to `texts[i]`, sorted and disjoint."""
        ...

    def protected(self) -> Sequence[str]:
        """Returns the texts in their current state."""
        ...


def placed(place: Place, fields: Iterable[MessageField]) -> Iterator[MessageField]:
    """Yields the fields, which belong to a part of the conversation."""
    for field in fields:
        field.place = place
        yield field


def splice(text: str, spans: Spans, piece: Callable[[Span], str]) -> str:
    """Returns `text` with each span replaced by `piece(span)`."""
    return spliced(text, ((span.start, span.end, piece(span)) for span in spans))


def can_identify(number: str, *, is_named: bool) -> bool:
    """Returns whether a JSON number is long enough to be an identifier."""
    return sum(map(str.isdigit, number)) >= (_SHORTEST_NAMED_NUMBER if is_named else _SHORTEST_NUMBER)


def _plain(number: str) -> str:
    """Returns a JSON number as detection knows it: without an exponent, unless that is huge."""
    return f"{Decimal(number):f}" if _EXPONENT.match(number) else number


def _after_lead(lead: int, spans: Spans) -> Spans:
    """Shifts spans by the length of a lead, and drops those inside it."""
    if not lead:
        return spans
    return [span._replace(start=max(0, span.start - lead), end=span.end - lead) for span in spans if span.end > lead]


class _OneText:
    """A field with one text. `lead` precedes it for detection."""

    __slots__ = ("_lead", "_now", "container", "key", "place", "starts", "texts")

    def __init__(self, container: Any, key: Any, text: str, lead: str = "") -> None:
        self.place = Place.MESSAGE
        self.starts: Sequence[int] | None = None
        self.container = container
        self.key = key
        self.texts: tuple[str, ...] = (lead + text,)
        self._lead = len(lead)
        self._now = text

    def protected(self) -> Sequence[str]:
        return (self._now,)


class TextField(_OneText):
    """A plain string at `container[key]`.

    `goes_on` says that a model reads it as a continuation of the previous text.
    """

    __slots__ = ("goes_on",)

    def __init__(self, container: Any, key: Any, text: str, lead: str = "") -> None:
        super().__init__(container, key, text, lead_beside(container, key) or lead)
        self.goes_on = False

    def apply(self, spans: Sequence[Spans], replace: Replace) -> None:
        if found := _after_lead(self._lead, spans[0]):
            text = self._now
            self._now = splice(text, found, lambda span: replace(span, text[span.start : span.end]))
            self.container[self.key] = self._now


class NameField(TextField):
    """A name of the protocol at `container[key]`. Any span in it hides the whole name.

    If the name has only the characters allowed in names, the replacement does, too: a placeholder without brackets,
    which restoring accepts.
    """

    __slots__ = ()

    @property
    def is_identifier(self) -> bool:
        """Whether parts of a message may refer to each other by this name, which is not announced as a person's."""
        return not self._lead and _BLANK.search(self.texts[0]) is None

    def apply(self, spans: Sequence[Spans], replace: Replace) -> None:
        if found := _after_lead(self._lead, spans[0]):
            name = self._now
            self._now = replace(_whole(found, len(name)), name)
            if _NAME.match(name):
                self._now = _NOT_IN_NAMES.sub("_", self._now.strip("[]"))
            self.container[self.key] = self._now


class KeyField(_OneText):
    """A key of an object. Replacing it keeps the order of keys.

    Apply it after the fields of the object's values, which refer to the old key.
    """

    __slots__ = ()

    def __init__(self, container: dict[str, Any], key: str) -> None:
        super().__init__(container, key, key)

    def apply(self, spans: Sequence[Spans], replace: Replace) -> None:
        if not spans[0]:
            return
        old = self._now
        self._now = splice(old, spans[0], lambda span: replace(span, old[span.start : span.end]))
        items = [(self._now if key == old else key, value) for key, value in self.container.items()]
        self.container.clear()
        self.container.update(items)


class PropertyField(KeyField):
    """A key under `properties` of a JSON Schema: the name of a parameter, say."""

    __slots__ = ()


class NumberField(_OneText):
    """A JSON number at `container[key]`. Any span in it replaces the whole number by a string."""

    __slots__ = ()

    def __init__(self, container: Any, key: Any, number: int | float, lead: str = "") -> None:
        before = lead_beside(container, key) or lead
        super().__init__(container, key, repr(number), before)
        self.texts = (before + _plain(self._now),)

    def apply(self, spans: Sequence[Spans], replace: Replace) -> None:
        if found := _after_lead(self._lead, spans[0]):
            token = self._now
            self._now = replace(_whole(found, len(token)), token, NUMBER + token)
            self.container[self.key] = self._now


class SettingField(NumberField):
    """A field that must be a number in the protocol, so that a private one can be neither sent nor replaced."""

    __slots__ = ()

    def apply(self, spans: Sequence[Spans], replace: Replace) -> None:
        """Raises BadRequest."""
        raise BadRequest(f"`{self.key}` looks like private text; use another number.", param=self.key)


def _whole(spans: Spans, length: int) -> Span:
    return max(spans, key=lambda span: span.score)._replace(start=0, end=length)


class JsonField:
    """A string at `container[key]` with a JSON document, such as the arguments of a tool call.

    Only the bytes of the spans change; white space, escapes and number spellings around them stay. `starts` are in the
    order in which the replacements were asked for.
    """

    __slots__ = ("_leads", "_literals", "_now", "_strings", "container", "document", "key", "place", "starts", "texts")

    def __init__(self, container: Any, key: Any, document: str) -> None:
        self.place = Place.MESSAGE
        self.container = container
        self.key = key
        self.document = self._now = document
        self.starts: Sequence[int] | None = None
        strings = string_literals(document)
        names, numbers = [], {number.start: number for number in number_literals(document)}
        for literal in strings:
            if colon := _COLON.match(document, literal.end):
                names.append(literal)
                number = number_at(document, colon.end())
                if number is not None and can_identify(number.value, is_named=True):
                    numbers[number.start] = number
        self._strings = len(strings)
        self._literals = [*strings, *(numbers[start] for start in sorted(numbers))]
        self._leads = document_leads(document, self._literals, names)
        read = [each.value for each in strings] + [_plain(each.value) for each in self._literals[len(strings) :]]
        self.texts = [before + text for before, text in zip(self._leads, read, strict=True)]

    def apply(self, spans: Sequence[Spans], replace: Replace) -> None:
        pieces: list[tuple[int, int, str]] = []
        for index, literal in enumerate(self._literals):
            found = _after_lead(len(self._leads[index]), spans[index])
            if index < self._strings:
                for span in found:
                    start, end = literal.raw_span(span.start, span.end)
                    value = literal.value[span.start : span.end]
                    spelled = self.document[start:end]
                    raw = None if spelled == escape_json(value) else spelled
                    pieces.append((start, end, escape_json(replace(span, value, raw))))
            elif found:
                token = literal.value
                text = replace(_whole(found, len(token)), token, NUMBER + token)
                pieces.append((literal.start, literal.end, f'"{escape_json(text)}"'))
        if pieces:
            ordered = sorted(pieces)
            self._now = self.container[self.key] = spliced(self.document, ordered)
            growth = accumulate((len(text) - (end - start) for start, end, text in ordered), initial=0)
            moved = {start: start + by for (start, *_), by in zip(ordered, growth, strict=False)}
            self.starts = [moved[start] + text.startswith('"') for start, _, text in pieces]

    def protected(self) -> Sequence[str]:
        return [literal.value for literal in string_literals(self._now)]
