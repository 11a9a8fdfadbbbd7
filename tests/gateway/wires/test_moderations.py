"""Moderations read by the official SDK; `contract` tests what the wire shares with the others."""

import copy
import json

from gateway.wires.base import Body
from gateway.wires.moderations import WIRE
from tests.gateway.wires.replays import client
from tests.tables import table

CASES = table(__file__)

ANSWER: Body = CASES["answer"]


def test_the_sdk_gets_the_flags() -> None:
    answer = copy.deepcopy(ANSWER)
    WIRE.annotate(answer, {"request_id": "r"})
    asked: list[Body] = []

    def upstream(body: Body) -> tuple[str, bytes]:
        asked.append(body)
        return "application/json", json.dumps(answer).encode()

    got = client(upstream).moderations.create(input="a")
    assert got.results[0].flagged
    assert got.results[0].categories.harassment
    assert WIRE.read(asked[0]).texts() == ["a"]
    assert {text.text for text in WIRE.answer_texts(ANSWER)} == {"text"}
    assert WIRE.usage(ANSWER) == (None, None)
