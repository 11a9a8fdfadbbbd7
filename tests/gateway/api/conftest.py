"""The application without a listener, and with models of two upstreams."""

from collections.abc import AsyncIterator

import httpx
import pytest

from gateway.api.app import create_app
from gateway.config.loading import load_settings
from gateway.container import Container

KEY = "svck_" + "operator-of-the-tests-" * 2


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    models = {"gemini": "gemini-x", "anthropic": "claude-x"}
    base = {"base_url": "http://127.0.0.1:9"}
    upstreams = {wire: {**base, "models": [model], "wire": wire} for wire, model in models.items()}
    data_dir = tmp_path_factory.mktemp("api") / "data"
    settings = load_settings(None, data_dir=data_dir, detection="patterns", api_key=KEY, upstreams=upstreams)
    async with await Container.start(settings) as running:
        yield running


@pytest.fixture
async def client(container: Container) -> AsyncIterator[httpx.AsyncClient]:
    """Sends the operator's key, unless a request has other fields."""
    transport = httpx.ASGITransport(create_app(container), raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {KEY}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway", headers=headers) as client:
        yield client
