"""Reads the TOML files next to the modules that use them: word lists, tables, and expressions made of named parts."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway.detection.re2_expression import Expression
from gateway.detection.recognizer import compile_pattern

_NAME = re.compile(r"<<(\w+)>>")
_LINE_BREAK = re.compile(r"\n\s*")


def read_toml(module: str, name: str = "") -> dict[str, Any]:
    """Returns the content of the TOML file named like a module (its `__file__`), or of `name` in the same folder."""
    file = Path(module).with_suffix(".toml")
    return tomllib.loads((file.with_stem(name) if name else file).read_text("utf-8"))


def word_lists(module: str, table: str = "words") -> Mapping[str, frozenset[str]]:
    """Returns the lists in a module's file, or in that table of it if there is one. White space separates words."""
    content = read_toml(module)
    return {name: frozenset(words.split()) for name, words in content.get(table, content).items()}


def expand(text: str, entries: Mapping[str, str]) -> str:
    """Replaces each `<<name>>` by that entry, and what the entry names in turn. Raises KeyError for an unknown name."""
    while _NAME.search(text):
        text = _NAME.sub(lambda match: entries[match[1]], text)
    return text


def one_line(regex: str) -> str:
    """Removes line breaks and the indentation after them, which serve only the reader of an expression."""
    return _LINE_BREAK.sub("", regex)


class Expressions(dict[str, str]):
    """Expressions by name, each on one line and with the others that it names."""

    def __init__(self, parts: Mapping[str, str]) -> None:
        super().__init__({name: one_line(expand(text, parts)) for name, text in parts.items()})

    def re2(self, *names: str) -> list[Expression]:
        """Compiles some of them for `NormalizedText.data`."""
        return [compile_pattern(self[name]) for name in names]

    def of_text(self, *names: str, flags: int = 0) -> list[re.Pattern[str]]:
        """Compiles some of them with Python's own engine."""
        return [re.compile(self[name], flags) for name in names]

    def of_bytes(self, *names: str, flags: int = 0) -> list[re.Pattern[bytes]]:
        """Compiles some of them with Python's own engine for bytes."""
        return [re.compile(self[name].encode(), flags) for name in names]
