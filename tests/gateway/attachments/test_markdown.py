"""Tables keep their cells, whatever is in them."""

import pytest

from gateway.attachments.base import MOST_CHARACTERS, Refused
from gateway.attachments.markdown import cell, table


def test_a_table() -> None:
    assert table([["a", "b|c"], ["d\ne"]]) == "| a | b\\|c |\n| --- | --- |\n| d<br>e |  |"
    assert table([]) == table([[]]) == ""
    assert cell(" a \n\n b ") == "a<br>b"


def test_a_table_is_bounded() -> None:
    with pytest.raises(Refused):
        table([[""] * MOST_CHARACTERS, [""]])
