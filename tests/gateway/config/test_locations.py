"""Hints that users copy lead to the folders of the gateway that prints them."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.config.locations import COMMAND, command_for, default_folder
from tests.conftest import ROOT


def test_a_command_names_the_folder_unless_it_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert command_for("ca", "certs", default_folder("certs")) == f"{COMMAND} ca"
    assert command_for("ca", "certs", default_folder("certs").resolve()) == f"{COMMAND} ca"
    hint = command_for("keys create LABEL", "data", Path("it's"))
    assert shlex.split(hint)[-2:] == ["--data-dir", str(tmp_path / "it's")]


def test_a_checkout_keeps_its_folders_wherever_it_is_called(tmp_path: Path) -> None:
    code = f"import sys; sys.path[0] = {str(ROOT)!r}; from gateway.config.locations import *"
    run = [
        sys.executable,
        "-c",
        f"{code}; folder = default_folder('certs'); print(folder, command_for('ca', 'certs', folder))",
    ]
    for folder, printed in (
        (ROOT, "certs .venv/bin/python run_proxy.py ca"),
        (tmp_path, f"{ROOT / 'certs'} {shlex.quote(sys.executable)} {shlex.quote(str(ROOT / 'run_proxy.py'))} ca"),
    ):
        assert subprocess.check_output(run, cwd=folder, text=True) == f"{printed}\n"
