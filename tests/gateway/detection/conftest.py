"""The detector of the built-in recognizers and the name model, which all tests of a process share."""

import pytest

from gateway.detection import Detector, builtin_detector
from gateway.detection.ner.builtin import BuiltinModel
from gateway.detection.ner.finder import NameFinder


@pytest.fixture(scope="session")
def detector() -> Detector:
    return builtin_detector()


@pytest.fixture(scope="session")
def model(detector: Detector) -> BuiltinModel:
    return BuiltinModel(detector.types)


@pytest.fixture(scope="session")
def names(model: BuiltinModel) -> NameFinder:
    return NameFinder(model)
