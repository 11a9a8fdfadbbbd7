"""Serves the playground at /playground. It needs no key: the files are the same for everyone, and get no text."""

import asyncio

from fastapi import APIRouter
from fastapi.responses import RedirectResponse, Response

from gateway.api.playground.site import site
from gateway.errors import NotFound

POLICY = (
    "default-src 'none'; script-src 'self' blob: 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; "
    "worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css",
    "js": "text/javascript",
    "mjs": "text/javascript",
    "wasm": "application/wasm",
}


def playground() -> APIRouter:
    """Returns the routes of the playground."""
    router = APIRouter(include_in_schema=False)

    @router.get("/playground")
    async def folder() -> Response:
        return RedirectResponse("/playground/", status_code=308)

    @router.get("/playground/")
    async def page() -> Response:
        return await file("index.html")

    @router.get("/playground/{name}")
    async def file(name: str) -> Response:
        # The first time, the archive of the gateway's modules is made.
        data = (await asyncio.to_thread(site)).get(name)
        if data is None:
            raise NotFound("The playground has no such file.")
        kind = _TYPES.get(name.rpartition(".")[2], "application/octet-stream")
        return Response(data, media_type=kind, headers={"content-security-policy": POLICY})

    return router
