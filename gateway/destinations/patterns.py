"""Searches texts with RE2, and loads expressions and word lists from the TOML files next to the modules that use them.

RE2 searches bytes; offsets here are in characters.
"""

import re
from collections.abc import Iterator
from typing import Any

from gateway.detection.data_files import expand, read_toml
from gateway.detection.re2_expression import Expression
from gateway.detection.recognizer import compile_pattern


class Patterns:
    """The expressions in the TOML file named like a module (its `__file__`).

    An entry has one or more alternatives a line; an indented line continues the one before. `<<name>>` stands for
    another entry, one of `more`, or a list of the table `words`, whose words are separated by white space.
    """

    def __init__(self, module: str, **more: str) -> None:
        self.table: dict[str, Any] = read_toml(module)
        self.words = {name: frozenset(words.split()) for name, words in self.table.get("words", {}).items()}
        lists = {name: "|".join(sorted(words)) for name, words in self.words.items()}
        texts = {name: text for name, text in self.table.items() if isinstance(text, str)} | lists | more
        self._entries = {name: f"(?:{_alternatives(text)})" for name, text in texts.items()}

    def filled(self, text: str) -> str:
        """An expression as Python's `re` and RE2 have it."""
        return expand(_alternatives(text), self._entries)

    def compiled(self, name: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
        return re.compile(self.filled(f"<<{name}>>"), flags)

    def expression(self, text: str) -> Expression:
        """Returns an RE2 expression for searches of every answer: ignores case, and matches `^` and `$` at lines."""
        return compile_pattern(f"(?im){self.filled(text)}")


def _alternatives(text: str) -> str:
    return "|".join(re.sub(r"\n[ \t]+", "", text).splitlines())


def first(wanted: Expression, text: str) -> int | None:
    """Returns where the first match begins."""
    return next((at for at, _ in matches(wanted, text)), None)


def matches(wanted: Expression, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yields where each match begins, and the match with its groups; a group that took no part is empty."""
    data = text.encode("utf-8", "surrogatepass")
    plain = len(data) == len(text)
    at = seen = 0
    for match in wanted.finditer(data):
        begin = match.start()
        at, seen = begin if plain else at + len(data[seen:begin].decode("utf-8", "surrogatepass")), begin
        yield at, [(group or b"").decode("utf-8", "surrogatepass") for group in (match[0], *match.groups())]
