"""Models are listed in the shape of the API that a client speaks, wherever its base URL has it look."""

from typing import Any

import httpx
import pytest

CLAUDE, GOOGLE = {"anthropic-version": "2023-06-01"}, {"x-goog-api-key": "of-the-provider"}
NAMES = ["svc-demo", "gemini", "gemini-x", "anthropic", "claude-x", "configured-upstream"]


@pytest.mark.parametrize("path", ["/v1/models", "/models", "/openai/models", "/openai/v1/models"])
async def test_lists(client: httpx.AsyncClient, path: str) -> None:
    models = (await client.get(path)).json()
    assert (models["object"], [model["id"] for model in models["data"]]) == ("list", NAMES)
    models = (await client.get(path, headers=CLAUDE)).json()
    assert [model["display_name"] for model in models["data"]] == NAMES
    assert (models["first_id"], models["last_id"], models["has_more"]) == (NAMES[0], NAMES[-1], False)


async def test_gemini_lists_its_own(client: httpx.AsyncClient) -> None:
    models = (await client.get("/v1beta/models")).json()["models"]
    assert [model["name"] for model in models] == ["models/gemini", "models/gemini-x", "models/configured-upstream"]
    assert "generateContent" in models[0]["supportedGenerationMethods"]


async def test_ollama_lists_its_own(client: httpx.AsyncClient) -> None:
    assert (await client.get("/api/tags")).json() == {"models": []}


@pytest.mark.parametrize(
    ("path", "headers", "shape"),
    [
        ("/models/svc-demo", {}, {"id": "svc-demo", "object": "model", "owned_by": "svc"}),
        ("/v1/models/claude-x", CLAUDE, {"id": "claude-x", "type": "model", "display_name": "claude-x"}),
        ("/v1beta/models/gemini-x", {}, {"name": "models/gemini-x", "displayName": "gemini-x"}),
    ],
)
async def test_one_model(client: httpx.AsyncClient, path: str, headers: Any, shape: dict[str, str]) -> None:
    assert (await client.get(path, headers=headers)).json().items() >= shape.items()
    unknown = await client.get(f"{path}-2", headers=headers)
    assert (unknown.status_code, "model_not_found" in unknown.text) == (404, True)
