"""Keeps a measurement on one core."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def on_one_core() -> Iterator[None]:
    """Keeps the calling thread, and those that it starts, on one core meanwhile (Linux)."""
    if sys.platform != "linux":
        yield
        return
    before = os.sched_getaffinity(0)
    with suppress(OSError):  # where a sandbox forbids it, it is measured on all
        os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        with suppress(OSError):
            os.sched_setaffinity(0, before)
