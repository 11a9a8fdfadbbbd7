"""Files are sent with their type and policy, compressed where that is taken, and once to a browser that keeps them."""

import gzip
from collections.abc import Iterator
from types import SimpleNamespace

import httpx
import pytest
from fastapi import FastAPI

from gateway.api.error_handlers import add_error_handlers
from gateway.api.playground import serving
from gateway.api.playground.serving import POLICY, playground

SITE = {"index.html": b"<!doctype html>" * 50, "a.wasm": b"\0asm" * 99, "b.whl": b"PK", "c.mjs": b"0", "d.css": b""}


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Iterator[FastAPI]:
    monkeypatch.setattr(serving, "site", lambda: SITE)
    serving.files.cache_clear()
    app = FastAPI()
    app.state.container = SimpleNamespace(settings=SimpleNamespace(playground=True))
    router = playground()
    app.include_router(router)
    add_error_handlers(app, router.routes)
    yield app
    serving.files.cache_clear()


@pytest.fixture
async def page(app: FastAPI) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://gateway/playground")


@pytest.mark.parametrize(
    ("name", "kind", "packed"),
    [
        ("", "text/html; charset=utf-8", True),
        ("index.html", "text/html; charset=utf-8", True),
        ("a.wasm", "application/wasm", True),
        ("b.whl", "application/octet-stream", False),
        ("c.mjs", "text/javascript; charset=utf-8", True),
        ("d.css", "text/css; charset=utf-8", True),
    ],
)
async def test_type_policy_and_encoding(page: httpx.AsyncClient, name: str, kind: str, packed: bool) -> None:
    for encodings in ("gzip, deflate, br", "br", ""):
        answer = await page.get(f"/{name}", headers={"accept-encoding": encodings})
        assert (answer.status_code, answer.content) == (200, SITE[name or "index.html"])
        assert answer.headers["content-type"] == kind
        assert answer.headers["content-security-policy"] == POLICY
        assert (answer.headers["cache-control"], answer.headers["vary"]) == ("no-cache", "accept-encoding")
        assert ("content-encoding" in answer.headers) is (packed and "gzip" in encodings)


async def test_a_file_that_the_browser_has_is_not_sent_again(page: httpx.AsyncClient) -> None:
    tag = (await page.get("/a.wasm")).headers["etag"]
    for known in (tag, f'"another", {tag}', "*"):
        answer = await page.get("/a.wasm", headers={"if-none-match": known})
        assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", tag)
    for known in ('"another"', tag[:-2] + '"', (await page.get("/b.whl")).headers["etag"]):
        answer = await page.get("/a.wasm", headers={"if-none-match": known})
        assert (answer.status_code, answer.content) == (200, SITE["a.wasm"])


def test_the_same_site_has_the_same_compressed_bytes(app: FastAPI) -> None:
    first = serving.files()["a.wasm"].compressed
    serving.files.cache_clear()
    assert first is not None
    assert (first, gzip.decompress(first)) == (serving.files()["a.wasm"].compressed, SITE["a.wasm"])


async def test_it_can_be_switched_off(app: FastAPI, page: httpx.AsyncClient) -> None:
    app.state.container.settings.playground = False
    for path in ("", "/", "/index.html", "/a.wasm"):
        answer = await page.get(path)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
        assert "`playground`" in answer.json()["error"]["message"]
