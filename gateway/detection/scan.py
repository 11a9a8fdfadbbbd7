"""One pass over a text that says which expressions occur in it at all (RE2 set: linear in the text, whatever
the input).
"""

import re
from collections.abc import Sequence

import re2

from gateway.detection.recognizer import DefinitionError
from gateway.errors import Unavailable

# The automaton's states are built as texts need them; this is a ceiling, not what is used.
_MEMORY = 64 << 20
_PARTS = 5
# An expression without these is over where it began, and many of them can share an automaton.
_LINGERS = re.compile(r"[*+]|\{\d+,\d*\}|\\p")


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
            # Matches every text. RE2 reports a search that ran out of memory as "nothing found"; without the
            # canary in the answer we know that the answer is worth nothing.
            self._canary: int = self._set.Add("")
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
    """The same for many expressions, in a few passes that are quicker than one.

    Expressions that linger over a text multiply each other's states: one automaton of all goes on building states for
    as long as texts differ. So those of a family stay together, apart from other families' and from those that do not
    linger. `gates` are (family, expression).
    """

    def __init__(self, gates: Sequence[tuple[str, str]]) -> None:
        parts: list[list[int]] = [[number for number, (_, gate) in enumerate(gates) if not _LINGERS.search(gate)]]
        families: dict[str, list[int]] = {}
        for number, (family, gate) in enumerate(gates):
            if _LINGERS.search(gate):
                families.setdefault(family, []).append(number)
        lingering: list[list[int]] = [[] for _ in range(_PARTS)]
        for numbers in sorted(families.values(), key=len, reverse=True):
            min(lingering, key=len).extend(numbers)
        self._parts = [
            (GateScan([gates[number][1] for number in numbers]), numbers) for numbers in [*parts, *lingering] if numbers
        ]

    def hits(self, data: bytes) -> list[int]:
        """Indices of the expressions that occur. Raises Unavailable (detection_failed)."""
        return [numbers[hit] for scan, numbers in self._parts for hit in scan.hits(data)]
