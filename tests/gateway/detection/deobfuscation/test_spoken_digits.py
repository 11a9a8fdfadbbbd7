"""Numbers that are read out, as in transcripts of calls."""

import pytest

from gateway.detection import Detector
from tests.tables import table

CASES = table(__file__)


@pytest.mark.parametrize(("text", "value", "type_name"), CASES["a_number_that_is_read_out_is_found"])
def test_a_number_that_is_read_out_is_found(detector: Detector, text: str, value: str, type_name: str) -> None:
    assert (value, type_name) in [(text[one.start : one.end], one.type) for one in detector.detect(text)]


@pytest.mark.parametrize("text", CASES["counting_is_no_number"])
def test_counting_is_no_number(detector: Detector, text: str) -> None:
    assert not detector.detect(text)
