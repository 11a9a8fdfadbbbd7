"""One detector for all tests here: it is immutable, and building it runs every recognizer's examples."""

import pytest

from gateway.detection import Detector


@pytest.fixture(scope="session")
def detector() -> Detector:
    return Detector()
