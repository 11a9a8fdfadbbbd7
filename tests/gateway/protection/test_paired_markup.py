"""A span that holds one mark of a pair is widened by the other, if that is next to it."""

import pytest

from gateway.models import Action
from gateway.protection.paired_markup import with_paired_markup
from gateway.text.fields import Span
from tests.tables import table

CASES = table(__file__)


def marked(text: str) -> tuple[str, Span]:
    """Returns the text without ‹ and ›, and the span between them."""
    start, end = text.index("‹"), text.index("›") - 1
    plain = text.replace("‹", "").replace("›", "")
    return plain, Span(start, end, "PERSON", Action.PLACEHOLDER, 0.9, "test")


@pytest.mark.parametrize(("given", "widened"), CASES["a_span_is_widened_by_the_counterparts_of_its_marks"])
def test_a_span_is_widened_by_the_counterparts_of_its_marks(given: str, widened: str) -> None:
    text, span = marked(given)
    assert list(with_paired_markup(text, [span])) == [marked(widened)[1]]
