"""The features of each token that the model of names is given."""

import pytest

from gateway.detection.ner.features import case_class, token_types
from tests.tables import table

CASES = table(__file__)


@pytest.mark.parametrize(("piece", "expected"), CASES["case"])
def test_case(piece: str, expected: int) -> None:
    assert case_class(piece) == expected


def test_gaps() -> None:
    text = "Anna  Müller,\n x"
    offsets = [(0, 4), (6, 9), (9, 12), (12, 13), (15, 16)]
    assert [each % 3 for each in token_types(text, offsets)] == [2, 1, 0, 0, 2]
