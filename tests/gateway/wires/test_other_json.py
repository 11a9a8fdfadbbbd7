"""Calls that no wire knows: what is read as text, and what as a file."""

import json
from collections.abc import AsyncIterator

import pytest

from gateway.config.loading import load_settings
from gateway.container import Container
from gateway.errors import BadRequest
from gateway.wires.other_json import OTHER_JSON
from tests.gateway.wires.contract.cases import wire_of
from tests.gateway.wires.leaks import sent_for
from tests.tables import table

CASES = table(__file__)


@pytest.fixture(scope="module")
async def full(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    settings = load_settings(None, data_dir=tmp_path_factory.mktemp("other"), detection="full")
    async with await Container.start(settings) as running:
        yield running


def test_a_file_is_left_out_of_the_texts() -> None:
    data = "iVBORw0KGgo" + "A" * 60
    conversation = OTHER_JSON.read({"image": data, "prompt": "draw"})
    assert conversation.attachments == ("data",)
    assert data not in " ".join(conversation.texts())
    assert any("draw" in text for text in conversation.texts())


@pytest.mark.parametrize("name", CASES["names of models"])
def test_a_models_name_is_no_text(name: str) -> None:
    conversation = OTHER_JSON.read({"model": name, "args": {"model_id": name}, "models": [name], "input": "Hi."})
    assert conversation.names == {name}
    assert not any(name in text for text in conversation.texts())


@pytest.mark.parametrize("name", CASES["no names of models"])
def test_anything_else_under_model_is_text(name: str) -> None:
    conversation = OTHER_JSON.read({"model": name})
    assert conversation.names == set()
    assert any(name in text for text in conversation.texts())


def test_names_beyond_the_first_are_text() -> None:
    conversation = OTHER_JSON.read({"models": [f"model-{number}" for number in range(20)]})
    assert len(conversation.names) == 16
    assert any("model-19" in text for text in conversation.texts())


async def test_models_are_sent_as_they_are(full: Container) -> None:
    """A name such as Falcon's reads like a person's, and is hidden in a text that says so."""
    body = {"model": "falcon", "input": "My name is Falcon Miller."}
    sent = json.loads(await sent_for(full, OTHER_JSON, body))
    assert sent["model"] == "falcon"
    assert "Falcon" not in sent["input"]


@pytest.mark.parametrize("name", CASES["private names"])
async def test_a_private_name_is_not_sent(full: Container, name: str) -> None:
    path = "/model/amazon.titan-x-v1:0/invoke"
    for wire, address in ((OTHER_JSON, "/v1/other"), (wire_of("bedrock-invoke"), path)):
        try:
            sent = await sent_for(full, wire, {"model": name, "inputText": "Hi."}, address)
        except BadRequest as refused:
            assert refused.param == "model"
            assert name not in str(refused)
        else:
            assert name.encode() not in sent
