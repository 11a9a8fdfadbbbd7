"""The site has every file that its page asks for, with its digest, and the same bytes each time."""

import json
import re
import zipfile
from io import BytesIO
from pathlib import Path

import httpx
import pytest

from gateway.api.playground import site
from gateway.api.playground.site import ARCHIVE, VENDOR, integrity, write_site

pytestmark = pytest.mark.skipif(not VENDOR.is_dir(), reason="python -m scripts.playground_assets has not run")


def test_the_page_lists_everything_by_digest(tmp_path: Path) -> None:
    assert write_site(tmp_path / "new" / "folder") < 20_000_000
    files = {file.name: file.read_bytes() for file in (tmp_path / "new" / "folder").iterdir()}
    page = files["index.html"].decode()
    (listed,) = re.findall(r'id="assets">(.*?)</script>', page)
    assets = {each["name"]: each["integrity"] for each in json.loads(listed)}
    own = dict(re.findall(r'(?:src|href)="([\w.]+)" integrity="([^"]+)"', page))
    assert own.keys() == {"page.js", "page.css"}
    assert files.keys() == assets.keys() | own.keys() | {"index.html", "samples.js"}
    assert {name: integrity(files[name]) for name in assets | own} == assets | own
    assert not re.search(r"https?://(?!127\.0\.0\.1)", page)


def test_the_archive_has_the_same_bytes_each_time() -> None:
    made = site._archive()
    assert made == site._archive() == site.site()[ARCHIVE]
    names = zipfile.ZipFile(BytesIO(made)).namelist()
    assert {"re2/_re2.py", "gateway/detection/graphemes.json", "policies.json"} <= set(names)
    assert len(names) == len(set(names))
    assert [name for name in names if "geodata" in name or "ner/model" in name or "__pycache__" in name] == []


async def test_the_gateway_serves_it(client: httpx.AsyncClient) -> None:
    keyless = {"authorization": ""}
    moved = await client.get("/playground", headers=keyless)
    assert (moved.status_code, moved.headers["location"]) == (308, "/playground/")
    page = await client.get("/playground/", headers=keyless)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    (own,) = re.findall(r'http-equiv="content-security-policy" content="([^"]+)"', page.text)
    assert page.headers["content-security-policy"] == f"{own}; frame-ancestors 'none'"
    wasm = await client.get("/playground/re2.wasm", headers=keyless)
    assert (wasm.headers["content-type"], wasm.content[:4]) == ("application/wasm", b"\0asm")
    for name in ("nothing.js", "..%2fapp.py", "vendor"):
        assert (await client.get(f"/playground/{name}", headers=keyless)).status_code == 404
