"""The house's plan, held by tests: who may import whom, how long a file may be, what is justified.

run_proxy -> addons -> gateway.api.app, gateway.pipeline.pipeline -> parts -> models, errors
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ("run_proxy.py", "addons", "gateway")
LONGEST = 400
# The upper floor of gateway/: what answers requests and puts the parts together. Everything else is a part.
UPPER = {"app", "commands", "policy_commands", "http_routing", "http_errors", "api_docs", "schemas", "settlement"}
UPPER |= {"service", "operations", "pipeline", "entrance", "beside"}
GROUND = {"models", "errors"}
# Folders of a checkout that are made, not written.
MADE = {".git", ".venv", ".venv-lock", "data", "__pycache__"}


def python_files(*places: str) -> list[Path]:
    found = [ROOT / place for place in places if (ROOT / place).is_file()]
    for place in places:
        found += sorted((ROOT / place).rglob("*.py"))
    return found


def module_name(file: Path) -> str:
    name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix(".__init__")


def imports(file: Path) -> Iterator[str]:
    """Every module that the file imports, anywhere in it, with its full name."""
    package = module_name(file).split(".")
    if file.name != "__init__.py":
        package.pop()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{name}.{each.name}" for each in node.names)


def part(module: str) -> str:
    """The room of `gateway` that a module lies in: `store` for `gateway.store.writer`, else empty."""
    room = [*module.split("."), ""][1]
    known = (ROOT / "gateway" / room).is_dir() or (ROOT / "gateway" / f"{room}.py").is_file()
    return room if known else ""


def parts() -> dict[str, set[str]]:
    """Each part of gateway/ with the parts it imports."""
    graph: dict[str, set[str]] = {}
    for file in python_files("gateway"):
        own = part(module_name(file))
        others = {part(name) for name in imports(file) if name.split(".")[0] == "gateway"}
        graph.setdefault(own, set()).update(others - {own, ""})
    return graph


def breaches(places: tuple[str, ...], forbidden: set[str]) -> list[str]:
    return [
        f"{file.relative_to(ROOT)} imports {name}"
        for file in python_files(*places)
        for name in imports(file)
        if name.split(".")[0] in forbidden
    ]


def project() -> dict[str, list[str]]:
    """The declared dependencies by bare name: `runtime` and `dev`."""
    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wishes = {"runtime": document["project"]["dependencies"], "dev": document["dependency-groups"]["dev"]}
    return {kind: [re.split(r"[^A-Za-z0-9_.-]", wish)[0].lower() for wish in listed] for kind, listed in wishes.items()}


def test_the_walker_sees_every_form_of_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    file = tmp_path / "gateway" / "wires" / "chat.py"
    file.parent.mkdir(parents=True)
    file.write_text(
        "import a.b as x, c\nfrom d import e\nfrom . import base\nfrom ..models import Entity\n"
        "def f():\n    import hidden\n"
    )
    assert sorted(imports(file)) == [
        "a.b",
        "c",
        "d.e",
        "gateway.models.Entity",
        "gateway.wires.base",
        "hidden",
    ]


def test_only_the_addons_and_the_entry_point_know_mitmproxy() -> None:
    assert breaches(("gateway", "scripts"), {"mitmproxy", "mitmproxy_rs"}) == []


def test_the_gateway_knows_neither_addons_nor_entry_point() -> None:
    assert breaches(("gateway",), {"addons", "run_proxy", "tests", "benchmarks", "scripts"}) == []
    assert breaches(("addons",), {"run_proxy", "tests", "benchmarks", "scripts"}) == []


def test_the_parts_stand_on_each_other_without_a_circle() -> None:
    try:
        TopologicalSorter(parts()).prepare()
    except CycleError as circle:
        pytest.fail(f"these parts import each other: {circle.args[1]}")


def test_no_part_reaches_up() -> None:
    reaching = {own: sorted(used & UPPER) for own, used in parts().items() if own not in UPPER}
    assert {own: used for own, used in reaching.items() if used} == {}


def test_models_and_errors_stand_on_nothing() -> None:
    assert {own: used for own, used in parts().items() if own in GROUND and used} == {}


def test_only_the_process_that_hosts_the_app_imports_it() -> None:
    assert [own for own, used in parts().items() if "app" in used] == ["beside"]


def test_no_source_file_is_too_long() -> None:
    files = python_files(*PRODUCT, "scripts", "benchmarks", "tests") + sorted((ROOT / "scripts").glob("*.sh"))
    lengths = {str(file.relative_to(ROOT)): len(file.read_text(encoding="utf-8").splitlines()) for file in files}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def test_every_foreign_import_is_a_declared_dependency() -> None:
    """What only comes along with another package may go with its next release."""
    declared = set(project()["runtime"])
    owners = packages_distributions()
    undeclared = {
        f"{file.relative_to(ROOT)} imports {top}"
        for file in python_files(*PRODUCT)
        for top in {name.split(".")[0] for name in imports(file)}
        if top not in sys.stdlib_module_names | {"addons", "gateway", "run_proxy"}
        and declared.isdisjoint(owner.lower().replace("_", "-") for owner in owners.get(top, []))
    }
    assert undeclared == set()


@pytest.mark.parametrize(("kind", "heading"), [("runtime", "## At run time"), ("dev", "## For development")])
def test_every_dependency_is_justified_and_no_other(kind: str, heading: str) -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    section = page.split(heading)[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)` \| (\S.+?) \| (\S.*?) \|$", section, re.MULTILINE)
    assert sorted(name for name, _, _ in rows) == sorted(project()[kind])


def test_the_locks_hold_every_dependency_with_hashes_and_name_no_host() -> None:
    for name, kinds in {"runtime": ["runtime"], "dev": ["runtime", "dev"]}.items():
        text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
        pins = dict(re.findall(r"^([a-z0-9._-]+)==\S+(.*?)(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL))
        assert {wish for kind in kinds for wish in project()[kind]} <= pins.keys()
        assert [pin for pin, hashes in pins.items() if "--hash=sha256:" not in hashes] == []
        assert "://" not in text


def test_no_file_names_the_machine_it_was_written_on() -> None:
    # Put together here, so that this file does not hold what it looks for.
    places = [
        "/" + "root/",
        "/" + "work/",
        "/" + "home/[a-z]",
        "/" + "Users/[a-z]",
        "python" + "hosted",
        "pypi" + r"\.org",
    ]
    pattern = re.compile(r"(?<![\w.~-])(?:" + "|".join(places) + ")")
    told = []
    for file in ROOT.rglob("*"):
        inside = file.relative_to(ROOT).parts
        if MADE & set(inside) or (inside[0].startswith(".") and inside[0] != ".ci") or not file.is_file():
            continue
        if inside[0] == "certs" and file.name != "README.md":
            continue
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        told += [f"{file.relative_to(ROOT)}: {found[0]}" for found in pattern.finditer(text)]
    assert told == []
