"""What crosses of requests of the Gemini wire: nothing private, all else as it is, and the same bytes at every turn."""

import copy
from collections.abc import AsyncIterator, Iterator
from typing import Any

import orjson
import pytest

from gateway.config.settings import load_settings
from gateway.container import Container
from gateway.errors import GatewayError
from gateway.exchange.destination import Destination
from gateway.models import Caller, Scope, Trust
from gateway.wires.gemini import WIRE
from tests.exchanges import protected_exchange
from tests.gateway.wires.test_gemini import BATCH, CARD, EMBED, FULL, IBAN, MAIL, PATH

type Body = dict[str, Any]


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    settings = load_settings(None, data_dir=tmp_path_factory.mktemp("gemini"), detection="patterns")
    async with await Container.start(settings) as running:
        await running.policies.create({"id": "files", "title": "Files", "extends": "default", "attachments": "pass"})
        yield running


async def crossing(container: Container, body: Body, path: str = PATH) -> bytes:
    """What crosses of a request."""
    model = WIRE.model(body, path)
    exchange = await protected_exchange(
        container,
        WIRE,
        {**copy.deepcopy(body), "svc_policy": "files"},
        Caller("key_anna", Scope.CLIENT),
        Destination(str(model), Trust.LOCAL),
        path=path,
        may_stream=True,
    )
    return exchange.body


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all strings and keys; a key is in a tuple of its own."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield (*path, (name,))
            yield from places(inner, (*path, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, (*path, index))
    elif isinstance(value, str):
        yield path


def planted(body: Body, path: tuple[Any, ...], value: Any) -> Body:
    changed = copy.deepcopy(body)
    container: Any = changed
    for step in path[:-1]:
        container = container[step]
    if isinstance(path[-1], tuple):
        container[value] = container.pop(path[-1][0])
    else:
        container[path[-1]] = value
    return changed


TEXT: Body = {"parts": [{"text": "a"}]}
FILES: Body = {
    "contents": [
        {"parts": [{"inlineData": {"mimeType": "image/png", "data": "QUJD", "displayName": "p"}}]},
        {"parts": [{"fileData": {"mimeType": "a/b", "fileUri": "u"}, "videoMetadata": {"startOffset": "1s"}}]},
        {"parts": [{"toolCall": {"id": "i", "toolType": "T", "args": {"q": "a"}}}]},
        {"parts": [{"toolResponse": {"id": "i", "response": {"q": "a"}}, "partMetadata": {"m": "a"}}]},
    ]
}
REQUESTS = [
    ("full", FULL, PATH),
    ("files", FILES, PATH),
    (
        "count",
        {"generateContentRequest": {"model": "models/x", **FULL}, "contents": [TEXT]},
        PATH.replace("generateContent", "countTokens"),
    ),
    ("embed", {"model": "models/x", "content": TEXT, "taskType": "CLUSTERING", "title": "t"}, EMBED),
    ("batch", {"requests": [{"model": "models/x", "content": TEXT, "title": "t"}]}, BATCH),
    (
        "odd",
        {"contents": [TEXT], "content": "a", "requests": ["a"], "generation_config": "a", "tools": "a", "model": "a"},
        PATH,
    ),
    ("odd embed", {"content": TEXT, "contents": "a", "generateContentRequest": "a", "systemInstruction": "a"}, EMBED),
    (
        "twice",
        {
            "contents": [TEXT],
            "generationConfig": {"responseSchema": "a"},
            "generation_config": {"response_schema": "a"},
        },
        PATH,
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("body", "path"), [each[1:] for each in REQUESTS], ids=[each[0] for each in REQUESTS])
async def test_no_place_lets_a_private_value_cross(container: Container, body: Body, path: str) -> None:
    found = []
    for place in places(body):
        for value in (CARD, MAIL, IBAN):
            try:
                crossed = await crossing(container, planted(body, place, value), path)
            except GatewayError as error:
                if value in error.message or value in (error.param or ""):
                    found.append(("error", place, value))
                continue
            if value.encode() in crossed:
                found.append(("crossed", place, value))
    assert found == []


async def test_what_is_not_private_crosses_as_it_is(container: Container) -> None:
    assert orjson.loads(await crossing(container, FULL)) == FULL
