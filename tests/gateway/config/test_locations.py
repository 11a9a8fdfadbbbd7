"""Hints that users copy lead to the folders of the gateway that prints them."""

import shlex
from pathlib import Path

import pytest

from gateway.config.locations import COMMAND, command_for, default_folder


def test_a_command_names_the_folder_unless_it_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert command_for("ca", "certs", default_folder("certs")) == f"{COMMAND} ca"
    assert command_for("ca", "certs", default_folder("certs").resolve()) == f"{COMMAND} ca"
    hint = command_for("keys create LABEL", "data", Path("it's"))
    assert shlex.split(hint)[-2:] == ["--data-dir", str(tmp_path / "it's")]
