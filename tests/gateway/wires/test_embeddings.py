"""The embeddings wire: texts are protected under one key, token numbers are refused, vectors come back unchanged."""

import base64
import copy
import json
import struct
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.config.settings import load_settings
from gateway.container import Container
from gateway.errors import BadRequest
from gateway.wires import Body, Wires
from gateway.wires.embeddings import WIRE
from tests.gateway.wires.leaks import crossing, leaks
from tests.gateway.wires.replays import client, protect, texts

VECTOR = base64.b64encode(struct.pack("<3f", 0.5, -1.25, 4.0)).decode()
ANSWER: Body = {
    "object": "list",
    "data": [{"object": "embedding", "index": 0, "embedding": VECTOR}],
    "model": "text-embedding-3-small",
    "usage": {"prompt_tokens": 8, "total_tokens": 8},
}


def request(given: Any = "hello", **fields: Any) -> Body:
    return {"model": "text-embedding-3-small", "input": given, **fields}


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    settings = load_settings(None, data_dir=tmp_path_factory.mktemp("embeddings"), detection="patterns")
    async with await Container.start(settings) as running:
        yield running


@pytest.mark.parametrize(
    "body",
    [
        request("a canary"),
        request(["a", "a canary"]),
        request([{"text": "a canary"}]),
        request(user="canary"),
        request(encoding_format="canary"),
        request(whatever={"x": ["canary"]}),
        request(**{"canary": 1}),
    ],
)
def test_text_is_found_and_replaced_wherever_it_stands(body: Body) -> None:
    before = json.dumps(body)
    assert json.dumps(protect(WIRE, body)) == before.replace("canary", "X")


def test_structure_is_not_text() -> None:
    body = request(["A", "B"], encoding_format="base64", dimensions=256, user="C")
    assert texts(WIRE, body) == ["A", "B", "name: C"]


@pytest.mark.parametrize("given", [[1, 2], [[1, 2], [3]], ["a", 1], ["a", [1]], [1.5]])
def test_token_numbers_are_refused_with_the_option_to_set(given: Any) -> None:
    with pytest.raises(BadRequest, match="check_embedding_ctx_length=False") as refusal:
        WIRE.read(request(given))
    assert refusal.value.param == "input"


def test_lists_of_numbers_are_refused_anywhere() -> None:
    with pytest.raises(BadRequest) as refusal:
        WIRE.read(request(tokens={"ids": [1, 2]}))
    assert refusal.value.param is None, "the name may be private"


@pytest.mark.parametrize("given", [None, "", [], {"a": "canary"}, 4711, [None], [True]])
def test_other_input_is_refused(given: Any) -> None:
    with pytest.raises(BadRequest) as refusal:
        WIRE.read(request(given))
    assert refusal.value.param == "input"
    assert "canary" not in refusal.value.message


async def test_a_value_has_the_same_placeholder_in_every_request(container: Container) -> None:
    one = json.loads(await crossing(container, WIRE, request("Invoice of anna.schmidt@acme.test")))["input"]
    two = json.loads(await crossing(container, WIRE, request(["x", "anna.schmidt@acme.test"])))["input"][1]
    other = json.loads(await crossing(container, WIRE, request("anna.schmidt@acme.test"), caller="key_bert"))["input"]
    assert two.startswith("[EMAIL_ADDRESS_")
    assert one == f"Invoice of {two}"
    assert other != two


async def test_no_string_lets_a_value_cross(container: Container) -> None:
    body = request(["a", "b"], encoding_format="float", user="u", extra={"deep": ["c"]})
    assert await leaks(container, WIRE, body) == []


@pytest.mark.slow
def test_the_sdk_gets_its_vectors() -> None:
    answer = copy.deepcopy(ANSWER)
    assert WIRE.answer_texts(answer) == []
    WIRE.annotate(answer, {"request_id": "r"})
    asked: list[Body] = []

    def upstream(body: Body) -> tuple[str, bytes]:
        asked.append(body)
        return "application/json", json.dumps(answer).encode()

    got = client(upstream).embeddings.create(model="text-embedding-3-small", input=["a"])
    assert got.data[0].embedding == [0.5, -1.25, 4.0]
    assert texts(WIRE, asked[0]) == ["a"]


def test_tokens_are_told() -> None:
    assert WIRE.usage(ANSWER) == (8, 0)
    assert WIRE.usage({}) is None


@pytest.mark.parametrize(
    ("path", "served"),
    [
        ("/v1/embeddings", True),
        ("/embeddings", True),
        ("/openai/deployments/ada/embeddings", True),
        ("/openai/v1/embeddings", True),
        ("/v1/embeddings/x", False),
    ],
)
def test_the_calls_it_serves(path: str, served: bool) -> None:
    assert (Wires.discover().serving("POST", path) is WIRE) is served
    assert WIRE.method_path(path, "m") == "embeddings"
