"""A member of another type than expected counts as absent: an event of such a type or reason is of an unknown one."""

from typing import Any

import pytest

from gateway.wires.anthropic_events import MessageEvents
from gateway.wires.gemini import WIRE
from gateway.wires.members import index_at, object_at, objects_at, text_at

NO_WORDS: list[Any] = [[], {}, ["text"], 1, None, True]


def test_members_of_the_expected_type() -> None:
    body = {"object": {"a": 1}, "objects": [{"b": 2}, 3], "text": "c", "index": 4}
    assert (object_at(body, "object"), objects_at(body, "objects")) == ({"a": 1}, [{"b": 2}])
    assert (text_at(body, "text"), index_at(body)) == ("c", 4)


@pytest.mark.parametrize("body", [None, "text", ["text"], {}, {"name": 1.5}, {"name": None}], ids=str)
def test_other_members_are_absent(body: Any) -> None:
    assert (object_at(body, "name"), objects_at(body, "name"), text_at(body, "name")) == ({}, [], "")
    assert index_at(body if isinstance(body, dict) else {}, "name", default=7) == 7


@pytest.mark.parametrize("odd", NO_WORDS, ids=str)
def test_an_event_of_no_known_type_ends_nothing(odd: Any) -> None:
    events = MessageEvents()
    assert not events.ends_channel({"type": odd}, (0, "text"))
    assert events.refusal("Withheld.", {"type": odd})


@pytest.mark.parametrize("odd", NO_WORDS, ids=str)
def test_an_odd_reason_does_not_break_an_answer(odd: Any) -> None:
    assert WIRE.stream.is_last({"candidates": [{"finishReason": odd}]}) in {True, False}
