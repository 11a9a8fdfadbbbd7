"""What a recognizer is, and the two ways to write one: patterns with checks, or a plain function behind a
gate.

Every expression is RE2 syntax (https://github.com/google/re2/wiki/Syntax): linear time, no look-around, no
back-references.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol

import re2

from gateway.detection.entropy import inside_blob, word_set
from gateway.detection.normalized_text import View
from gateway.detection.re2_expression import Expression

CONTEXT_BEFORE = 90
CONTEXT_AFTER = 40
"""Bytes of the view around a match in which context words count."""

_CONTEXT_GAIN = 0.4
_UNVALIDATED_MOST = 0.95
# Where RE2's usual memory does not hold the automaton of a large expression, it falls back to a search that takes ten
# times as long.
_LARGE, _LARGE_MEMORY = 10_000, 32 << 20


class DefinitionError(ValueError):
    """A recognizer is wrongly defined. Raised at start, never for a text."""


@dataclass(frozen=True, slots=True)
class EntityType:
    """What can be found. `group` is what policies may rule on together; names follow Presidio where it has
    one.
    """

    name: str
    group: str
    description: str


GROUPS = word_set(
    "person contact address organization financial government_id health secret network device temporal account custom"
)


class Match(NamedTuple):
    """A candidate: byte offsets into `View.data`, a score (0-1), and the name of the type."""

    start: int
    end: int
    score: float
    type: str


@dataclass(frozen=True, slots=True)
class Example:
    """In `text`, the recognizer must find exactly `value`, as `type` (default: its first), with at least
    `score`.
    """

    text: str
    value: str
    type: str = ""
    score: float = 0.5


class Recognizer(Protocol):
    """The extension point. `find` runs only on texts in which one of `gates` occurs; `hits` says which, by
    index.
    """

    @property
    def id(self) -> str: ...
    @property
    def types(self) -> Sequence[EntityType]: ...
    @property
    def gates(self) -> Sequence[str]: ...
    @property
    def examples(self) -> Sequence[Example]: ...
    @property
    def counter_examples(self) -> Sequence[str]: ...
    @property
    def definition(self) -> str:
        """Changes whenever what the recognizer finds may change; part of the detector's version."""
        ...

    def find(self, view: View, hits: Sequence[int]) -> Iterable[Match]: ...


Validator = Callable[[str], bool | None]
"""Gets the folded value. True: certainly, score 1.0. False: certainly not, dropped. None: the score stays."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One expression, with the score of what it finds.

    `group` is the part that is private. `gate`, if given, must occur wherever `regex` does, and be cheaper.
    With `needs_context`, a match without a context word near is nothing. `reach` (bytes before, bytes after)
    keeps an expensive expression to the neighbourhood of each place where the gate matches. With `retry`, a
    match the checks refuse is searched again from its second word, as another may begin there; only for
    expressions of bounded length, or the search would not be linear.
    """

    regex: str
    score: float
    group: int = 0
    gate: str | None = None
    needs_context: bool = False
    reach: tuple[int, int] | None = None
    retry: bool = False


@dataclass(frozen=True)
class PatternRecognizer:
    """Finds by expression; context words raise the score, a validator overrides it.

    Matches from inside a longer run of base64 are dropped unless `blobs` allows them.
    """

    id: str
    type: EntityType
    patterns: tuple[Pattern, ...]
    context: tuple[str, ...] = ()
    validator: Validator | None = None
    blobs: bool = False
    examples: tuple[Example, ...] = field(default=(), compare=False)
    counter_examples: tuple[str, ...] = field(default=(), compare=False)

    @property
    def types(self) -> tuple[EntityType, ...]:
        return (self.type,)

    @cached_property
    def gates(self) -> tuple[str, ...]:
        return tuple(pattern.gate or pattern.regex for pattern in self.patterns)

    @cached_property
    def definition(self) -> str:
        return repr((self.id, self.type, self.patterns, self.context, self.blobs, code_digest(self.validator)))

    @cached_property
    def _compiled(self) -> tuple[Expression, ...]:
        return tuple(compile_pattern(pattern.regex) for pattern in self.patterns)

    @cached_property
    def _context(self) -> Expression | None:
        return compile_pattern(any_word(self.context)) if self.context else None

    @cached_property
    def _compiled_gates(self) -> tuple[Expression, ...]:
        return tuple(compile_pattern(gate) for gate in self.gates)

    def find(self, view: View, hits: Sequence[int]) -> Iterator[Match]:
        data = view.data
        verdicts: dict[str, bool | None] = {}
        for hit in hits:
            pattern = self.patterns[hit]
            areas = iter(((0, len(data)),))
            if pattern.reach is not None:
                areas = _neighbourhoods(data, self._compiled_gates[hit], *pattern.reach)
            for first, last in areas:
                yield from self._search(view, pattern, self._compiled[hit], first, last, verdicts)

    def _search(
        self,
        view: View,
        pattern: Pattern,
        expression: Expression,
        at: int,
        last: int,
        verdicts: dict[str, bool | None],
    ) -> Iterator[Match]:
        while match := expression.search(view.data, at, last):
            start, end = match.span(pattern.group)
            score = self._score(view, pattern, start, end, verdicts)
            if score is not None:
                yield Match(start, end, score, self.type.name)
            at = max(match.end(), match.start() + 1)
            if score is None and pattern.retry:
                at = _next_word(view.data, start, end)

    def _score(
        self, view: View, pattern: Pattern, start: int, end: int, verdicts: dict[str, bool | None]
    ) -> float | None:
        """`verdicts`: the validator's, of this text. A value that is repeated is not validated again."""
        if start >= end or (not self.blobs and inside_blob(view.data, start, end)):
            return None
        verdict = None
        if self.validator is not None:
            value = view.text(start, end)
            if value not in verdicts:
                verdicts[value] = self.validator(value)
            verdict = verdicts[value]
        if verdict is False:
            return None
        if verdict and not pattern.needs_context:
            return 1.0
        near = self._context is not None and near_context(self._context, view.data, start, end)
        if pattern.needs_context and not near:
            return None
        if verdict:
            return 1.0
        return min(pattern.score + _CONTEXT_GAIN, _UNVALIDATED_MOST) if near else pattern.score


@dataclass(frozen=True)
class FunctionRecognizer:
    """Finds by a plain function, which runs only where one of `gates` occurs: keep them precise, they are the
    speed.
    """

    id: str
    types: tuple[EntityType, ...]
    gates: tuple[str, ...]
    function: Callable[[View, Sequence[int]], Iterable[Match]]
    examples: tuple[Example, ...] = field(default=(), compare=False)
    counter_examples: tuple[str, ...] = field(default=(), compare=False)

    @cached_property
    def definition(self) -> str:
        return repr((self.id, self.types, self.gates, code_digest(self.function)))

    def find(self, view: View, hits: Sequence[int]) -> Iterable[Match]:
        return self.function(view, hits)


def _neighbourhoods(data: bytes, gate: Expression, before: int, after: int) -> Iterator[tuple[int, int]]:
    """Disjoint stretches with at least `before` and `after` bytes around every match of `gate`.

    Looks for the gate once in `after` bytes at most, so that a text full of gates costs no more than a long
    one.
    """
    first, last = 0, 0
    while place := gate.search(data, max(last - after, 0)):
        if place.start() - before > last:
            if last:
                yield first, last
            first = place.start() - before
        last = place.end() + 2 * after
    if last:
        yield max(first, 0), last


def _next_word(data: bytes, start: int, end: int) -> int:
    while start < end and (data[start : start + 1].isalnum() or data[start] >= 0x80):
        start += 1
    return start + 1 if start < end else end


def compile_pattern(regex: str, *, captures: bool = True) -> Expression:
    """A compiled RE2 expression for use on `View.data`. Raises DefinitionError when RE2 refuses it."""
    options = re2.Options()
    options.log_errors = False
    options.never_capture = not captures
    try:
        compiled = re2.compile(regex, options)
        if compiled.programsize > _LARGE:
            options.max_mem = _LARGE_MEMORY
            compiled = re2.compile(regex, options)
        return Expression(compiled)
    except re2.error as error:
        raise DefinitionError(f"RE2 refuses the expression {regex!r}: {error}") from error


def any_word(words: Sequence[str]) -> str:
    """An expression for any of `words`, in any case. Up to four letters they stand alone, longer ones may be
    inflected.
    """
    parts = []
    for word in words:
        before = r"\b" if word[0].isascii() and word[0].isalnum() else ""
        after = r"\b" if len(word) <= 4 and word[-1].isascii() and word[-1].isalnum() else ""
        parts.append(before + re2.escape(word).replace(r"\ ", r"[\s_-]?") + after)
    return "(?i)(?:" + "|".join(parts) + ")"


def near_context(context: Expression, data: bytes, start: int, end: int) -> bool:
    """Whether a context word stands shortly before or right after the span."""
    before = context.search(data, max(0, start - CONTEXT_BEFORE), start)
    return before is not None or context.search(data, end, end + CONTEXT_AFTER) is not None


def code_digest(function: Callable[..., object] | None) -> str:
    """Name of a function and a digest of its file, so that a changed check changes the version."""
    code = getattr(function, "__code__", None)
    if code is None:
        return repr(type(function))
    file = Path(code.co_filename)
    source = file.read_bytes() if file.is_file() else code.co_code
    return f"{code.co_qualname}:{hashlib.sha256(source).hexdigest()}"
