"""The documents hold together: links lead somewhere, every page is indexed, README starts with its two commands."""

import re
from pathlib import Path

import pytest

from scripts import entities_reference

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "certs" / "README.md"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_into_the_repository_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    inside = [link for link in links if "://" not in link]
    assert [link for link in inside if not (page.parent / link).exists()] == []


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = [page.relative_to(ROOT / "docs") for page in PAGES if page.is_relative_to(ROOT / "docs")]
    assert [str(page) for page in pages if str(page) != "README.md" and f"({page})" not in index] == []


def test_the_two_first_commands_of_the_readme() -> None:
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert re.findall(r"^make \w+", blocks[0], re.MULTILINE) == ["make run", "make test"]


def test_every_make_target_that_is_written_of_exists() -> None:
    """A command that a reader copies must be there."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {
        target
        for page in PAGES
        for target in re.findall(r"(?:^|`|&& )make ([a-z-]+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert {"run", "test", "setup"} <= targets
    assert named <= targets


def test_the_page_of_entities_is_current() -> None:
    """A type that a policy's author cannot look up is as good as not there."""
    written = (ROOT / "docs" / "entities.md").read_text(encoding="utf-8")
    assert written == entities_reference.page(), "docs/entities.md is not current: run `make docs`"


def test_the_page_of_entities_tells_countries_from_words() -> None:
    names = {"DE_TAX_ID": "DE", "UK_NHS": "UK", "IP_ADDRESS": None, "URL": None, "MAC_ADDRESS": None}
    assert {name: entities_reference.country_of(name) for name in names} == names
