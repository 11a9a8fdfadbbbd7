"""Particulars of embeddings: one key for all texts, and token numbers."""

import base64
import copy
import json
import struct
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.config.loading import load_settings
from gateway.container import Container
from gateway.errors import BadRequest
from gateway.wires.base import Body
from gateway.wires.embeddings import WIRE
from tests.gateway.wires.leaks import sent_for
from tests.gateway.wires.replays import client

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


@pytest.mark.parametrize("given", [[1, 2], [[1, 2], [3]], ["a", 1], ["a", [1]], [1.5]])
def test_token_numbers_are_refused_with_the_option_to_set(given: Any) -> None:
    with pytest.raises(BadRequest, match="check_embedding_ctx_length=False") as refusal:
        WIRE.read(request(given))
    assert refusal.value.param == "input"


async def test_a_value_has_the_same_placeholder_in_every_request(container: Container) -> None:
    one = json.loads(await sent_for(container, WIRE, request("Invoice of anna.schmidt@acme.test")))["input"]
    two = json.loads(await sent_for(container, WIRE, request(["x", "anna.schmidt@acme.test"])))["input"][1]
    other = json.loads(await sent_for(container, WIRE, request("anna.schmidt@acme.test"), caller="key_bert"))["input"]
    assert two.startswith("[EMAIL_ADDRESS_")
    assert one == f"Invoice of {two}"
    assert other != two


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
    assert WIRE.read(asked[0]).texts() == ["a"]
