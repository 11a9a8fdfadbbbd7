"""Loads word lists from the TOML files next to the modules that use them."""

import tomllib
from collections.abc import Mapping
from pathlib import Path


def word_lists(module: str) -> Mapping[str, frozenset[str]]:
    """Returns the lists in the TOML file named like a module (its `__file__`). Words are separated by white space."""
    lists: dict[str, str] = tomllib.loads(Path(module).with_suffix(".toml").read_text("utf-8"))
    return {name: frozenset(words.split()) for name, words in lists.items()}
