"""A process that may only compute cannot make any other system call."""

import errno
import os
import platform
import sys

import pytest

if sys.platform != "linux":
    pytest.skip("the filter is Linux's", allow_module_level=True)

from gateway.programs import computing
from gateway.programs.computing import compute_only


@pytest.mark.slow
def test_other_calls_fail() -> None:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        compute_only()
        try:
            os.open("/", os.O_RDONLY)
            os.write(write, b"opened")
        except OSError as error:
            os.write(write, str(error.errno).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as said:
        assert said.read() == str(errno.EPERM)
    os.waitpid(child, 0)


def test_an_unknown_processor_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "mips")
    with pytest.raises(OSError, match="Function not implemented"):
        compute_only()
    assert {len(set(numbers)) for numbers in computing._NUMBERS.values()} == {36}
