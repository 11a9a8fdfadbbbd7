"""SQL statements are only in the backends of gateway/store/."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

BACKENDS = [ROOT / "gateway" / "store" / name for name in ("sqlite", "postgres")]
# These search text that people send, which may be SQL, and show examples of it.
RECOGNIZERS = ROOT / "gateway" / "detection" / "recognizers"
PRODUCT = [
    ROOT / "run_proxy.py",
    *(file for name in ("addons", "gateway", "scripts") for file in (ROOT / name).rglob("*.py")),
]
STATEMENT = re.compile(
    r"\b(SELECT\s.*\sFROM|INSERT\s+(OR\s+\w+\s+)?INTO|UPDATE\s+\S+\s+SET|DELETE\s+FROM|PRAGMA\s+\w+|BEGIN IMMEDIATE"
    r"|(CREATE|ALTER|DROP)\s+(TEMP\s+|UNIQUE\s+)?(TABLE|INDEX|VIEW|TRIGGER))\b",
    re.IGNORECASE | re.DOTALL,
)
KEYWORD = re.compile(r"\b(?:SELECT|INSERT|UPDATE|DELETE|PRAGMA|BEGIN IMMEDIATE|CREATE|ALTER|DROP)\s", re.IGNORECASE)


def statements(source: str) -> Iterator[str]:
    """The strings of a module that read as SQL, those put together from parts included; not its docstrings."""
    if not KEYWORD.search(source):
        return
    tree = ast.parse(source)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else " x " for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            text = node.value
        else:
            continue
        if STATEMENT.search(text):
            yield text


@pytest.mark.parametrize(
    "statement",
    [
        '"SELECT 1 FROM keys"',
        '"insert or ignore into keys"',
        'f"SELECT {columns} FROM keys"',
        '"UPDATE keys SET a = 1"',
        '"DELETE FROM keys"',
        '"PRAGMA wal_checkpoint"',
        '"CREATE UNIQUE INDEX x"',
        '"DROP TABLE keys"',
    ],
)
def test_a_statement_is_seen(statement: str) -> None:
    assert list(statements(f'"""SELECT a FROM b in a docstring."""\nx = run({statement})\n'))


@pytest.mark.parametrize("backend", BACKENDS, ids=[backend.name for backend in BACKENDS])
@pytest.mark.parametrize("name", ["keys", "sessions", "policies", "receipts", "usage"])
def test_the_backends_are_where_they_are(backend: Path, name: str) -> None:
    assert list(statements((backend / f"{name}.py").read_text(encoding="utf-8")))


@pytest.mark.slow
def test_no_statement_is_elsewhere() -> None:
    found = [
        str(file.relative_to(ROOT))
        for file in PRODUCT
        if not any(map(file.is_relative_to, (*BACKENDS, RECOGNIZERS)))
        and list(statements(file.read_text(encoding="utf-8")))
    ]
    assert found == []
