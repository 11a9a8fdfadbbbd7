"""The moderations wire: the input is protected, the flags come back."""

import copy
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.config.settings import load_settings
from gateway.container import Container
from gateway.errors import BadRequest
from gateway.wires import Body, Wires
from gateway.wires.moderations import WIRE
from tests.gateway.wires.leaks import leaks
from tests.gateway.wires.replays import client, protect, texts

ANSWER: Body = {
    "id": "modr-1",
    "model": "omni-moderation-latest",
    "results": [
        {
            "flagged": True,
            "categories": {"harassment": True},
            "category_scores": {"harassment": 0.9},
            "category_applied_input_types": {"harassment": ["text"]},
        }
    ],
}


def request(given: Any = "hello", **fields: Any) -> Body:
    return {"model": "omni-moderation-latest", "input": given, **fields}


@pytest.mark.parametrize(
    "body",
    [
        request("a canary"),
        request(["a", "a canary"]),
        request([{"type": "text", "text": "a canary"}]),
        request([{"type": "image_url", "image_url": {"url": "https://a.example/canary"}}]),
        request(whatever="canary"),
        request(**{"canary": 1}),
    ],
)
def test_text_is_found_and_replaced_wherever_it_stands(body: Body) -> None:
    before = json.dumps(body)
    assert json.dumps(protect(WIRE, body)) == before.replace("canary", "X")


def test_pictures_are_attachments() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    assert WIRE.read(request([{"type": "text", "text": "a"}, picture])).attachments == ("data", "image_url")
    assert WIRE.read(request("a")).attachments == ()


def test_a_request_without_a_model_gets_the_default() -> None:
    body: Body = {"input": "a"}
    assert WIRE.model(body, "") == WIRE.read(body).model == "omni-moderation-latest"


@pytest.mark.parametrize("given", [None, "", [], {"a": "canary"}, [[1, 2]], [4711], 4711])
def test_other_input_is_refused(given: Any) -> None:
    with pytest.raises(BadRequest) as refusal:
        WIRE.read(request(given))
    assert refusal.value.param == "input"
    assert "canary" not in refusal.value.message


async def test_no_string_lets_a_value_cross(container: Container) -> None:
    assert await leaks(container, WIRE, request([{"type": "text", "text": "a"}, "b"], extra={"deep": ["c"]})) == []


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    settings = load_settings(None, data_dir=tmp_path_factory.mktemp("moderations"), detection="patterns")
    async with await Container.start(settings) as running:
        yield running


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
    assert texts(WIRE, asked[0]) == ["a"]
    assert {text.text for text in WIRE.answer_texts(ANSWER)} == {"text"}
    assert WIRE.usage(ANSWER) is None


@pytest.mark.parametrize(
    ("path", "served"), [("/v1/moderations", True), ("/moderations", True), ("/v1/moderation", False)]
)
def test_the_calls_it_serves(path: str, served: bool) -> None:
    assert (Wires.discover().serving("POST", path) is WIRE) is served
