"""Serves the playground at /playground. It needs no key: the files are the same for everyone, and get no text."""

import asyncio
import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from gateway.api.playground.site import site
from gateway.errors import NotFound

POLICY = (
    "default-src 'none'; script-src 'self' blob: 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; "
    "worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "wasm": "application/wasm",
    "zip": "application/zip",
}
_PACKED = frozenset({"zip", "whl"})


@dataclass(frozen=True, slots=True)
class File:
    """A file as it is sent. `compressed` is None for an archive, which is compressed already."""

    data: bytes
    compressed: bytes | None
    headers: Mapping[str, str]


def playground() -> APIRouter:
    """Returns the routes of the playground."""
    router = APIRouter(include_in_schema=False)

    @router.get("/playground")
    async def folder(request: Request) -> Response:
        _check_on(request)
        return RedirectResponse("/playground/", status_code=308)

    @router.get("/playground/")
    async def page(request: Request) -> Response:
        return await file(request, "index.html")

    @router.get("/playground/{name}")
    async def file(request: Request, name: str) -> Response:
        _check_on(request)
        # The first time, the archive of the gateway's modules is made, and everything is compressed.
        found = (await asyncio.to_thread(files)).get(name)
        if found is None:
            raise NotFound("The playground has no such file.")
        return answer(found, request.headers.get("if-none-match", ""), request.headers.get("accept-encoding", ""))

    return router


@cache
def files() -> Mapping[str, File]:
    """Returns the files of the site as they are sent."""
    return {name: _file(name, data) for name, data in site().items()}


def answer(file: File, known: str, encodings: str) -> Response:
    """Returns a file, compressed if the client takes that, or 304 if the client has it (`If-None-Match`)."""
    headers = dict(file.headers)
    if headers["etag"] in _listed(known) or known == "*":
        return Response(status_code=304, headers=headers)
    if file.compressed is not None and "gzip" in _listed(encodings):
        return Response(file.compressed, headers=headers | {"content-encoding": "gzip"})
    return Response(file.data, headers=headers)


def _listed(header: str) -> list[str]:
    return [each.strip() for each in header.split(",")]


def _file(name: str, data: bytes) -> File:
    kind = name.rpartition(".")[2]
    headers = {
        "content-type": _TYPES.get(kind, "application/octet-stream"),
        # Browsers keep it, and ask each time whether it is current: the page knows the digests of one version only.
        "cache-control": "no-cache",
        "content-security-policy": POLICY,
        # Weak, since both encodings have the same.
        "etag": f'W/"{sha256(data).hexdigest()[:32]}"',
        "vary": "accept-encoding",
    }
    return File(data, None if kind in _PACKED else gzip.compress(data, 6, mtime=0), headers)


def _check_on(request: Request) -> None:
    if not request.app.state.container.settings.playground:
        raise NotFound("The playground is switched off here; the setting `playground` switches it on.")
