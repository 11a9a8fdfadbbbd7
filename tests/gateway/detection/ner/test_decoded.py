"""The surroundings of what is encoded are decoded, and what is found in them has its place in the source."""

import pytest

from gateway.detection.ner.decoded import decoded
from gateway.models import Entity
from tests.tables import table

CASES = table(__file__)


@pytest.mark.parametrize(("text", "plain"), CASES["finds_a_name_in_decoded_text"])
def test_finds_a_name_in_decoded_text(text: str, plain: str) -> None:
    found = decoded(text)
    assert found is not None
    start = found.text.index(plain) + len("to ")
    (entity,) = found.in_source([Entity("PERSON", start, start + len("Jürgen Roe"), 0.9, "model")])
    assert text[entity.start : entity.end] == text[text.index("J") :]


@pytest.mark.parametrize("text", ["to Jane Roe", "\ud800 to Jane Roe", "a lone \udfff"])
def test_text_without_encodings_is_not_decoded(text: str) -> None:
    assert decoded(text) is None
