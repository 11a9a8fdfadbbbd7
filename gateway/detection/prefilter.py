"""One look at a text that says which expressions occur in it at all (RE2 sets: linear, whatever the input)."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import re2

from gateway.detection.recognizer import DefinitionError
from gateway.errors import Unavailable

# The automaton's states are built as texts need them; this is a ceiling, not what is used.
_MEMORY = 64 << 20
_FIGURE = re.compile(r"\\d|0-9")
_A_FIGURE_IN = 40


class Gate(NamedTuple):
    """`needs`: what stands in every text in which `expression` occurs, and is quicker to look for."""

    expression: str
    needs: bytes = b""


class GateScan:
    """Compiles `expressions` once; `hits` then names those that occur in a text, by index.

    Raises DefinitionError for an expression RE2 refuses or a set that does not fit the memory.
    """

    def __init__(self, expressions: Sequence[str], *, memory: int = _MEMORY) -> None:
        options = re2.Options()
        options.max_mem = memory
        options.log_errors = False
        try:
            self._set = re2.Set.SearchSet(options)
            for expression in expressions:
                self._set.Add(expression)
            # Matches at the end of every text, and only there: at each place where anything matches, RE2 stops for a
            # moment. It reports a search that ran out of memory as "nothing found"; without the canary in the answer
            # we know that the text was not read to its end, and the answer is worth nothing.
            self._canary: int = self._set.Add(r"\z")
            self._set.Compile()
        except re2.error as error:
            raise DefinitionError(f"the recognizers' gates cannot be compiled: {error}") from error

    def hits(self, data: bytes) -> list[int]:
        """Indices of the expressions that occur, in no particular order.

        Raises Unavailable (detection_failed) when the scan could not be completed.
        """
        found: list[int] = self._set.Match(data) or []
        try:
            found.remove(self._canary)
        except ValueError:
            raise Unavailable(
                "The text could not be scanned completely, so it was not let through.",
                code="detection_failed",
            ) from None
        return found


class SplitScan:
    """The same for many expressions, in a few passes.

    Expressions multiply each other's states where they linger over the same stretch of a text: one automaton of all
    goes on building states for as long as texts differ, and touches more memory than the processor keeps near. So those
    of figures, of words in any case and of exact signs are apart, each of which idles where the others are busy; and
    what needs a certain sign has a pass of its own, which most texts are spared.
    """

    def __init__(self, gates: Sequence[Gate]) -> None:
        passes: dict[tuple[bytes, str], list[int]] = {}
        for number, gate in enumerate(gates):
            passes.setdefault((gate.needs, "" if gate.needs else _kind(gate.expression)), []).append(number)
        self._passes = [
            (needs, GateScan([gates[number].expression for number in numbers]), numbers)
            for (needs, _), numbers in passes.items()
        ]

    def hits(self, data: bytes) -> list[int]:
        """Indices of the expressions that occur, in order. Raises Unavailable (detection_failed)."""
        return sorted(numbers[hit] for needs, scan, numbers in self._passes if needs in data for hit in scan.hits(data))


def _kind(expression: str) -> str:
    if len(_FIGURE.findall(expression)) * _A_FIGURE_IN >= len(expression):
        return "figures"
    return "words" if "(?i" in expression else "signs"
