"""Keeps the threads of a process on one core (Linux), where they pass the interpreter's lock on at little cost.

Only one thread at a time runs Python. On several cores, a thread that gives up the lock wakes another core for the
thread that waits for it. That takes longer than many of the calls that give it up, and often the lock is taken again
by then.

A cpuset that changes later is obeyed. What `taskset` changes later does not last.
"""

import os
import secrets
import sys
from contextlib import suppress


def share_one_core() -> None:
    """Binds the calling thread, and all threads that it starts, to one of the cores that it may use.

    Which one is left to chance, so that not all gateways on a machine choose the same one.
    """
    if sys.platform == "linux":
        # A sandbox may forbid these calls.
        with suppress(OSError):
            os.sched_setaffinity(0, {secrets.choice(sorted(os.sched_getaffinity(0)))})
