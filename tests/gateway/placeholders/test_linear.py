"""Work grows with the text and not faster, on texts made to be hard. Counted in calls, not in seconds."""

from collections.abc import Callable

import pytest

from gateway.placeholders import Placeholders, RestoreScope, StreamRestorer, urls_with_placeholders
from tests.call_counts import calls
from tests.tables import table

from .conftest import KEY

CASES = table(__file__)

pytestmark = pytest.mark.slow

SOURCE = RestoreScope("source")
SESSION = Placeholders(KEY)
EMAIL = SESSION.mint("EMAIL_ADDRESS", "anna@acme.test")
SESSION.mint("PERSON", "Anna")
CORE = EMAIL[1:-1]

UNITS = {name: unit.replace("{EMAIL}", EMAIL).replace("{CORE}", CORE) for name, unit in CASES["units"].items()}


def whole(text: str) -> str:
    """In a session of its own: a session remembers what it has read."""
    return Placeholders(KEY, SESSION.entries()).restore(text, rules=SOURCE).text


def stream(text: str) -> str:
    restorer = StreamRestorer(Placeholders(KEY, SESSION.entries()), SOURCE)
    return "".join([*(restorer.feed(text[at : at + 40]) for at in range(0, len(text), 40)), restorer.finish()])


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
@pytest.mark.parametrize(
    "work",
    [whole, urls_with_placeholders, stream],
)
def test_work_grows_with_the_text(unit: str, work: Callable[[str], object]) -> None:
    small, large = (unit * (size // len(unit)) for size in (4_500, 18_000))
    work(small)
    assert calls(lambda: work(large)) <= 6 * calls(lambda: work(small)) + 1000


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_much_of_it_is_read(unit: str) -> None:
    """No time is asserted: work that grew with the square of the text would not come to an end."""
    text = unit * (150_000 // len(unit))
    assert len(whole(text)) > 0
