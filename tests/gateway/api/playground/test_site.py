"""The site has every file that its page asks for, with its digest, and the same bytes each time."""

import gzip
import json
import re
import tomllib
import zipfile
from hashlib import sha256
from importlib.metadata import version
from io import BytesIO
from pathlib import Path

import httpx
import pytest

from gateway.api.playground import site
from gateway.api.playground.site import ARCHIVE, VENDOR, integrity, write_site
from scripts import licences
from scripts.playground_assets import WrongDigest, check_files


def test_the_page_lists_everything_by_digest(tmp_path: Path) -> None:
    write_site(tmp_path / "new" / "folder")
    files = {file.name: file.read_bytes() for file in (tmp_path / "new" / "folder").iterdir()}
    assert sum(len(gzip.compress(data)) for data in files.values()) < 20_000_000
    page = files["index.html"].decode()
    (listed,) = re.findall(r'id="assets">(.*?)</script>', page)
    assets = {each["name"]: each["integrity"] for each in json.loads(listed)}
    own = dict(re.findall(r'(?:src|href)="([\w.]+)" integrity="([^"]+)"', page))
    assert own.keys() == {"page.js", "page.css", "samples.js", "marks.js", "requests.js"}
    assert files.keys() == assets.keys() | own.keys() | {"index.html", "licences.txt"}
    assert {name: integrity(files[name]) for name in assets | own} == assets | own
    assert not re.search(r"https?://(?!127\.0\.0\.1)", page)


def test_every_part_has_its_licence() -> None:
    titles = re.findall(r"^={80}\n(.*)\n={80}\n\n(?=\s*\S)", site._licences(), re.MULTILINE)
    names = [title.partition(" (")[0] for title in titles]
    assert {part["name"] for part in licences.in_playground()} == {*names} - {
        *(f"{name} {version(name)}" for name in site._PACKAGES.values())
    }
    allowed = licences.PERMISSIVE | licences.WEAK_COPYLEFT
    assert {id for part in licences.in_playground() for id in licences.ids(part["licence"])} <= allowed
    assert len(titles) == len({*names})


def test_the_vendor_folder_has_the_locked_files() -> None:
    locked = tomllib.loads((licences.REQUIREMENTS / "playground.toml").read_text(encoding="utf-8"))
    check_files(VENDOR, locked["files"])
    named = {f"{name.replace('_', '-')}": digest for name, digest in locked["files"].items()}
    for wheel in locked["pip"]["wheels"]:
        name, _, rest = wheel.partition("==")
        assert any(file.startswith(f"{name}-") and rest.endswith(digest) for file, digest in named.items()), wheel


@pytest.mark.parametrize("change", ["changed", "missing", "more"])
def test_another_file_is_noticed(change: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(name.encode())
    locked = {name: sha256(name.encode()).hexdigest() for name in ("a", "b")}
    check_files(tmp_path, locked)
    match change:
        case "changed":
            (tmp_path / "b").write_bytes(b"c")
        case "missing":
            (tmp_path / "b").unlink()
        case "more":
            (tmp_path / "c").write_bytes(b"")
    with pytest.raises(WrongDigest):
        check_files(tmp_path, locked)


def test_the_archive_has_the_same_bytes_each_time() -> None:
    made = site._archive()
    assert made == site._archive() == site.site()[ARCHIVE]
    names = zipfile.ZipFile(BytesIO(made)).namelist()
    assert {"re2/_re2.py", "gateway/detection/graphemes.json", "policies.json"} <= set(names)
    assert len(names) == len(set(names))
    assert [name for name in names if "geodata" in name or name.endswith(".onnx") or "__pycache__" in name] == []
    # Only the lists of words: the larger model has no place here.
    model = {name.rpartition("/")[2] for name in names if "ner/model" in name}
    assert model == {"labels.json", "ordinary.txt", "nobody.txt", "given.txt"}


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
