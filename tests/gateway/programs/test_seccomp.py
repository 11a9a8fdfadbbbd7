"""Filters let pass what they do not name, and refuse what they do."""

import subprocess
import sys

import pytest

from gateway.programs.kernel import numbers

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux" or numbers() is None, reason="needs Linux on a known processor"),
]

RESTRICTED = """
import ctypes, fcntl, os, socket, sys, termios
from gateway.programs.seccomp import restrict
restrict()
restrict()
libc = ctypes.CDLL(None, use_errno=True)
def refused(act):
    try:
        act()
    except OSError as error:
        return error.errno
def called(number, *words):
    libc.syscall(number, *words)
    return ctypes.get_errno()
pair = socket.socketpair()
for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK):
    socket.socket(family, socket.SOCK_DGRAM).close()
print(refused(lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)))
print(refused(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW)))
print(refused(lambda: fcntl.ioctl(0, termios.TIOCSTI, b"x")))
print(called(425, 1, ctypes.create_string_buffer(120)))
print(called(numbers.keyctl, 0, -3, 0))
""".replace("import ctypes", "from gateway.programs.kernel import numbers as known; numbers = known()\nimport ctypes")


def test_what_leads_out_of_namespaces_is_refused() -> None:
    command = [sys.executable, "-c", RESTRICTED]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.stdout.split() == ["97", "97", "1", "38", "1"], done.stderr
