"""A secret in a file is never readable by other users."""

import io
import os
import sys
from pathlib import Path

import pytest

from gateway.config.private_files import check_account, on_terminal, write_secret
from gateway.config.settings_file import SettingsError


def test_no_one_else_can_read_the_file_at_any_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modes: list[int] = []
    path = tmp_path / "a.key"
    path.write_text("old")
    path.chmod(0o644)

    def fsync(_: int) -> None:
        modes.extend(file.stat().st_mode & 0o777 for file in tmp_path.iterdir() if file != path)

    monkeypatch.setattr(os, "fsync", fsync)
    umask = os.umask(0)
    try:
        write_secret(path, "the secret")
    finally:
        os.umask(umask)
    assert modes == [0o600]
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text() == "the secret\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_replaced_and_a_folder_is_a_problem_of_the_settings(tmp_path: Path) -> None:
    path, target = tmp_path / "a.key", tmp_path / "target"
    path.symlink_to(target)
    write_secret(path, "the secret")
    assert not path.is_symlink()
    assert not target.exists()
    path.unlink()
    path.mkdir()
    with pytest.raises(SettingsError) as refused:
        write_secret(path, "the secret")
    assert str(refused.value).startswith(f"data_dir: {path} cannot be written (Is a directory); ")
    assert "--data-dir DIR" in str(refused.value)
    assert "the secret" not in str(refused.value)


def test_only_standard_output_decides_what_is_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    for output, expected in ((Terminal(), True), (io.StringIO(), False), (None, False)):
        monkeypatch.setattr(sys, "stdout", output)
        assert on_terminal() is expected


def test_root_leaves_no_files_to_another_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = tmp_path / "state" / "data"
    if os.geteuid() == 0:
        check_account(missing)
        os.chown(tmp_path, 4242, -1)
    monkeypatch.setattr(os, "geteuid", lambda: 4243)
    check_account(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    for folder in (tmp_path, missing):
        with pytest.raises(SettingsError, match=r"run the command as that account: `sudo -u \S+ …`"):
            check_account(folder)
