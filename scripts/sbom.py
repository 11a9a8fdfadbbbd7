"""Writes requirements/sbom.cdx.json to standard output: what the gateway consists of (CycloneDX 1.6).

Everything in requirements/runtime.txt with version, licence, hashes and dependencies, the models of names, and what the
playground consists of. It has no date and no random number, so that the same lock gives the same bytes. The wheel holds
it (PEP 770).
"""

import json
import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from gateway import __version__
from scripts.licences import LOCK, REQUIREMENTS, Locked, in_playground, licence, locked

ROOT = Path(__file__).resolve().parent.parent
CARD = ROOT / "gateway" / "detection" / "ner" / "model" / "card.json"
PRODUCT = f"pkg:pypi/privacy-gateway@{__version__}"
_ENTRY = re.compile(r"^([\w.-]+)[^\n]*==.*?(?=^\S|\Z)", re.MULTILINE | re.DOTALL)


def document() -> dict[str, Any]:
    """Returns the whole document."""
    packages = locked()
    refs = {each.name: _purl(each) for each in packages}
    edges = {refs[name]: _needed(_required_by(name), refs) for name in refs}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    edges[PRODUCT] = _needed(project["dependencies"], refs)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": _component("application", "privacy-gateway", __version__, "Apache-2.0", PRODUCT)},
        "components": [*map(_package, packages), *_models(), _playground()],
        "dependencies": [{"ref": ref, "dependsOn": needed} for ref, needed in sorted(edges.items())],
    }


def page() -> str:
    """Returns the content of requirements/sbom.cdx.json, with one component a line, for diffs."""
    whole = document()
    text = json.dumps({name: value for name, value in whole.items() if not isinstance(value, list)}, indent=1)
    for name in ("components", "dependencies"):
        rows = ",\n".join(f"  {json.dumps(each)}" for each in whole[name])
        text = f'{text.removesuffix("\n}")},\n "{name}": [\n{rows}\n ]\n}}'
    return text + "\n"


def _component(kind: str, name: str, version: str, under: str, ref: str) -> dict[str, Any]:
    return {"type": kind, "bom-ref": ref, "name": name, "version": version, "licenses": [{"expression": under}]}


def _package(package: Locked) -> dict[str, Any]:
    purl = _purl(package)
    found = _component("library", package.name, package.version, licence(package), purl) | {"purl": purl}
    # The lock has the hash of each of a release's files; which one is installed depends on the machine.
    hashes = [{"alg": "SHA-256", "content": each} for each in _hashes()[package.name]]
    found["externalReferences"] = [{"type": "distribution", "url": purl, "hashes": hashes}]
    if package.marker:
        found |= {"scope": "optional", "properties": [{"name": "python:marker", "value": package.marker}]}
    return found


def _models() -> list[dict[str, Any]]:
    card = json.loads(CARD.read_text(encoding="utf-8"))
    return [
        _component("machine-learning-model", file, card["version"], card["licence"], f"{card['name']}/{file}")
        | {"group": card["name"], "hashes": [{"alg": "SHA-256", "content": about["sha256"]}]}
        for file, about in card["files"].items()
    ]


def _playground() -> dict[str, Any]:
    """Returns the site that runs in browsers, with the software in it and the digests of its files."""
    whole = _component("application", "playground", __version__, "Apache-2.0", "playground")
    lock = tomllib.loads((REQUIREMENTS / "playground.toml").read_text(encoding="utf-8"))
    parts = []
    for one in in_playground():
        said = {"purl": one["purl"]} if "purl" in one else {}
        said |= {"version": one["version"]} if "version" in one else {}
        found = {"type": "library", "bom-ref": f"playground/{one['name']}", "name": one["name"]}
        parts.append({**found, **said, "licenses": [{"expression": one["licence"]}]})
    for name, digest in lock["files"].items():
        hashes = [{"alg": "SHA-256", "content": digest}]
        parts.append({"type": "file", "bom-ref": f"playground/{name}", "name": name, "hashes": hashes})
    return {**whole, "components": parts}


def _purl(package: Locked) -> str:
    return f"pkg:pypi/{package.name}@{package.version}"


def _hashes() -> dict[str, list[str]]:
    entries = _ENTRY.finditer(LOCK.read_text(encoding="utf-8"))
    return {entry[1]: re.findall(r"sha256:(\w+)", entry[0]) for entry in entries}


def _required_by(name: str) -> list[str]:
    try:
        return requires(name) or []
    except PackageNotFoundError:  # another system's, which needs none
        return []


def _needed(declared: list[str], refs: dict[str, str]) -> list[str]:
    """Returns the packages of the lock among requirements, on any system. Extras are left out: none is asked for."""
    wanted = {canonicalize_name(each.name) for each in map(Requirement, declared) if "extra" not in str(each.marker)}
    return sorted(refs[each] for each in wanted & refs.keys())


if __name__ == "__main__":
    sys.stdout.write(page())
