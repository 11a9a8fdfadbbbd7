"""Files are complete or absent, and readable by their owner only."""

from pathlib import Path

import pytest

from gateway.config.durable_files import create, replacing


def test_a_file_is_replaced_at_the_end_of_the_block(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"old")
    with replacing(path) as draft:
        draft.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o077 == 0


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), replacing(path) as draft:
        draft.write(b"new")
        raise ZeroDivisionError
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_first_of_several_creates_the_file(tmp_path: Path) -> None:
    path = tmp_path / "key"
    create(path, b"first")
    create(path, b"second")
    assert path.read_bytes() == b"first"
    assert path.stat().st_mode & 0o077 == 0
    assert list(tmp_path.iterdir()) == [path]
