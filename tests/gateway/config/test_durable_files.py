"""Files are complete or absent, and readable by their owner only."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from errno import ENOSPC
from pathlib import Path
from typing import IO

import pytest

from gateway.config.durable_files import create, replacing, writing


def test_a_file_is_replaced_at_the_end_of_the_block_unless_that_fails(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), replacing(path) as draft:
        draft.write(b"new")
        raise ZeroDivisionError
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    with replacing(path) as draft:
        draft.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o077 == 0


def test_the_first_of_several_creates_the_file(tmp_path: Path) -> None:
    path = tmp_path / "key"
    create(path, b"first")
    create(path, b"second")
    assert path.read_bytes() == b"first"
    assert path.stat().st_mode & 0o077 == 0
    assert list(tmp_path.iterdir()) == [path]


def test_the_target_of_a_link_is_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    for content in (b"first", b"second"):
        with writing(link) as file:
            file.write(content)
        assert link.is_symlink()
        assert target.read_bytes() == content
    assert target.stat().st_mode & 0o077 == 0
    assert sorted(tmp_path.iterdir()) == [link, target]


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link):
        # Held open for reading, so that opening it does not wait.
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        with writing(path) as file:
            file.write(b"text")
        assert os.read(reader, 9) == b"text"
        os.close(reader)
    assert pipe.is_fifo()
    assert sorted(tmp_path.iterdir()) == [link, pipe]


@pytest.mark.parametrize("write", [replacing, writing])
def test_errors_name_the_file(write: Callable[[Path], AbstractContextManager[IO[bytes]]], tmp_path: Path) -> None:
    path = tmp_path / "log"
    with pytest.raises(OSError, match="No space") as full, write(path):
        # As a full disk does.
        raise OSError(ENOSPC, os.strerror(ENOSPC))
    assert full.value.filename == str(path)
    missing = tmp_path / "folder" / "log"
    with pytest.raises(FileNotFoundError) as absent, write(missing):
        pass
    assert absent.value.filename == str(missing)
