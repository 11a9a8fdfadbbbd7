"""The models where clients look for them whose base URL has no version, or who speak Gemini's API."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from gateway.api.routing import NativeRoute
from gateway.http.strict_json import dump
from gateway.surfaces import SurfaceRegistry
from gateway.wires.error_shapes import family_of

# Methods of a model in Gemini's API, by which clients filter the list.
_METHODS = ("generateContent", "streamGenerateContent", "countTokens", "embedContent", "batchEmbedContents")


def model_lists() -> APIRouter:
    """Returns the routes. They are aliases of `/v1/models`, so that the documentation has that one only."""
    router = APIRouter(route_class=NativeRoute, include_in_schema=False)

    @router.get("/openai/models")
    @router.get("/openai/v1/models")
    @router.get("/models")
    async def models(request: Request) -> Response:
        return _json({"object": "list", "data": await _surfaces(request).models()})

    @router.get("/models/{model:path}")
    async def model(request: Request, model: str) -> Response:
        return _json(_surfaces(request).model(model, family_of(request.headers.raw)))

    @router.get("/v1beta/models")
    async def gemini_models(request: Request) -> Response:
        found = await _surfaces(request).models("gemini")
        return _json({"models": [_as_gemini(model["id"]) for model in found]})

    @router.get("/v1beta/models/{model:path}")
    async def gemini_model(request: Request, model: str) -> Response:
        return _json(_as_gemini(_surfaces(request).model(model, "gemini")["id"]))

    return router


def _surfaces(request: Request) -> SurfaceRegistry:
    surfaces: SurfaceRegistry = request.app.state.container.surfaces
    return surfaces


def _as_gemini(name: str) -> dict[str, Any]:
    return {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": _METHODS}


def _json(value: object) -> Response:
    return Response(dump(value), media_type="application/json")
