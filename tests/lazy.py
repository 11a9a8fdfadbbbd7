"""Loads a module when a test first uses it.

The SDKs of the providers take seconds to load, and every worker collects every file of tests.
"""

from importlib import import_module
from typing import Any


class Lazy:
    """A module by its name, with its members."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, member: str) -> Any:
        # pytest asks all that a file of tests names for `_mock_name` and `__wrapped__`, to find fixtures.
        if member.startswith("_"):
            raise AttributeError(member)
        return getattr(import_module(self._name), member)
