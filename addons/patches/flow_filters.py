"""Bounds what a flow filter of mitmproxy may cost: operators type them, and they run in the thread that serves clients.

mitmproxy compiles a filter's patterns with `re` and searches whole bodies, so that `~b "(a+)+$"` would stop every
listener for hours, and its parser takes minutes for a dozen nested parentheses. All filters, those of options, of
commands and of the page, go through `flowfilter.parse`. Upstream would have to search with a linear-time engine.
"""

import asyncio
import re
from time import perf_counter
from typing import Any

import re2
from mitmproxy import flowfilter

from gateway.detection.re2_expression import Expression

CHECKED_WITH = "12.2.3"

LONGEST_FILTER = 500
LARGEST_PROGRAM = 1000
_LONGEST_SEARCH = 1024 * 1024
# RE2 takes up to 15 ns for each byte and instruction, so one search takes at most about 0.1 s.
_WORK = 8 * 1024 * 1024
_TURN_SECONDS = 0.25


class _Turn:
    """The time that searches may still take before the event loop has to see to the clients again."""

    def __init__(self) -> None:
        self.left = _TURN_SECONDS
        self._is_begun = False

    def spend(self, seconds: float) -> None:
        self.left -= seconds
        if not self._is_begun:
            self._is_begun = True
            asyncio.get_running_loop().call_soon(self._end)

    def _end(self) -> None:
        self.left, self._is_begun = _TURN_SECONDS, False


_turn = _Turn()


class BoundedSearch:
    """Searches the beginning of a text in linear time, in place of a compiled `re` pattern.

    What is not searched counts as a match, here and when the time is up: a request is then held rather than missed,
    except by a filter that negates this one.
    """

    def __init__(self, pattern: str, flags: int) -> None:
        """Raises ValueError for a pattern that RE2 refuses or that is too large."""
        options = re2.Options()
        options.log_errors = False
        options.never_capture = True
        options.case_sensitive = not flags & re.IGNORECASE
        options.dot_nl = bool(flags & re.DOTALL)
        try:
            compiled = re2.compile(f"(?m){pattern}" if flags & re.MULTILINE else pattern, options)
        except re2.error:
            raise ValueError("RE2 does not support this pattern") from None
        if compiled.programsize > LARGEST_PROGRAM:
            raise ValueError("the pattern is too large; reduce its repetitions")
        self._expression = Expression(compiled)
        self.bytes = min(_LONGEST_SEARCH, _WORK // compiled.programsize)

    def search(self, text: str | bytes) -> bool:
        """Returns whether the text matches."""
        if _turn.left <= 0:
            return True
        started = perf_counter()
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
        found = self._expression.search(data, 0, min(len(data), self.bytes)) is not None
        _turn.spend(perf_counter() - started)
        return found or len(data) > self.bytes


def bound_filters() -> None:
    """Has mitmproxy parse and search within these bounds, for the rest of the process."""
    # Without all of its cache, the time multiplies with every parenthesis and every `!`.
    flowfilter.bnf.enable_packrat(cache_size_limit=None)
    flowfilter._Rex.__init__ = _compile  # type: ignore[method-assign]
    flowfilter.parse = parse  # type: ignore[assignment]


def parse(expression: str) -> flowfilter.TFilter:
    """Compiles a filter. Raises ValueError, which mitmproxy shows to the operator."""
    if not expression or len(expression) > LONGEST_FILTER:
        raise ValueError(f"Invalid filter expression: it must have 1 to {LONGEST_FILTER} characters.")
    try:
        compiled: flowfilter.TFilter = flowfilter.bnf.parse_string(expression, parse_all=True)[0]
    except RecursionError:
        raise ValueError("Invalid filter expression: too deeply nested.") from None
    except (flowfilter.pp.ParseException, ValueError) as error:
        raise ValueError(f"Invalid filter expression: {error}") from None
    compiled.pattern = expression
    return compiled


def _compile(rex: Any, pattern: str) -> None:
    rex.expr = pattern
    rex.re = BoundedSearch(pattern, rex.flags | flowfilter.maybe_ignore_case)
