"""A policy's patterns: which expressions are taken, and where they match.

Syntax and limits are RE2's (https://github.com/google/re2/wiki/Syntax). Time is linear in the text whatever
the pattern: each search sees at most one window, and a pattern whose every match is longer than that is
searched in the whole text, which then takes few searches.
"""

import re
from collections.abc import Iterator
from functools import cached_property

import re2

from gateway.detection.recognizer import any_word, near_context
from gateway.policy.document import PatternDocument

WINDOW = 16 * 1024
"""Bytes of a stretch of text in which matches begin, and how far beyond it one may reach to be found."""

TERMS_MEMORY = 64 << 20
_PATTERN_MEMORY = 8 << 20
_MAX_PROGRAM = 50_000
"""RE2 instructions: the most a pattern may cost for each byte of text."""

_CONTEXT_GAIN = 0.4
_MOST = 0.95
_PROBES = (b"", b"a", b"0", b"a b", b"-", b"\n", b"a\na")

type Span = tuple[int, int, float]
"""Start and end in bytes of the view, and the score."""


class ExpressionError(ValueError):
    """RE2 cannot take the expression; the message is the reason and repeats nothing of it."""


def compile_expression(regex: str, *, longest: bool = False, memory: int = _PATTERN_MEMORY) -> "re2._Regexp":
    """A compiled expression. `longest`: prefer the longest match to the first. Raises ExpressionError."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = memory
    options.longest_match = longest
    try:
        return re2.compile(regex, options)
    except re2.error as error:
        raise ExpressionError(_reason(error, regex)) from None


def check_pattern(pattern: PatternDocument) -> None:
    """Raises ExpressionError with the reason why a pattern cannot be part of a policy."""
    compiled = compile_expression(pattern.regex)
    if compiled.programsize > _MAX_PROGRAM:
        raise ExpressionError("it is too costly: make its repetitions or character classes smaller")
    for probe in _PROBES:
        if any(match.start() == match.end() for match in compiled.finditer(probe)):
            raise ExpressionError("it matches the empty string")


def _reason(error: re2.error, regex: str) -> str:
    said = error.args[0] if error.args else b""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    if re.search(r"\(\?<?[=!]", regex):
        return "RE2 has no look-ahead and no look-behind"
    if re.search(r"\\[1-9]|\(\?P=|\\k", regex):
        return "RE2 has no back-references"
    if re.search(r"\(\?>|[*+?}]\+", regex):
        return "RE2 has no possessive or atomic groups, and needs none"
    # What follows the colon repeats a piece of the expression.
    return f"RE2 says: {text.partition(':')[0]}"


class PatternSearch:
    """One pattern over the bytes of a view."""

    def __init__(self, pattern: PatternDocument) -> None:
        self.type = pattern.type
        self.recognizer = f"policy:{pattern.name}"
        self.gate = pattern.regex
        self._pattern = pattern

    @cached_property
    def _compiled(self) -> "re2._Regexp":
        return compile_expression(self._pattern.regex)

    @cached_property
    def _context(self) -> "re2._Regexp | None":
        return compile_expression(any_word(self._pattern.context)) if self._pattern.context else None

    def spans(self, data: bytes) -> Iterator[Span]:
        """Every match that does not overlap an earlier one, scored."""
        group = self._compiled.groupindex.get("value", 0)
        matched = False
        for match in self._in_windows(data):
            matched = True
            yield from self._scored(data, *match.span(group))
        if not matched:
            for match in self._compiled.finditer(data):
                yield from self._scored(data, *match.span(group))

    def _in_windows(self, data: bytes) -> "Iterator[re2._Match]":
        position = 0
        for begin in range(0, len(data), WINDOW):
            border, limit = begin + WINDOW, begin + 2 * WINDOW
            position = max(position, begin)
            while position < border:
                match = self._compiled.search(data, position, limit)
                if match is None or match.start() >= border:
                    break
                while match.end() >= limit < len(data):
                    # It may go on: look further, twice as far each time, which a match this long pays for.
                    limit = 2 * limit - match.start()
                    match = self._compiled.search(data, match.start(), limit) or match
                yield match
                position = max(match.end(), match.start() + 1)

    def _scored(self, data: bytes, start: int, end: int) -> Iterator[Span]:
        if start >= end:
            return
        score = self._pattern.score
        if self._context is not None:
            if near_context(self._context, data, start, end):
                score = max(score, min(score + _CONTEXT_GAIN, _MOST))
            elif self._pattern.needs_context:
                return
        yield start, end, score
