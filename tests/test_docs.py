"""The documents hold together: links lead somewhere, every page is indexed, README starts with its two commands."""

import ast
import re
import shlex
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import Any

import pytest

import run_proxy
from gateway import errors
from gateway.config.unprotected_hosts import read_unprotected_hosts
from scripts import entities_reference, errors_reference, licences

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "certs" / "README.md"])

# Made from sources that other tests check; and a history names files that are gone.
UNCHECKED = {"api.md", "entities.md", "licences.md", "CHANGELOG.md"}
# Files that the documentation has readers write.
TO_WRITE = {"gateway/detection/recognizers/parcel.py"}
GLOSSARY = """
    entity span recognizer pattern validator deobfuscation prefilter policy action placeholder session exchange
    receipt outcome checkpoint guard finding verdict wire surface upstream listener flow
"""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_into_the_repository_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    inside = [link for link in links if "://" not in link]
    assert [link for link in inside if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_section_finds_it(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text(encoding="utf-8"))
    places = [(page.parent / target if target else page, name) for target, name in links]
    assert [(target.name, name) for target, name in places if name not in anchors(target)] == []


def anchors(page: Path) -> set[str]:
    """The names that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_in_the_index() -> None:
    """Each folder has an index, and each index is in the one above."""
    unlisted = []
    for page in PAGES:
        if page.is_relative_to(DOCS) and page != DOCS / "README.md":
            folder = page.parent.parent if page.name == "README.md" else page.parent
            index = (folder / "README.md").read_text(encoding="utf-8")
            unlisted += [page] if f"({page.relative_to(folder)})" not in index else []
    assert unlisted == []


def test_every_path_that_is_written_of_exists() -> None:
    """A path may be a pattern, such as `tests/e2e/test_law_*.py`."""
    tops = "|".join(each.name for each in ROOT.iterdir() if each.is_dir() and each.name not in {"data", "certs"})
    named = {
        (page.name, path)
        for page in PAGES
        if page.name not in UNCHECKED
        for path in re.findall(rf"`((?:{tops})/[\w./*-]*)`", page.read_text(encoding="utf-8"))
    }
    assert len(named) > 100
    missing = {path for _, path in named if not any(ROOT.glob(path.rstrip("/")))} - TO_WRITE
    assert [each for each in sorted(named) if each[1] in missing] == []


@pytest.mark.parametrize("page", sorted(DOCS.glob("decisions/[!R]*.md")), ids=lambda page: page.stem)
def test_every_decision_says_why_what_it_costs_and_what_would_change_it(page: Path) -> None:
    headings = re.findall(r"^#+ .+", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[1:] == ["## Context", "## Decision", "## Consequences", "## What would change it"]


def test_the_glossary_has_one_line_for_each_word() -> None:
    section = (DOCS / "architecture.md").read_text(encoding="utf-8").split("## Glossary")[1].split("\n## ")[0]
    words = re.findall(r"^\| (\w+) \| \w", section, re.MULTILINE)
    assert words[1:] == sorted(set(words[1:]))
    assert set(GLOSSARY.split()) - set(words) == set()


def test_the_two_first_commands_of_the_readme() -> None:
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert re.findall(r"^make \w+", blocks[0], re.MULTILINE) == ["make run", "make test"]


def test_every_make_target_that_is_written_of_exists() -> None:
    """A command that a reader copies must be there."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {
        target
        for page in PAGES
        for target in re.findall(r"(?:^|`|&& )make ([a-z][a-z-]*)", page.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert {"run", "test", "setup"} <= targets
    assert named <= targets


def documented_commands() -> list[tuple[str, str]]:
    """The commands of the gateway in the examples of all pages, without what is for the shell."""
    found = set()
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        blocks = re.findall(r"```sh\n(.*?)```|^( {4}.*?)$", text, re.DOTALL | re.MULTILINE)
        lines = "\n".join(map("".join, blocks))
        commands = re.findall(r"(?<!`)run_proxy\.py ([a-z]+(?=\s|$)[^|<>&;)\n]*)", lines, re.MULTILINE)
        found |= {(page.name, command.strip()) for command in commands}
    return sorted(found)


@pytest.mark.parametrize(("page", "command"), documented_commands())
def test_every_command_that_is_written_of_is_understood(page: str, command: str) -> None:
    """A reader copies it, with options that exist."""
    words = shlex.split(command, comments=True)
    assert run_proxy._parser(words[0]).parse_args(words) is not None


@pytest.mark.slow
@pytest.mark.parametrize("reference", [entities_reference, errors_reference, licences], ids=lambda each: each.__name__)
def test_a_generated_page_is_current(reference: Any) -> None:
    name = reference.__name__.rpartition(".")[2].removesuffix("_reference")
    written = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    assert written == reference.page(), f"docs/{name}.md is not current: run `make docs`"


def test_the_page_of_entities_tells_countries_from_words() -> None:
    names = {"DE_TAX_ID": "DE", "UK_NHS": "UK", "IP_ADDRESS": None, "URL": None, "MAC_ADDRESS": None}
    assert {name: entities_reference.country_of(name) for name in names} == names


@pytest.mark.slow
def test_the_page_of_errors_lists_exactly_the_codes_that_are_raised() -> None:
    """Reads the sources: every `code=` of an error, constants of the module resolved, and every `default_code`."""
    listed = {
        (int(status), code)
        for status, code in re.findall(r"^\| (\d+) \| `(\w+)` \|", errors_reference.page(), re.MULTILINE)
    }
    assert listed == _raised_codes()


def _raised_codes() -> set[tuple[int, str]]:
    kinds = {
        name: kind
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.GatewayError)
    }
    found = {(kind.status, kind.default_code) for kind in kinds.values()}
    for file in [*(ROOT / "gateway").rglob("*.py"), *(ROOT / "addons").rglob("*.py")]:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        constants = {
            target.id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in kinds:
                continue
            for part in (part for word in node.keywords if word.arg == "code" for part in ast.walk(word.value)):
                code = constants.get(part.id) if isinstance(part, ast.Name) else getattr(part, "value", None)
                if isinstance(code, str):
                    found.add((kinds[node.func.id].status, code))
    return found


def test_every_package_that_is_installed_to_run_the_gateway_may_be_handed_on_with_it() -> None:
    allowed = licences.PERMISSIVE | licences.WEAK_COPYLEFT
    under = {package.name: licences.ids(licences.licence(package)) for package in licences.locked()}
    pins = re.findall(r"^[\w.-]+(?:\[[^]]*\])?==", licences.LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(under) == len(pins)
    assert {name: found - allowed for name, found in under.items() if not found or found - allowed} == {}


def test_licences_of_other_systems_packages_match_the_installed_ones() -> None:
    """Listed by hand, because no system has all of them; each is compared on the systems that have it."""
    assert set(licences.ELSEWHERE) <= {package.name for package in licences.locked() if package.marker}
    here = {name: package for name in licences.ELSEWHERE if (package := licences.installed(name))}
    assert {name: licences.declared(package) for name, package in here.items()} == {
        name: licences.ELSEWHERE[name] for name in here
    }


@pytest.mark.parametrize(
    ("declared", "licence"),
    [
        ("License-Expression: MIT OR GPL-3.0-only", {"MIT", "GPL-3.0-only"}),
        ("License: Apache 2.0", {"Apache-2.0"}),
        ("License: BSD-3-Clause", {"BSD-3-Clause"}),
        ("Classifier: License :: OSI Approved :: MIT License", {"MIT"}),
        ("License: my own\nClassifier: License :: Other/Proprietary License", None),
        ("License: GPL-3.0-only", None),
        ("Summary: says nothing", None),
    ],
)
def test_a_licence_is_what_a_package_declares_in_words_that_are_understood(
    declared: str, licence: set[str] | None, tmp_path: Path
) -> None:
    folder = tmp_path / "one-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: one\nVersion: 1.0\n{declared}\n")
    package = PathDistribution(folder)
    if licence is None:
        with pytest.raises(LookupError, match="which licence"):
            licences.declared(package)
    else:
        assert licences.ids(licences.declared(package)) == licence


def test_the_life_of_a_request_names_files_that_exist_and_every_law() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:addons|gateway|tests)/[\w./]*)`", page)
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name).exists()] == []
    laws = {path.name for path in (ROOT / "tests" / "e2e").glob("test_law_*.py")}
    assert {name.rsplit("/")[-1] for name in named if "test_law" in name} == laws, "every law has its line"


def test_drawings_need_nothing_from_outside() -> None:
    """A page that shows them fetches nothing else, on GitHub or anywhere."""
    for drawing in (ROOT / "docs").glob("**/*.svg"):
        text = drawing.read_text(encoding="utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert [word for word in ("http", "href", "<script", "@import", "<image", "data:") if word in text] == []


def test_every_host_that_is_refused_is_listed() -> None:
    page = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
    for entry in read_unprotected_hosts():
        hosts = ", ".join(f"`{pattern}`" for pattern in entry.patterns)
        assert f"| {hosts} | {entry.clients} | {entry.instead} |" in page
