"""Answers that are whole before they are streamed: the demo's, and all of the application on an ASGI server."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from gateway.api.app import create_app
from gateway.config.loading import load_settings
from gateway.container import Container
from tests.e2e.server import OPERATOR_KEY
from tests.e2e.upstream import Upstream
from tests.gateway.exchange.streaming.support import DONE, Body, bodies, text_of

from .test_streaming import MAIL, SSE, asked, echo

pytestmark = pytest.mark.anyio


@pytest.fixture
async def client(upstream: Upstream, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    upstream.answer = echo
    upstreams: Body = {"lab": {"base_url": f"{upstream.url}/v1", "models": ["m"]}}
    settings = load_settings(
        None, data_dir=tmp_path, detection="patterns", api_key=OPERATOR_KEY, streaming=True, upstreams=upstreams
    )
    async with (
        await Container.start(settings) as container,
        httpx.AsyncClient(
            transport=httpx.ASGITransport(create_app(container)),
            base_url="http://gateway",
            headers={"authorization": f"Bearer {OPERATOR_KEY}"},
        ) as client,
    ):
        yield client


@pytest.mark.parametrize("model", ["svc-demo", "m"])
async def test_the_application_streams(client: httpx.AsyncClient, model: str, upstream: Upstream) -> None:
    answer = await client.post("/v1/chat/completions", json=asked(model=model))
    assert answer.headers["content-type"].startswith(SSE["content-type"].partition(";")[0])
    assert MAIL in text_of(answer.content)
    assert answer.content.endswith(DONE)
    notes = [each["svc"] for each in bodies(answer.content) if "svc" in each]
    assert [note["receipt"]["request_id"] for note in notes] == [answer.headers["x-svc-request-id"]]
    assert MAIL.encode() not in upstream.seen


async def test_the_demo_says_the_same_in_a_stream(client: httpx.AsyncClient) -> None:
    streamed = await client.post("/v1/chat/completions", json=asked(model="svc-demo"))
    whole = await client.post("/v1/chat/completions", json=asked(model="svc-demo", stream=False))
    assert text_of(streamed.content) == whole.json()["choices"][0]["message"]["content"]
