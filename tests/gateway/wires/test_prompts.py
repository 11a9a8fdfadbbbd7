"""Prompts that have a whole conversation: their first turn, and the placeholders that stay from turn to turn."""

import json
import re
from collections.abc import AsyncIterator

import pytest

from gateway.config.loading import load_settings
from gateway.container import Container
from gateway.wires.base import Body
from gateway.wires.prompts import first_turn, first_turn_of
from tests.gateway.wires.contract.cases import wire_of
from tests.gateway.wires.leaks import sent_for
from tests.tables import table

CASES = table(__file__)
MAIL = "anna@acme.example"
PATH = "/model/amazon.titan-x-v1:0/invoke"


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    settings = load_settings(None, data_dir=tmp_path_factory.mktemp("prompts"), detection="patterns")
    async with await Container.start(settings) as running:
        yield running


@pytest.mark.parametrize(("first", "second"), CASES["turns"])
def test_the_first_turn_is_the_same_at_every_turn(first: str, second: str) -> None:
    begun = first_turn(first)
    assert begun and first_turn(second) == begun
    assert begun in first


@pytest.mark.parametrize(("body", "turn"), CASES["bodies"])
def test_the_first_turn_of_a_body(body: Body, turn: str) -> None:
    assert first_turn_of(body) == turn


@pytest.mark.parametrize("member", ["inputText", "prompt"])
@pytest.mark.parametrize(("first", "second"), CASES["turns"])
async def test_placeholders_stay(container: Container, member: str, first: str, second: str) -> None:
    sent = [
        json.loads(await sent_for(container, wire_of("bedrock-invoke"), {member: text.replace("Anna", MAIL)}, PATH))
        for text in (first, second)
    ]
    found = [re.findall(r"\[EMAIL_ADDRESS_\w+\]", body[member]) for body in sent]
    assert found[0] and found[0] == found[1][: len(found[0])]


@pytest.mark.parametrize(("wire", "path"), [("completions", "/v1/completions"), ("ollama-generate", "/api/generate")])
async def test_other_prompts_keep_their_placeholders_too(container: Container, wire: str, path: str) -> None:
    found = set()
    for text in (f"User: I am {MAIL}\nBot:", f"User: I am {MAIL}\nBot: Hi.\nUser: And?\nBot:"):
        sent = await sent_for(container, wire_of(wire), {"model": "m", "prompt": text, "stream": False}, path)
        found |= {*re.findall(rb"\[EMAIL_ADDRESS_\w+\]", sent)}
    assert len(found) == 1
