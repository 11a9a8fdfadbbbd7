"""Searches texts with RE2, and loads expressions and word lists from the TOML files next to the modules that use them.

RE2 searches bytes; offsets here are in characters.
"""

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import re2

from gateway.config.data_files import read_toml
from gateway.detection.re2_expression import Expression


class Patterns:
    """The expressions in the TOML file named like a module (its `__file__`).

    An entry has one or more alternatives a line; an indented line continues the one before. `{name}` stands for another
    entry, one of `more`, or a list of the table `words`, whose words are separated by white space.
    """

    def __init__(self, module: str, **more: str) -> None:
        self.table: dict[str, Any] = read_toml(module)
        words: Mapping[str, str] = self.table.get("words", {})
        self.words = {name: frozenset(each.split()) for name, each in words.items()}
        alternatives = {name: "|".join(sorted(each)) for name, each in self.words.items()}
        self._entries: dict[str, str] = self.table | alternatives
        self._more = more

    def filled(self, text: str) -> str:
        """An expression as Python's `re` and RE2 have it."""
        return re.sub(r"\{([a-z_]+)\}", self._named, "|".join(re.sub(r"\n[ \t]+", "", text).splitlines()))

    def _named(self, name: re.Match[str]) -> str:
        return f"(?:{self._more.get(name[1]) or self.filled(self._entries[name[1]])})"

    def compiled(self, name: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
        return re.compile(self.filled(self._entries[name]), flags)

    def expression(self, name: str) -> Expression:
        return expression(f"(?:{self.filled(self._entries[name])})")


def expression(pattern: str) -> Expression:
    """In any case, `^` and `$` at lines. For what every answer is searched for: one pass, whatever is in it."""
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    return Expression(re2.compile(f"(?m){pattern}", options))


def holds(wanted: Expression, text: str) -> bool:
    """Whether it matches anywhere."""
    return wanted.search(text.encode("utf-8", "surrogatepass")) is not None


def matches(wanted: Expression, text: str) -> Iterator[tuple[int, list[str]]]:
    """Where each match begins, and what it and its groups are; empty for a group that took no part."""
    data = text.encode("utf-8", "surrogatepass")
    plain = len(data) == len(text)
    at = seen = 0
    for match in wanted.finditer(data):
        begin = match.start()
        at, seen = begin if plain else at + len(data[seen:begin].decode("utf-8", "surrogatepass")), begin
        yield at, [(group or b"").decode("utf-8", "surrogatepass") for group in (match[0], *match.groups())]


def covers(spans: Sequence[tuple[int, int]], at: int) -> bool:
    """Whether one of the spans, which are sorted and disjoint, contains an offset."""
    index = bisect_right(spans, (at, sys.maxsize)) - 1
    return index >= 0 and at < spans[index][1]
