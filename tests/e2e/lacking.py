"""What a machine lacks for a test: the test is skipped, but fails in continuous integration, which has all of it."""

import os
from typing import NoReturn

import pytest


def lacking(what: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)
