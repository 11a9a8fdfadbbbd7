"""The threat model names a test for each line about an adversary, and the tests exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
ADVERSARIES = [
    "A curious operator",
    "Somebody with the stolen database",
    "Somebody with a stolen backup",
    "A malicious client",
    "A malicious library in a client",
    "A malicious or injected upstream",
    "A program that goes its own way",
    "A network attacker",
    "A tampering insider",
    "Somebody who rolls the machine back",
]


def section(title: str) -> str:
    return re.split(r"^#{2,3} ", PAGE.partition(f"\n### {title}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def rows(title: str) -> list[list[str]]:
    _, _, *lines = [line for line in section(title).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@cache
def named_in(file: Path) -> frozenset[str]:
    tree = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    return frozenset(node.name for node in tree if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_every_adversary_has_a_section() -> None:
    assert re.findall(r"^### (.+)$", PAGE, re.MULTILINE) == ADVERSARIES


@pytest.mark.parametrize("title", ADVERSARIES)
def test_every_line_names_tests_that_exist(title: str) -> None:
    found = rows(title)
    assert any(kind == "cannot" for kind, *_ in found)
    missing = []
    for kind, claim, named in found:
        assert kind in {"can", "cannot"}
        places = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", named)
        assert places, f"no test: {claim}"
        assert named == ", ".join(f"`{file}::{name}`" for file, name in places)
        missing += [(file, name) for file, name in places if name not in named_in(ROOT / file)]
    assert missing == []
