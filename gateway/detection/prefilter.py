"""Determines in one pass which expressions occur in a text, using RE2 sets: linear time on any input."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import re2

from gateway.detection.recognizer import DefinitionError
from gateway.errors import Unavailable

# An upper limit: RE2 builds the automaton's states on demand.
_MEMORY = 64 << 20
_DIGIT_CLASS = re.compile(r"\\d|0-9")
_DIGIT_CLASS_EVERY = 40


class PrefilterPattern(NamedTuple):
    """An expression, and a literal (`needs`) that every match requires and that is quicker to search for."""

    expression: str
    needs: bytes = b""


class PatternSet:
    """Compiles `expressions` into one RE2 set; `hits` returns the indices of those that occur in a text.

    Raises DefinitionError if RE2 rejects an expression or the set exceeds `memory` bytes.
    """

    def __init__(self, expressions: Sequence[str], *, memory: int = _MEMORY) -> None:
        options = re2.Options()
        options.max_mem = memory
        options.log_errors = False
        try:
            self._set = re2.Set.SearchSet(options)
            for expression in expressions:
                self._set.Add(expression)
            # RE2 reports a search that ran out of memory as "no match". This expression matches every text, so its
            # absence reveals an incomplete search. It matches only at the end because each match position costs time.
            self._canary: int = self._set.Add(r"\z")
            self._set.Compile()
        except re2.error as error:
            raise DefinitionError(
                f"RE2 cannot compile the prefilters: {error}. Simplify the last one added."
            ) from error

    def hits(self, data: bytes) -> list[int]:
        """Returns the indices of the expressions that occur, in no particular order.

        Raises Unavailable (detection_failed) if the search did not reach the end of the text.
        """
        found: list[int] = self._set.Match(data) or []
        try:
            found.remove(self._canary)
        except ValueError:
            raise Unavailable(
                "Detection could not search the whole text; nothing was sent. Try a shorter text.",
                code="detection_failed",
            ) from None
        return found


class Prefilter:
    """Matches many expressions in a few passes, each with an RE2 set of its own.

    In a single automaton, expressions that match overlapping stretches multiply each other's states: it keeps growing
    as texts differ, and outgrows the processor's cache. Therefore expressions for digits, for words in any case and for
    exact characters have separate sets. Expressions that need a literal have their own set, which most texts skip.
    """

    def __init__(self, prefilters: Sequence[PrefilterPattern]) -> None:
        passes: dict[tuple[bytes, str], list[int]] = {}
        for number, prefilter in enumerate(prefilters):
            passes.setdefault((prefilter.needs, "" if prefilter.needs else _category(prefilter.expression)), []).append(
                number
            )
        self._passes = [
            (needs, PatternSet([prefilters[number].expression for number in numbers]), numbers)
            for (needs, _), numbers in passes.items()
        ]

    def hits(self, data: bytes) -> list[int]:
        """Returns the indices of the expressions that occur, in order. Raises Unavailable (detection_failed)."""
        return sorted(
            numbers[hit] for needs, patterns, numbers in self._passes if needs in data for hit in patterns.hits(data)
        )


def _category(expression: str) -> str:
    if len(_DIGIT_CLASS.findall(expression)) * _DIGIT_CLASS_EVERY >= len(expression):
        return "digits"
    return "words" if "(?i" in expression else "literals"
