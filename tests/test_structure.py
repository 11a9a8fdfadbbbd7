"""The shape of the tree: who may import whom, how much lies in one place, what every dependency is for.

The contracts themselves are in pyproject.toml, under `[tool.importlinter]`.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ("run_proxy.py", "addons", "gateway")
LONGEST = 400
# In gateway/ itself: modules, and all entries.
MOST_MODULES, MOST_ENTRIES = 8, 33
# Folders of a checkout that are made, not written.
MADE = {".git", ".venv", ".venv-lock", "data", "vendor", "__pycache__"}


def python_files(*places: str) -> list[Path]:
    found = [ROOT / place for place in places if (ROOT / place).is_file()]
    for place in places:
        found += sorted((ROOT / place).rglob("*.py"))
    return found


def module_name(file: Path) -> str:
    name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix(".__init__")


@cache
def imports(file: Path) -> tuple[str, ...]:
    """Every module that the file imports, anywhere in it, with its full name."""
    return tuple(_imports(file))


def _imports(file: Path) -> Iterator[str]:
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


def breaches(places: tuple[str, ...], forbidden: set[str]) -> list[str]:
    return [
        f"{file.relative_to(ROOT)} imports {name}"
        for file in python_files(*places)
        for name in imports(file)
        if name.split(".")[0] in forbidden
    ]


def project() -> dict[str, list[str]]:
    """The declared dependencies by bare name: `runtime`, `optional` and `dev`."""
    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = document["dependency-groups"]
    dev = [wish for wish in groups["dev"] if isinstance(wish, str)] + groups["build"]
    wishes = {"runtime": document["project"]["dependencies"], "dev": dev}
    wishes["optional"] = [each for extra in document["project"]["optional-dependencies"].values() for each in extra]
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


def contracts(folder: Path) -> subprocess.CompletedProcess[str]:
    """Checks the contracts of pyproject.toml against the packages in `folder`."""
    command = [sys.executable, "-c", "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"]
    environ = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_imports_keep_their_directions() -> None:
    done = contracts(ROOT)
    assert done.returncode == 0, done.stdout


# The file, and what it then imports.
BREACHES = {
    "an import upwards": ("gateway/text/leads.py", "gateway.exchange.state"),
    "a circle": ("gateway/ids.py", "gateway.exchange.state"),
    "another package in detection": ("gateway/detection/memory.py", "gateway.config"),
    "mitmproxy in the gateway": ("gateway/http/types.py", "mitmproxy"),
    "an addon in the gateway": ("gateway/container.py", "addons.logs"),
    "SQLite outside its backend": ("gateway/usage.py", "sqlite3"),
    "its wrapper outside its backend": ("gateway/store/rows.py", "sqlite_utils"),
    "a backend past its package": ("gateway/vault.py", "gateway.store.sqlite"),
    "PostgreSQL outside its backend": ("gateway/usage.py", "psycopg"),
    "its backend past its package": ("gateway/vault.py", "gateway.store.postgres"),
}
CIRCLE = {"a circle within a folder": ("gateway/assessment/weights.py", "gateway.assessment.risk")}
WITHOUT_A_PLACE = {
    "a new flat module": ("gateway/helpers.py", "sys"),
    "a new package": ("gateway/misc/__init__.py", "sys"),
}


@pytest.mark.slow
@pytest.mark.parametrize("added", [BREACHES | CIRCLE, WITHOUT_A_PLACE], ids=["imports", "modules"])
def test_breaches_are_found(added: dict[str, tuple[str, str]], tmp_path: Path) -> None:
    for folder in ("gateway", "addons"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "model", "data"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    wanted = {}
    for breach, (name, imported) in added.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        with file.open("a", encoding="utf-8") as text:
            text.write(f"\nimport {imported}\n")
        module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        wanted[breach] = f"{module} -> {imported}" if breach in BREACHES else module.removesuffix(".weights")
    done = contracts(tmp_path)
    assert done.returncode != 0
    assert "BROKEN" in done.stdout
    assert [breach for breach, reported in wanted.items() if reported not in done.stdout] == []


@pytest.mark.slow
def test_no_module_imports_run_proxy() -> None:
    assert breaches(("gateway", "addons", "scripts"), {"run_proxy", "tests", "benchmarks"}) == []


def test_scripts_do_without_mitmproxy() -> None:
    assert breaches(("scripts",), {"mitmproxy", "mitmproxy_rs"}) == []


def test_little_lies_flat_in_the_gateway() -> None:
    entries = [each for each in (ROOT / "gateway").iterdir() if each.name != "__pycache__"]
    assert len([each for each in entries if each.suffix == ".py"]) <= MOST_MODULES
    assert len(entries) <= MOST_ENTRIES


def test_every_package_says_what_lives_there() -> None:
    """The first paragraph says what does, the second what does not, or where else to look."""
    told = {}
    for file in (ROOT / "gateway").rglob("__init__.py"):
        said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
        told[str(file.parent.relative_to(ROOT))] = len([each for each in said.split("\n\n") if each.strip()])
    assert {folder: paragraphs for folder, paragraphs in told.items() if paragraphs < 2} == {}


def test_no_source_file_is_too_long() -> None:
    files = python_files(*PRODUCT, "scripts", "benchmarks", "tests") + sorted((ROOT / "scripts").glob("*.sh"))
    lengths = {str(file.relative_to(ROOT)): len(file.read_text(encoding="utf-8").splitlines()) for file in files}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


@pytest.mark.slow
def test_every_foreign_import_is_a_declared_dependency() -> None:
    """A package installed only because another requires it may disappear with the other's next release."""
    declared = set(project()["runtime"])
    owners = packages_distributions()
    undeclared = {
        f"{file.relative_to(ROOT)} imports {top}"
        for file in python_files(*PRODUCT)
        for top in {name.split(".")[0] for name in imports(file)}
        if top not in sys.stdlib_module_names | {"addons", "gateway", "run_proxy"}
        and declared.isdisjoint(owner.lower().replace("_", "-") for owner in owners.get(top, []))
    }
    # They say how to install these.
    assert project()["optional"] == ["tokenizers", "psycopg", "defusedxml", "pypdf", "pypdfium2"]
    readers = {"kinds/pdf.py": ("pypdf", "pypdfium2"), "packages.py": ("defusedxml",), "pdf_structure.py": ("pypdf",)}
    assert {each for each in undeclared if not each.startswith("gateway/store/postgres/")} == {
        "gateway/detection/adapters/onnx_folder.py imports tokenizers",
        *(f"gateway/attachments/{file} imports {name}" for file, names in readers.items() for name in names),
    }


@pytest.mark.parametrize(
    ("kind", "heading"),
    [("runtime", "## At run time"), ("optional", "## On request"), ("dev", "## For development")],
)
def test_every_dependency_is_justified_and_no_other(kind: str, heading: str) -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    section = page.split(heading)[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)` \| (\S.+?) \| (\S.*?) \|$", section, re.MULTILINE)
    assert sorted(name for name, _, _ in rows) == sorted(project()[kind])


def test_the_locks_hold_every_dependency_with_hashes_and_name_no_host() -> None:
    for name, kinds in {"runtime": ["runtime"], "dev": ["runtime", "dev"], "build": []}.items():
        text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
        pins = dict(re.findall(r"^([a-z0-9._-]+)==\S+(.*?)(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL))
        assert {wish for kind in kinds for wish in project()[kind]} <= pins.keys()
        assert [pin for pin, hashes in pins.items() if "--hash=sha256:" not in hashes] == []
        assert "://" not in text


@pytest.mark.slow
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
