"""An event whose type or reason is no word is like one of an unknown type."""

from typing import Any

import pytest

from gateway.wires.anthropic_events import MessageEvents
from gateway.wires.gemini import WIRE

NO_WORDS: list[Any] = [[], {}, ["text"], 1, None, True]


@pytest.mark.parametrize("odd", NO_WORDS, ids=str)
def test_an_event_of_no_known_type_ends_nothing(odd: Any) -> None:
    events = MessageEvents()
    assert not events.ends({"type": odd}, (0, "text"))
    assert events.refusal("Withheld.", {"type": odd})


@pytest.mark.parametrize("odd", NO_WORDS, ids=str)
def test_an_odd_reason_does_not_break_an_answer(odd: Any) -> None:
    assert WIRE.stream.is_last({"candidates": [{"finishReason": odd}]}) in {True, False}
