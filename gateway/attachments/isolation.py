"""Leaves a process nothing but computing: for the one that reads a file which may be hostile.

On Linux, a filter of system calls (seccomp) permits memory, the clock and the descriptors that are open, and nothing
else: no file, socket, process, signal or program. Where there are no such filters, only Python's own functions are kept
from files, sockets and processes, which native code that a hostile file has taken over would not need.
"""

import os
import sys

from gateway.attachments.base import Reason, Refused

_MEMORY = 768 * 1024 * 1024
"""How much more memory than now the process may get."""
_MEMORY_ELSEWHERE = 4 * 1024 * 1024 * 1024
_SECONDS = 10
_FORBIDDEN = ("open", "os.", "shutil.", "socket.", "subprocess.", "import", "ctypes.dlopen", "ftplib.", "urllib.")


def isolate(seconds: int = _SECONDS) -> None:
    """Isolates this process for good. Raises Refused if the system does not permit it."""
    silence()
    try:
        _limit(seconds)
        if sys.platform == "linux":
            from gateway.programs.computing import compute_only  # noqa: PLC0415 - for Linux only

            compute_only()
    except (OSError, ValueError, ImportError):
        raise Refused(Reason.NOT_ISOLATED) from None
    sys.addaudithook(_forbid)


def silence() -> None:
    """Discards the output of libraries, which may quote the file."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.close(null)


def _limit(seconds: int) -> None:
    import resource  # noqa: PLC0415 - Windows does not have it

    limits = {
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_AS: _size() + _MEMORY if sys.platform == "linux" else _MEMORY_ELSEWHERE,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NPROC: 0,
    }
    for limit, most in limits.items():
        hard = resource.getrlimit(limit)[1]
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (allowed, allowed))


def _size() -> int:
    """Returns how much address space this process has."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - read once, before anything else
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _forbid(event: str, arguments: object) -> None:
    if event.startswith(_FORBIDDEN):
        raise PermissionError(event)
