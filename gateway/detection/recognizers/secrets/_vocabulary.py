"""Loads `vocabulary.toml`, the words for secrets and around them, and inserts its entries into expressions."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from gateway.detection.entropy import phrases, word_set
from gateway.detection.re2_expression import Expression
from gateway.detection.recognizer import compile_pattern

_NAME = re.compile(r"<<(\w+)>>")
_LINE_BREAK = re.compile(r"\n\s*")


def expand(text: str, entries: Mapping[str, str]) -> str:
    """Replaces each `<<name>>` by that entry, and what the entry names in turn. Raises KeyError for an unknown name."""
    while _NAME.search(text):
        text = _NAME.sub(lambda match: entries[match[1]], text)
    return text


def one_line(regex: str) -> str:
    """Removes line breaks and the indentation behind them, which serve only the reader of an expression."""
    return _LINE_BREAK.sub("", regex)


def _alternatives(text: str) -> str:
    return "|".join(sorted(phrases(text), key=lambda phrase: (-len(phrase), phrase)))


def _load() -> tuple[Mapping[str, str], Mapping[str, frozenset[str]]]:
    data = tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text("utf-8"))
    entries = {name: text for section in data.values() for name, text in section.items()}
    expanded = {section: {name: expand(text, entries) for name, text in data[section].items()} for section in data}
    expressions = {name: one_line(text) for name, text in expanded["expressions"].items()}
    expressions |= {name: _alternatives(text) for name, text in expanded["phrases"].items()}
    return expressions, {name: word_set(text.replace(",", " ")) for name, text in expanded["words"].items()}


EXPRESSIONS, WORDS = _load()
"""By name: phrases and expressions as RE2 expressions, longest phrases first; sets of words."""


def compile_words(regex: str) -> Expression:
    """Compiles an RE2 expression in which `<<name>>` inserts an expression of the vocabulary."""
    return compile_pattern(expand(regex, EXPRESSIONS))
