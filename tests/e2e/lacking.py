"""Skips a test for something that the machine lacks. In continuous integration, which has everything, it fails."""

import os
from typing import NoReturn

import pytest


def lacking(what: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)
