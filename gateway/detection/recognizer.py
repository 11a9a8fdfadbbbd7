"""Defines recognizers and the two ways to write one: patterns with a validator, or a function with prefilters.

All expressions use RE2 syntax (https://github.com/google/re2/wiki/Syntax): linear time, no look-around, no
back-references.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol

import re2

from gateway.detection.entropy import inside_blob, word_set
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.re2_expression import Expression, neighbourhoods

CONTEXT_BEFORE = 90
CONTEXT_AFTER = 40
"""How far from a match, in bytes of normalized text, context words count."""

_CONTEXT_GAIN = 0.4
_MAX_UNVALIDATED = 0.95
# When the automaton of a large expression exceeds RE2's default memory, RE2 falls back to a search that is ten times
# slower.
_LARGE_PROGRAM, _LARGE_MEMORY = 10_000, 32 << 20


class DefinitionError(ValueError):
    """A recognizer is invalid. Raised at start, never for a text."""


@dataclass(frozen=True, slots=True)
class EntityType:
    """A type of entity. Policies can set rules for a whole `group`. Names follow Presidio where it has one."""

    name: str
    group: str
    description: str


OWN_GROUP = "custom"
"""The group of the types that a policy defines."""


def group_of(name: str, types: Mapping[str, EntityType]) -> str:
    """Returns the group of a type. One that no recognizer knows is a policy's own."""
    known = types.get(name)
    return known.group if known is not None else OWN_GROUP


GROUPS = word_set(
    "person contact address organization financial government_id health secret network device temporal account custom"
)


class Match(NamedTuple):
    """A candidate: byte offsets into `NormalizedText.data`, a score (0-1), and the name of the type."""

    start: int
    end: int
    score: float
    type: str


@dataclass(frozen=True, slots=True)
class Example:
    """A text in which a recognizer must find exactly `value` as `type` (default: its first) with at least `score`."""

    text: str
    value: str
    type: str = ""
    score: float = 0.5


class Recognizer(Protocol):
    """The extension point. `find` runs only on texts that match one of `prefilters`; `hits` holds their indices."""

    @property
    def id(self) -> str: ...
    @property
    def types(self) -> Sequence[EntityType]: ...
    @property
    def prefilters(self) -> Sequence[str]: ...
    @property
    def examples(self) -> Sequence[Example]: ...
    @property
    def counter_examples(self) -> Sequence[str]: ...
    @property
    def definition(self) -> str:
        """Changes whenever the recognizer's findings may change; part of the detector's version."""
        ...

    def find(self, normalized: NormalizedText, hits: Sequence[int]) -> Iterable[Match]: ...


Validator = Callable[[str], bool | None]
"""Checks a normalized value. True sets the score to 1.0, False drops the match, None keeps the score."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """An expression and the score of its matches.

    `group` is the private part. `prefilter`, if given, must match wherever `regex` does, and be cheaper. With
    `needs_context`, a match counts only near a context word. `reach` (bytes before, bytes after) limits an expensive
    expression to the surroundings of each prefilter match. With `retry`, the search resumes at the second word of a
    rejected match, because another match may start there. Use it only for expressions of bounded length, or the search
    is no longer linear.
    """

    regex: str
    score: float
    group: int = 0
    prefilter: str | None = None
    needs_context: bool = False
    reach: tuple[int, int] | None = None
    retry: bool = False


@dataclass(frozen=True)
class PatternRecognizer:
    """Finds matches of expressions. Context words raise the score, a validator overrides it.

    Matches inside a longer base64 run are dropped unless `blobs` is set. `by_label` says that each is found by what is
    next to it: a label, a word, the header of a column, the number of a field.
    """

    id: str
    type: EntityType
    patterns: tuple[Pattern, ...]
    context: tuple[str, ...] = ()
    validator: Validator | None = None
    blobs: bool = False
    examples: tuple[Example, ...] = field(default=(), compare=False)
    counter_examples: tuple[str, ...] = field(default=(), compare=False)
    by_label: bool = field(default=False, compare=False, kw_only=True)

    @property
    def types(self) -> tuple[EntityType, ...]:
        return (self.type,)

    @cached_property
    def prefilters(self) -> tuple[str, ...]:
        return tuple(pattern.prefilter or pattern.regex for pattern in self.patterns)

    @cached_property
    def definition(self) -> str:
        return repr((self.id, self.type, self.patterns, self.context, self.blobs, code_digest(self.validator)))

    @cached_property
    def label_scores(self) -> frozenset[float]:
        """The scores of matches next to a context word, which no other match has."""
        near = {_near_score(pattern) for pattern in self.patterns} if self.context else set()
        return frozenset(near - {pattern.score for pattern in self.patterns if not pattern.needs_context})

    @cached_property
    def _compiled(self) -> tuple[Expression, ...]:
        return tuple(compile_pattern(pattern.regex) for pattern in self.patterns)

    @cached_property
    def _context(self) -> Expression | None:
        return compile_pattern(any_word(self.context)) if self.context else None

    @cached_property
    def _compiled_prefilters(self) -> tuple[Expression, ...]:
        return tuple(compile_pattern(prefilter) for prefilter in self.prefilters)

    def find(self, normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
        data = normalized.data
        verdicts: dict[str, bool | None] = {}
        for hit in hits:
            pattern = self.patterns[hit]
            areas = iter(((0, len(data)),))
            if pattern.reach is not None:
                areas = neighbourhoods(data, self._compiled_prefilters[hit], *pattern.reach)
            for first, last in areas:
                yield from self._search(normalized, pattern, self._compiled[hit], first, last, verdicts)

    def _search(
        self,
        normalized: NormalizedText,
        pattern: Pattern,
        expression: Expression,
        at: int,
        last: int,
        verdicts: dict[str, bool | None],
    ) -> Iterator[Match]:
        while match := expression.search(normalized.data, at, last):
            start, end = match.span(pattern.group)
            score = self._score(normalized, pattern, start, end, verdicts)
            if score is not None:
                yield Match(start, end, score, self.type.name)
            at = max(match.end(), match.start() + 1)
            if score is None and pattern.retry:
                at = _next_word(normalized.data, start, end)

    def _score(
        self, normalized: NormalizedText, pattern: Pattern, start: int, end: int, verdicts: dict[str, bool | None]
    ) -> float | None:
        """Returns the score of a match, None to drop it. `verdicts` caches validator results."""
        if start >= end or (not self.blobs and inside_blob(normalized.data, start, end)):
            return None
        verdict = None
        if self.validator is not None:
            value = normalized.text(start, end)
            if value not in verdicts:
                verdicts[value] = self.validator(value)
            verdict = verdicts[value]
        if verdict is False:
            return None
        if verdict and not pattern.needs_context:
            return 1.0
        near = self._context is not None and near_context(self._context, normalized.data, start, end)
        if pattern.needs_context and not near:
            return None
        if verdict:
            return 1.0
        return _near_score(pattern) if near else pattern.score


@dataclass(frozen=True)
class FunctionRecognizer:
    """Finds matches with a function, which runs only on texts that match one of `prefilters`.

    Keep the prefilters precise: they determine the speed.
    """

    id: str
    types: tuple[EntityType, ...]
    prefilters: tuple[str, ...]
    function: Callable[[NormalizedText, Sequence[int]], Iterable[Match]]
    examples: tuple[Example, ...] = field(default=(), compare=False)
    counter_examples: tuple[str, ...] = field(default=(), compare=False)
    by_label: bool = field(default=False, compare=False, kw_only=True)

    @cached_property
    def definition(self) -> str:
        return repr((self.id, self.types, self.prefilters, code_digest(self.function)))

    def find(self, normalized: NormalizedText, hits: Sequence[int]) -> Iterable[Match]:
        return self.function(normalized, hits)


def _near_score(pattern: Pattern) -> float:
    return min(pattern.score + _CONTEXT_GAIN, _MAX_UNVALIDATED)


def _next_word(data: bytes, start: int, end: int) -> int:
    while start < end and (data[start : start + 1].isalnum() or data[start] >= 0x80):
        start += 1
    return start + 1 if start < end else end


def compile_pattern(regex: str, *, captures: bool = True) -> Expression:
    """Compiles an RE2 expression for `NormalizedText.data`. Raises DefinitionError if RE2 rejects it."""
    options = re2.Options()
    options.log_errors = False
    options.never_capture = not captures
    try:
        compiled = re2.compile(regex, options)
        if compiled.programsize > _LARGE_PROGRAM:
            options.max_mem = _LARGE_MEMORY
            compiled = re2.compile(regex, options)
        return Expression(compiled)
    except re2.error as error:
        raise DefinitionError(f"RE2 rejects the expression {regex!r}: {error}. Use RE2 syntax.") from error


def any_word(words: Sequence[str]) -> str:
    """Returns an expression for any of `words`, in any case.

    Words of up to four letters match whole words only; longer ones also match with an ending.
    """
    parts = []
    for word in words:
        before = r"\b" if word[0].isascii() and word[0].isalnum() else ""
        after = r"\b" if len(word) <= 4 and word[-1].isascii() and word[-1].isalnum() else ""
        parts.append(before + re2.escape(word).replace(r"\ ", r"[\s_-]?") + after)
    return "(?i)(?:" + "|".join(parts) + ")"


def near_context(context: Expression, data: bytes, start: int, end: int) -> bool:
    """Returns whether a context word occurs within CONTEXT_BEFORE or CONTEXT_AFTER bytes of the span."""
    before = context.search(data, max(0, start - CONTEXT_BEFORE), start)
    return before is not None or context.search(data, end, end + CONTEXT_AFTER) is not None


def code_digest(function: Callable[..., object] | None) -> str:
    """Returns a function's name and a digest of its file, so that a changed validator changes the version."""
    code = getattr(function, "__code__", None)
    if code is None:
        return repr(type(function))
    file = Path(code.co_filename)
    source = file.read_bytes() if file.is_file() else code.co_code
    return f"{code.co_qualname}:{hashlib.sha256(source).hexdigest()}"
