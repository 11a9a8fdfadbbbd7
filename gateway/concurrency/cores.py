"""Keeps the threads of a process on one core (Linux), where they pass the interpreter's lock on at little cost.

Only one thread at a time runs Python. On several cores, whoever gives up the lock wakes another core for whoever waits
for it; that takes longer than many of the calls that give it up, and often the lock is taken again by then. Long
computations without the lock are better off on any core.

A cpuset that changes later is obeyed. What `taskset` changes later does not last.
"""

import os
import secrets
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass


@dataclass
class _Cores:
    """The cores that the process may use, and the one that its threads share; none until they do."""

    allowed: frozenset[int] = frozenset()
    shared: frozenset[int] = frozenset()


_cores = _Cores()


def share_one_core() -> None:
    """Binds the calling thread, and all threads that it starts, to one of the cores that the process may use.

    Which one is left to chance, so that not all gateways on a machine choose the same one.
    """
    if sys.platform != "linux" or _cores.shared:
        return
    # A sandbox may forbid these calls.
    with suppress(OSError):
        allowed = _bound()
        shared = frozenset({secrets.choice(sorted(allowed))})
        os.sched_setaffinity(0, shared)
        _cores.allowed, _cores.shared = allowed, shared


def leave_shared_core() -> None:
    """Lets the calling thread run on any core: one that computes without the interpreter's lock most of the time."""
    _bind(_cores.allowed)


@contextmanager
def on_any_core() -> Iterator[None]:
    """Lets the calling thread run on any core meanwhile."""
    if not _cores.shared:
        yield
        return
    before = _bound()
    _bind(_cores.allowed)
    try:
        yield
    finally:
        _bind(before)


def join_shared_core() -> None:
    """Binds the calling thread to the core that the process shares, if it shares one."""
    _bind(_cores.shared)


def _bound() -> frozenset[int]:
    return frozenset(os.sched_getaffinity(0)) if sys.platform == "linux" else frozenset()


def _bind(cores: Iterable[int]) -> None:
    if sys.platform == "linux" and cores:
        # A container may have lost cores meanwhile; the kernel then keeps the thread where it may run.
        with suppress(OSError):
            os.sched_setaffinity(0, cores)
