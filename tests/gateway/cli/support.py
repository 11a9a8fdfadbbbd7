"""Runs commands through the entry point."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.config.settings import BUILTIN_POLICIES
from gateway.policy import PolicyRegistry
from run_proxy import main

DEFAULT = PolicyRegistry(BUILTIN_POLICIES).get("default").ref


class Command:
    """Runs a command against one data folder."""

    def __init__(self, data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.data_dir = data_dir
        self._capsys = capsys
        self.errors = ""

    def __call__(self, *words: str) -> tuple[int, str]:
        status = main([*words, "--data-dir", str(self.data_dir)])
        out, self.errors = self._capsys.readouterr()
        return status, out

    def json(self, *words: str) -> tuple[int, Any]:
        status, out = self(*words, "--json")
        return status, json.loads(out)
