"""Loads `vocabulary.toml`, the words for secrets and around them, and inserts its entries into expressions."""

import re
from collections.abc import Mapping

from gateway.detection.data_files import expand, one_line, read_toml
from gateway.detection.entropy import phrases, word_set
from gateway.detection.re2_expression import Expression
from gateway.detection.recognizer import compile_pattern


def _alternatives(text: str) -> str:
    return "|".join(sorted(phrases(text), key=lambda phrase: (-len(phrase), phrase)))


def _load() -> tuple[Mapping[str, str], Mapping[str, frozenset[str]]]:
    data = read_toml(__file__, "vocabulary")
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


ADJECTIVE = re.compile(EXPRESSIONS["adjective"])
"""How words end or begin that describe a password."""
