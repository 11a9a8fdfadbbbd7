"""The list of models, in the shape of the client's API and wherever its base URL has it look."""

from datetime import UTC, datetime
from functools import cache
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from gateway.api.routing import NativeRoute
from gateway.http.strict_json import dump
from gateway.models import Family
from gateway.surfaces.base import SurfaceRegistry
from gateway.wires.error_shapes import family_of

# APIs whose clients call paths that no other API has.
_OWN = frozenset({"gemini", "ollama"})
# Methods of a model in Gemini's API, by which clients filter the list.
_METHODS = ("generateContent", "streamGenerateContent", "countTokens", "embedContent", "batchEmbedContents")


@cache
def model_lists() -> APIRouter:
    """Returns the routes. They are aliases of `/v1/models`, so that the documentation has that one only."""
    router = APIRouter(route_class=NativeRoute, include_in_schema=False)

    @router.get("/openai/models")
    @router.get("/openai/v1/models")
    @router.get("/models")
    async def models(request: Request) -> Response:
        return await listed(request, family_of(request.headers.raw))

    @router.get("/models/{model:path}")
    async def model(request: Request, model: str) -> Response:
        return found(request, model, family_of(request.headers.raw))

    @router.get("/v1beta/models")
    async def gemini_models(request: Request) -> Response:
        return await listed(request, "gemini")

    @router.get("/v1beta/models/{model:path}")
    async def gemini_model(request: Request, model: str) -> Response:
        return found(request, model, "gemini")

    @router.get("/api/tags")
    async def ollama_models(request: Request) -> Response:
        return await listed(request, "ollama")

    return router


async def listed(request: Request, family: Family) -> Response:
    """Answers with all models; to clients of APIs that could use no other, with those of their upstreams."""
    surfaces: SurfaceRegistry = request.app.state.container.surfaces
    models = [_shaped(model, family) for model in await surfaces.models(family if family in _OWN else None)]
    match family:
        case "openai" | "bedrock":
            return _json({"object": "list", "data": models})
        case "anthropic":
            ends = {"first_id": models[0]["id"], "last_id": models[-1]["id"]} if models else {}
            return _json({"data": models, "has_more": False, **ends})
        case "gemini" | "ollama" | "cohere":
            return _json({"models": models})


def found(request: Request, model: str, family: Family) -> Response:
    """Answers with one model. Raises NotFound (`model_not_found`)."""
    surfaces: SurfaceRegistry = request.app.state.container.surfaces
    return _json(_shaped(surfaces.model(model, family), family))


def _shaped(model: dict[str, Any], family: Family) -> dict[str, Any]:
    name = model["id"]
    match family:
        case "openai" | "bedrock":
            return model
        case "anthropic":
            created = datetime.fromtimestamp(model["created"], UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            return {"type": "model", "id": name, "display_name": name, "created_at": created}
        case "gemini":
            return {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": _METHODS}
        case "ollama" | "cohere":
            created = datetime.fromtimestamp(model["created"], UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            return {"name": name, "model": name, "modified_at": created, "size": 0, "digest": "", "details": {}}


def _json(value: object) -> Response:
    return Response(dump(value), media_type="application/json")
