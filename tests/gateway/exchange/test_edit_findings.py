"""Places of private text in an edit name types and known members, never a value."""

from datetime import date
from typing import Any

import pytest

from gateway.exchange.edit_findings import places

NAME: dict[Any, str] = {"Wilhelmina Oxenfoord": "PERSON", "Wilhelmina": "PERSON", "Oxenfoord": "PERSON"}
SENT: Any = {"model": "m", "messages": [{"role": "user", "content": "[PERSON_7KQ2M]"}]}
CASES: dict[str, tuple[Any, dict[Any, str], list[str]]] = {
    "a name": (
        {"messages": [{"content": "Ask Wilhelmina Oxenfoord, Oxenfoord!"}]},
        NAME,
        [f"PERSON at /messages/0/content, character {start}" for start in (5, 27)],
    ),
    "another spelling": ({"messages": [{"content": "w i l h e l m i n a"}]}, NAME, ["PERSON at /messages/0/content"]),
    "a date": ({"model": "17.3.1979"}, {date(1979, 3, 17): "DATE_OF_BIRTH"}, ["DATE_OF_BIRTH at /model"]),
    "an unknown member": ({"Oxenfoord": {"x/y": 1}}, NAME, ["PERSON at /*, character 1"]),
    "below an unknown member": ({"x": {"content": "Oxenfoord"}}, NAME, ["PERSON at /*/content, character 1"]),
    "a number": ({"n": [None, True, 49170123456]}, {"49170123456": "PHONE"}, ["PHONE at /*/2, character 1"]),
    "the whole body": ("Oxenfoord", NAME, ["PERSON at /, character 1"]),
    "no single text": ({"messages": ["Wilhelm", "ina"]}, NAME, ["PERSON across several texts"]),
}


@pytest.mark.parametrize("name", CASES)
def test_places(name: str) -> None:
    edited, private, found = CASES[name]
    assert places(edited, SENT, private) == found


def test_the_list_is_bounded() -> None:
    assert len(places(["Oxenfoord " * 50] * 50, SENT, NAME)) == 20
