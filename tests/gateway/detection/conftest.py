"""The detector of the built-in recognizers, which all tests of a process share."""

import pytest

from gateway.detection import Detector, builtin_detector


@pytest.fixture(scope="session")
def detector() -> Detector:
    return builtin_detector()
