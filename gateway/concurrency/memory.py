"""Returns memory to the system after large texts. glibc would keep what it has once needed, and mitmproxy's flows are
cyclic garbage, which Python collects only now and then. Elsewhere than on glibc, does as much as Python can.
"""

import asyncio
import contextlib
import ctypes
import gc
from functools import cache

LARGE = 256 * 1024
"""Bytes or characters from which on a text is worth the effort."""
_AFTER_SECONDS = 3.0
_HEAPS = 2
# From malloc.h.
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8

_due: set[asyncio.AbstractEventLoop] = set()


def bound_free_memory() -> None:
    """Has glibc give large blocks back as soon as they are freed, and keep what is free for all threads together.

    It would raise the limit with each large block, and have eight heaps for each core.
    """
    with contextlib.suppress(AttributeError):
        _libc().mallopt(_M_MMAP_THRESHOLD, 4 * LARGE)
        _libc().mallopt(_M_ARENA_MAX, _HEAPS)


def trim_soon() -> None:
    """Collects garbage and returns free memory in a few seconds, however often it is called until then."""
    loop = asyncio.get_running_loop()
    if loop not in _due:
        _due.add(loop)
        loop.call_later(_AFTER_SECONDS, _trim, loop)


def trim() -> None:
    """Collects garbage and returns free memory."""
    gc.collect()
    with contextlib.suppress(AttributeError):
        _libc().malloc_trim(0)


def _trim(loop: asyncio.AbstractEventLoop) -> None:
    _due.discard(loop)
    trim()


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)
