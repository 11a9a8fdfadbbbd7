"""scripts/path_figures.py counts the types and calls on the path of a chat, and sees when there are too many."""

from pathlib import Path

import pytest

from scripts import path_figures
from scripts.path_figures import MESSAGES, MOST_CALLS, MOST_TYPES, calls_of_chat, figures, types_on_path
from scripts.tree_figures import report

MODULE = """
import other
from gateway.models import Caller, Unused
from elsewhere import Foreign

class Parts: ...

class Service:
    field: "list[Caller]"
    count: int

    def __init__(self, parts: Parts) -> None: ...

    async def serve(self, given: Foreign, *, more: Service | None = None) -> other.Thing: ...
"""
PROTOCOL = """
class Gateway(Protocol):
    async def check_proxy_key(self, key: str) -> None: ...
    async def open(self) -> None: ...
    def fail(self) -> None: ...
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    files = {"gateway/models.py": "class Caller: ...\nclass Unused: ...\nclass Foreign: ...", "gateway/a.py": MODULE}
    for name, text in {**files, MESSAGES: PROTOCOL}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_path_keeps_its_bounds() -> None:
    assert len(types_on_path()) <= MOST_TYPES
    assert len(calls_of_chat()) <= MOST_CALLS


def test_types_on_the_path_are_counted(tree: Path) -> None:
    assert types_on_path(tree, ["gateway/a.py"]) == {"Caller", "Service"}
    assert calls_of_chat(tree) == ["open", "fail"]


@pytest.mark.parametrize("count", ["types_on_path", "calls_of_chat"])
def test_too_many_are_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], count: str) -> None:
    monkeypatch.setattr(path_figures, "types_on_path", lambda: ["Call"])
    monkeypatch.setattr(path_figures, "calls_of_chat", lambda: ["open"])
    assert report(figures()) == 0
    monkeypatch.setattr(path_figures, count, lambda: ["one"] * 100)
    assert report(figures()) == 1
    assert "100" in capsys.readouterr().out
