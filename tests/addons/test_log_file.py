"""The log file survives its rotation, in every process that writes to it, and loses no line."""

import io
import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from addons.log_file import LogFile

if not hasattr(os, "fork"):
    pytest.skip("this system cannot fork a process", allow_module_level=True)


@pytest.fixture
def instead() -> io.StringIO:
    """The lines that the file did not take."""
    return io.StringIO()


@pytest.fixture
def file(tmp_path: Path, instead: io.StringIO) -> Iterator[LogFile]:
    handler = LogFile(tmp_path / "svc.log", logging.StreamHandler(instead))
    yield handler
    handler.close()


def write(file: LogFile, line: str) -> None:
    file.handle(logging.makeLogRecord({"msg": line}))


def test_only_its_owner_can_read_it(tmp_path: Path, instead: io.StringIO) -> None:
    for umask, mode in ((0, 0o600), (0o277, 0o400)):
        path, before = tmp_path / f"{mode}.log", os.umask(umask)
        try:
            LogFile(path, logging.StreamHandler(instead)).close()
        finally:
            os.umask(before)
        assert path.stat().st_mode & 0o777 == mode


def test_it_is_appended_to(tmp_path: Path, instead: io.StringIO) -> None:
    for line in ("first", "second"):
        handler = LogFile(tmp_path / "svc.log", logging.StreamHandler(instead))
        write(handler, line)
        handler.close()
    assert (tmp_path / "svc.log").read_text() == "first\nsecond\n"


def test_each_process_writes_to_the_new_file_once_the_old_one_is_moved(file: LogFile, tmp_path: Path) -> None:
    write(file, "before")
    (go, start), (done, end) = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        os.close(start)
        write(file, "child before")
        os.write(end, b".")
        os.read(go, 1)
        write(file, "child after")
        os._exit(0)
    os.read(done, 1)
    (tmp_path / "svc.log").rename(tmp_path / "svc.log.1")
    write(file, "after")
    os.close(start)
    assert os.waitpid(child, 0)[1] == 0
    assert (tmp_path / "svc.log.1").read_text() == "before\nchild before\n"
    assert (tmp_path / "svc.log").read_text() == "after\nchild after\n"
    assert (tmp_path / "svc.log").stat().st_mode & 0o777 == 0o600
    for each in (go, done, end):
        os.close(each)


def test_it_is_opened_anew_on_request(file: LogFile, tmp_path: Path) -> None:
    (tmp_path / "svc.log").rename(tmp_path / "svc.log.1")
    file.reopen()
    assert (tmp_path / "svc.log").exists()


def test_a_line_that_it_does_not_take_is_written_elsewhere(file: LogFile, tmp_path: Path, instead: io.StringIO) -> None:
    (tmp_path / "svc.log").rename(tmp_path / "svc.log.1")
    (tmp_path / "svc.log").mkdir()
    file.reopen()
    write(file, "lost otherwise")
    assert instead.getvalue() == "lost otherwise\n"
    (tmp_path / "svc.log").rmdir()
    write(file, "here again")
    assert (tmp_path / "svc.log").read_text() == "here again\n"
    assert instead.getvalue() == "lost otherwise\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_loses_no_line(instead: io.StringIO) -> None:
    handler = LogFile(Path("/dev/full"), logging.StreamHandler(instead))
    write(handler, "lost otherwise")
    assert instead.getvalue() == "lost otherwise\n"
    with pytest.raises(OSError):
        handler.close()
