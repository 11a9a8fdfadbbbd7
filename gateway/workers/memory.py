"""Returns memory to the system after large texts. glibc would keep what it has once needed, and mitmproxy's flows are
cyclic garbage, which Python collects only now and then. Elsewhere than on glibc, does as much as Python can.

Huge pages hold what lives as long as the process: the first request after a pause finds little of it in the processor's
caches, and would wait for the addresses of each small page, too.
"""

import asyncio
import contextlib
import ctypes
import gc
import re
import sys
from functools import cache
from pathlib import Path

LARGE = 256 * 1024
"""Bytes or characters from which on a text is worth the collecting of garbage."""
NOTABLE = 32 * 1024
"""Characters of a text that leaves memory to return behind."""
_AFTER_SECONDS = 3.0
_HEAPS = 2
# From malloc.h.
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
# From Linux' mman.h, since 6.1.
_MADV_COLLAPSE = 25
_HUGE = 2 * 1024 * 1024
# Lines of /proc/self/maps: private memory that no file backs, including the heap of glibc.
_ANONYMOUS = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw-p 00000000 00:00 0\s*(?:\[heap\])?")

# Whether garbage is to be collected as well.
_due: dict[asyncio.AbstractEventLoop, bool] = {}


def bound_free_memory() -> None:
    """Has glibc give large blocks back as soon as they are freed, and keep what is free for all threads together.

    It would raise the limit with each large block, and have eight heaps for each core.
    """
    with contextlib.suppress(AttributeError):
        _libc().mallopt(_M_MMAP_THRESHOLD, 4 * LARGE)
        _libc().mallopt(_M_ARENA_MAX, _HEAPS)


def trim_soon(*, collect: bool = True) -> None:
    """Does what `trim` does in a few seconds, once for all calls until then."""
    loop = asyncio.get_running_loop()
    if loop not in _due:
        loop.call_later(_AFTER_SECONDS, _trim, loop)
    _due[loop] = collect or _due.get(loop, False)


def trim(*, collect: bool = True) -> None:
    """Returns free memory, which takes a millisecond or two, after collecting garbage, which may take fifty."""
    if collect:
        gc.collect()
    with contextlib.suppress(AttributeError):
        _libc().malloc_trim(0)


def use_huge_pages() -> None:
    """Moves what this process keeps in memory so far to huge pages (Linux 6.1). Elsewhere, it stays where it is."""
    with contextlib.suppress(OSError, AttributeError):
        madvise = _libc().madvise
        madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        for line in Path("/proc/self/maps").read_text().splitlines():
            found = _ANONYMOUS.fullmatch(line)
            if found is not None:
                start, end = int(found[1], 16), int(found[2], 16)
                # One at a time: the first that holds nothing yet would end the call.
                for page in range(-(-start // _HUGE) * _HUGE, end - _HUGE + 1, _HUGE):
                    madvise(page, _HUGE, _MADV_COLLAPSE)


def _trim(loop: asyncio.AbstractEventLoop) -> None:
    trim(collect=_due.pop(loop))


@cache
def _libc() -> ctypes.CDLL:
    # None is this program, which Windows cannot open; `msvcrt` has none of the functions asked for.
    return ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)
