"""Loads regular expressions and word lists from the TOML files next to the modules that use them."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway.detection.re2_expression import Expression
from gateway.guard.regex_search import expression


class Patterns:
    """The expressions in the TOML file named like a module (its `__file__`).

    An entry has one or more alternatives a line; an indented line continues the one before. `{name}` stands for another
    entry, one of `more`, or a list of the table `words`, whose words are separated by white space.
    """

    def __init__(self, module: str, **more: str) -> None:
        self.table: dict[str, Any] = tomllib.loads(Path(module).with_suffix(".toml").read_text("utf-8"))
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
