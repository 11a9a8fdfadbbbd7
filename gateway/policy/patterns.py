"""Validates a policy's patterns and finds their matches.

Syntax and limits are RE2's (https://github.com/google/re2/wiki/Syntax). The time is linear in the text for every
pattern: a search covers at most one window. A pattern whose matches are all longer than that is searched in the whole
text, which takes few searches.
"""

import re
from collections.abc import Iterator
from functools import cached_property

import re2

from gateway.detection.recognizer import any_word, near_context
from gateway.models import OWN_RECOGNIZER
from gateway.policy.document import PatternDocument

WINDOW = 16 * 1024
"""Size in bytes of the windows in which matches start, and of the margin into which they may extend."""

TERMS_MEMORY = 64 << 20
_PATTERN_MEMORY = 8 << 20
_MAX_PROGRAM = 50_000
"""Maximum number of RE2 instructions, which bounds the cost per byte of text."""

_CONTEXT_GAIN = 0.4
_MOST = 0.95
_PROBES = (b"", b"a", b"0", b"a b", b"-", b"\n", b"a\na")

type Span = tuple[int, int, float]
"""Start and end in bytes of the normalized text, and the score."""


class ExpressionError(ValueError):
    """RE2 rejects the expression. The message gives the reason without quoting it."""


def compile_expression(regex: str, *, longest: bool = False, memory: int = _PATTERN_MEMORY) -> "re2._Regexp":
    """Compiles an expression. `longest` prefers the longest match over the first. Raises ExpressionError."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = memory
    options.longest_match = longest
    try:
        return re2.compile(regex, options)
    except re2.error as error:
        raise ExpressionError(_reason(error, regex)) from None


def check_pattern(pattern: PatternDocument) -> None:
    """Raises ExpressionError if a policy cannot use the pattern, with the reason."""
    compiled = compile_expression(pattern.regex)
    if compiled.programsize > _MAX_PROGRAM:
        raise ExpressionError("it is too expensive; reduce its repetitions or character classes")
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
    # After the colon, RE2 quotes the expression.
    return f"RE2 says: {text.partition(':')[0]}"


class PatternSearch:
    """Searches the bytes of a normalized text for one pattern."""

    def __init__(self, pattern: PatternDocument) -> None:
        self.type = pattern.type
        self.recognizer = OWN_RECOGNIZER + pattern.name
        self.expression = pattern.regex
        self._pattern = pattern

    @cached_property
    def _compiled(self) -> "re2._Regexp":
        return compile_expression(self._pattern.regex)

    @cached_property
    def _context(self) -> "re2._Regexp | None":
        return compile_expression(any_word(self._pattern.context)) if self._pattern.context else None

    def spans(self, data: bytes) -> Iterator[Span]:
        """Yields scored matches without overlaps."""
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
                    # The match may continue past the window. Doubling the window keeps the total time linear.
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
