"""The bill of materials holds what the lock and the models' files hold, read here in another way."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from gateway import __version__
from scripts import sbom

ROOT = Path(__file__).resolve().parent.parent
MODELS = ROOT / "gateway" / "detection" / "ner" / "model"


@pytest.fixture(scope="module")
def written() -> Any:
    return json.loads((ROOT / "requirements" / "sbom.cdx.json").read_text(encoding="utf-8"))


def hashes(component: dict[str, Any]) -> list[str]:
    found = component["hashes"] if "hashes" in component else component["externalReferences"][0]["hashes"]
    return [each["content"] for each in found if each["alg"] == "SHA-256"]


def test_it_is_current() -> None:
    text = (ROOT / "requirements" / "sbom.cdx.json").read_text(encoding="utf-8")
    assert text == sbom.page(), "requirements/sbom.cdx.json is not current: run `make docs`"
    assert json.loads(text) == sbom.document()


def test_it_holds_each_package_of_the_lock_with_all_its_hashes(written: Any) -> None:
    lock: dict[str, list[str]] = {}
    name = ""
    for line in (ROOT / "requirements" / "runtime.txt").read_text(encoding="utf-8").splitlines():
        if pin := re.match(r"([\w.-]+)\S*==([^ ;\\]+)", line):
            name = f"{pin[1]} {pin[2]}"
            lock[name] = []
        elif hashed := re.search(r"--hash=sha256:(\w{64})", line):
            lock[name].append(hashed[1])
    libraries = [each for each in written["components"] if each["type"] == "library"]
    assert {f"{each['name']} {each['version']}": hashes(each) for each in libraries} == lock
    assert all(each["purl"] == f"pkg:pypi/{each['name']}@{each['version']}" for each in libraries)


def test_it_holds_the_models_with_the_digests_of_their_files(written: Any) -> None:
    models = [each for each in written["components"] if each["type"] == "machine-learning-model"]
    files = {file.name: [hashlib.sha256(file.read_bytes()).hexdigest()] for file in MODELS.glob("*.onnx")}
    assert {each["name"]: hashes(each) for each in models} == files


def test_it_holds_the_playground_with_the_digests_of_its_files(written: Any) -> None:
    (playground,) = [each for each in written["components"] if each["name"] == "playground"]
    named = {each["name"]: each for each in playground["components"]}
    lock = (ROOT / "requirements" / "playground.toml").read_text(encoding="utf-8")
    digests = dict(re.findall(r'^"(.*)" = "(\w{64})"$', lock, re.MULTILINE))
    assert {name: hashes(each) for name, each in named.items() if each["type"] == "file"} == {
        name: [digest] for name, digest in digests.items()
    }
    assert named["Pyodide"]["licenses"] == [{"expression": "MPL-2.0"}]
    assert named["pydantic-core"]["purl"].startswith("pkg:pypi/pydantic-core@")


def test_every_package_is_needed_by_the_gateway_or_by_another(written: Any) -> None:
    edges = {each["ref"]: each["dependsOn"] for each in written["dependencies"]}
    product = written["metadata"]["component"]
    assert (product["name"], product["version"]) == ("privacy-gateway", __version__)
    reached = [product["bom-ref"]]
    for ref in reached:
        reached += [each for each in edges[ref] if each not in reached]
    libraries = {each["bom-ref"] for each in written["components"] if each["type"] == "library"}
    assert set(reached) == set(edges) == libraries | {product["bom-ref"]}


def test_every_component_names_its_licence_and_the_systems_that_lack_it(written: Any) -> None:
    assert all(each["licenses"][0]["expression"] for each in written["components"])
    where = {each["name"]: each["properties"][0]["value"] for each in written["components"] if "properties" in each}
    assert where["pydivert"] == "sys_platform == 'win32'"
    assert "mitmproxy" not in where
