"""Skips a test for something that the machine lacks. In continuous integration, which has everything, it fails."""

import os
from typing import NoReturn

import pytest


def lacking(what: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


def skip_unless_seen(program: str) -> None:
    """Skips a test with a contained program that is in /tmp, as in a checkout there: such programs have their own."""
    if program.startswith("/tmp/"):
        pytest.skip("contained programs do not see a checkout in /tmp")
