"""Every wire reads the texts of an answer, restores them in place, counts tokens, and withholds an answer."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.config.loading import load_settings
from gateway.container import Container
from gateway.exchange.destination import Destination
from gateway.exchange.messages import known_tokens
from gateway.models import Caller, Scope, Trust
from gateway.wires.base import Body
from gateway.wires.other_json import OTHER_JSON
from tests.exchanges import protected_exchange
from tests.gateway.wires.contract.cases import CASES, cases, copied, place_of, planted, wire_of
from tests.gateway.wires.contract.test_leaks import KINDS

ANSWERED = [id for id, of in CASES.items() if "answer" in of]


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    settings = load_settings(None, data_dir=tmp_path_factory.mktemp("answers"), detection="patterns")
    async with await Container.start(settings) as running:
        yield running


@pytest.mark.parametrize("id", ANSWERED)
def test_every_string_but_the_structure_is_text(id: str) -> None:
    wire, case = wire_of(id), CASES[id]["answer"]
    found = wire.answer_texts(copied(case["body"]))
    assert [[text.text, text.kind, text.choice, text.tool] for text in found] == case["texts"]
    assert all(text.channel is None for text in found)


@pytest.mark.parametrize("id", ANSWERED)
def test_texts_are_replaced_in_place(id: str) -> None:
    """A document that was an object is one again."""
    case = CASES[id]["answer"]
    answer = copied(case["body"])
    for text in wire_of(id).answer_texts(answer):
        text.write(text.text.replace("1", "2") if text.kind == "json" else "x")
    assert answer == case["replaced"]


@pytest.mark.parametrize("id", ANSWERED)
def test_a_withheld_answer_keeps_nothing_that_was_said(id: str) -> None:
    case = CASES[id]["answer"]
    answer, empty = copied(case["body"]), dict[str, Any]()
    wire_of(id).refuse_answer(answer, "Withheld.")
    wire_of(id).refuse_answer(empty, "Withheld.")
    assert (answer, empty) == (case["refused"], case["refused_empty"])


@pytest.mark.parametrize("id", [id for id in CASES if id != OTHER_JSON.id])
def test_the_gateways_member(id: str) -> None:
    answer: Body = {"svc": "forged"}
    wire_of(id).annotate(answer, {"request_id": "r"})
    assert answer == {"svc": {"request_id": "r"}}
    wire_of(id).annotate(answer, None)
    assert answer == {}


@pytest.mark.parametrize(("wire", "_", "case"), cases("usage"))
def test_tokens_are_counted_where_they_are_numbers(wire: Any, _: str, case: tuple[Body, list[int] | None]) -> None:
    body, tokens = case
    assert known_tokens(*wire.usage(copied(body))) == (None if tokens is None else tuple(tokens))


@pytest.mark.parametrize(("wire", "_", "body"), cases("shapeless"))
def test_an_answer_of_another_shape_has_no_texts(wire: Any, _: str, body: Body) -> None:
    assert wire.answer_texts(copied(body)) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("id", [id for id, of in CASES.items() if "answers" in of])
async def test_every_value_is_restored_exactly(container: Container, id: str, kind: str) -> None:
    case = CASES[id]["answers"]
    said, value = KINDS[kind]
    text = said.format(value)
    exchange = await protected_exchange(
        container,
        wire_of(id),
        planted(case["request"], text),
        Caller("key_anna", Scope.CLIENT),
        Destination("m", Trust.LOCAL),
        path=CASES[id]["path"],
    )
    protected: Any = json.loads(exchange.body)
    for key in place_of(case["request"]) or ():
        protected = protected[key]
    assert protected != text
    body = json.dumps(planted(case["body"], protected)).encode()
    restored = json.loads(await container.answers.close(exchange, 200, body))
    assert restored == planted(case["body"], text)
