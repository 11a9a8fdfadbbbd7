"""Python's own engine backtracks. None of our expressions for it lets one text be read in two ways by one loop: that is
what takes exponential time (the criterion of Weideman et al., "Analyzing matching time behavior of backtracking regular
expression matchers by using ambiguity of NFA", 2016, doi:10.1007/978-3-319-40946-7_27).
"""

import importlib
import pkgutil
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from re import _constants as op
from re import _parser
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import gateway

_ALPHABET = "".join(map(chr, range(128))) + "é €　ж中"
_MANY = 4
"""A repetition with at least this maximum is treated as unbounded."""


class Piece(NamedTuple):
    """A part of an expression: where it can begin and end (positions), and whether it can be empty."""

    first: tuple[int, ...]
    last: tuple[int, ...]
    empty: bool


class Automaton:
    """Positions of characters, what each of them accepts, and how often each may follow each (Glushkov's automaton)."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.accepts: list[frozenset[str]] = []
        self.follows: Counter[tuple[int, int]] = Counter()
        self._ignore_case = bool(flags & re.IGNORECASE)
        self._row(_parser.parse(pattern, flags))

    def _row(self, parts: Iterable[tuple[Any, Any]]) -> Piece:
        whole = Piece((), (), True)
        for kind, argument in parts:
            whole = self._joined(whole, self._part(kind, argument))
        return whole

    def _joined(self, one: Piece, next_: Piece) -> Piece:
        self.follows.update((last, first) for last in one.last for first in next_.first)
        first = one.first + next_.first if one.empty else one.first
        last = next_.last + one.last if next_.empty else next_.last
        return Piece(first, last, one.empty and next_.empty)

    def _part(self, kind: Any, argument: Any) -> Piece:
        match kind:
            case op.LITERAL | op.NOT_LITERAL | op.ANY | op.IN:
                return self._position(kind, argument)
            case op.BRANCH:
                ways = [self._row(way) for way in argument[1]]
                return Piece(
                    tuple(at for way in ways for at in way.first),
                    tuple(at for way in ways for at in way.last),
                    any(way.empty for way in ways),
                )
            case op.SUBPATTERN:
                return self._row(argument[-1])
            case op.ATOMIC_GROUP:
                return self._row(argument)
            case op.MAX_REPEAT | op.MIN_REPEAT | op.POSSESSIVE_REPEAT:
                return self._repeated(*argument, goes_back=kind is not op.POSSESSIVE_REPEAT)
            case _:
                return Piece((), (), True)  # takes no character

    def _repeated(self, least: int, most: int, body: Sequence[Any], *, goes_back: bool) -> Piece:
        if least and most < _MANY and most > 1:
            whole = Piece((), (), True)
            for number in reversed(range(most)):
                whole = self._joined(self._row(body), whole)
                whole = whole._replace(empty=whole.empty or number >= least)
            return whole
        piece = self._row(body)
        if most >= _MANY and goes_back:
            self.follows.update((last, first) for last in piece.last for first in piece.first)
        return piece._replace(empty=piece.empty or not least)

    def _position(self, kind: Any, argument: Any) -> Piece:
        self.accepts.append(frozenset(char for char in _ALPHABET if self._takes(kind, argument, char)))
        at = len(self.accepts) - 1
        return Piece((at,), (at,), False)

    def _takes(self, kind: Any, argument: Any, char: str) -> bool:
        chars = {char, char.lower(), char.upper()} if self._ignore_case else {char}
        match kind:
            case op.ANY:
                return True
            case op.LITERAL:
                return chr(argument) in chars
            case op.NOT_LITERAL:
                return chr(argument) not in chars
            case _:
                negated: bool = argument[0][0] is op.NEGATE
                return negated != any(_in_class(item, each) for item in argument[negated:] for each in chars)

    def ambiguous(self) -> bool:
        """Whether two different ways lead from a position back to it over the same characters."""
        after: dict[int, list[int]] = {}
        for one, next_ in self.follows:
            after.setdefault(one, []).append(next_)
        for loop in _loops(after):
            inside = {at: [to for to in after[at] if to in loop] for at in loop}
            if any(self.follows[at, to] > 1 for at in loop for to in inside[at]):
                return True
            pairs = {
                (one, two): [(a, b) for a in inside[one] for b in inside[two] if self.accepts[a] & self.accepts[b]]
                for one in loop
                for two in loop
            }
            for strong in _loops(pairs):
                if len({one == two for one, two in strong}) == 2:
                    return True
        return False


def _in_class(item: tuple[Any, Any], char: str) -> bool:
    kind, argument = item
    if kind is op.LITERAL:
        return bool(ord(char) == argument)
    if kind is op.RANGE:
        return bool(argument[0] <= ord(char) <= argument[1])
    return re.match({
        op.CATEGORY_DIGIT: r"\d", op.CATEGORY_NOT_DIGIT: r"\D", op.CATEGORY_SPACE: r"\s",
        op.CATEGORY_NOT_SPACE: r"\S", op.CATEGORY_WORD: r"\w", op.CATEGORY_NOT_WORD: r"\W",
    }[argument], char) is not None  # fmt: skip


def _loops[T](after: dict[T, list[T]]) -> Iterator[set[T]]:
    """The strongly connected components with at least one edge (Tarjan, without recursion)."""
    number: dict[T, int] = {}
    lowest: dict[T, int] = {}
    stack: list[T] = []
    held: set[T] = set()
    for root, edges in after.items():
        if root in number:
            continue
        work = [(root, iter(edges))]
        number[root] = lowest[root] = len(number)
        stack.append(root)
        held.add(root)
        while work:
            node, rest = work[-1]
            for to in rest:
                if to not in number:
                    number[to] = lowest[to] = len(number)
                    stack.append(to)
                    held.add(to)
                    work.append((to, iter(after.get(to, ()))))
                    break
                if to in held:
                    lowest[node] = min(lowest[node], number[to])
            else:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[node])
                if lowest[node] == number[node]:
                    found: set[T] = set()
                    while node not in found:
                        found.add(stack.pop())
                    held -= found
                    if len(found) > 1 or node in after.get(node, ()):
                        yield found


def expressions(package: ModuleType) -> dict[str, re.Pattern[Any]]:
    """Returns every compiled expression of the package's modules, by its location."""
    found: dict[str, re.Pattern[Any]] = {}
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if module.name.endswith(".browser._re2"):
            # It needs the engine of a browser.
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            for number, each in enumerate(_held(value, 3)):
                found.setdefault(f"{module.name}.{name}" + (f"[{number}]" if number else ""), each)
    return found


def _held(value: object, depth: int) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, dict):
        for each in value.values():
            yield from _held(each, depth - 1)
    elif depth and isinstance(value, tuple | list | set | frozenset):
        for each in value:
            yield from _held(each, depth - 1)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("(?:a+)+b", True), (r"(?:ab|\wb)*d", True), (r"(?:\w{1,24} ?){0,4}\Z", True), (r"(?:!?\.\w!?)+$", True),
        ("(?:a+,)+b", False), ("(?:a++ ?)*+b", False), ("a+a+b", False), (r"(?:[^\"\\]|\\.)*", False),
    ],
)  # fmt: skip
def test_the_criterion(pattern: str, expected: bool) -> None:
    assert Automaton(pattern, 0).ambiguous() == expected


@pytest.mark.slow
def test_no_loop_reads_a_text_in_two_ways() -> None:
    found = expressions(gateway)
    assert len(found) > 200
    assert [where for where, each in found.items() if Automaton(each.pattern, each.flags).ambiguous()] == []
