"""Threads that run Python share a core."""

import os
import sys
import threading
from collections.abc import Callable

import pytest

from gateway.workers.cores import share_one_core

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="needs Linux and two cores"
)


def _in_thread[T](call: Callable[[], T]) -> T:
    """Calls in a thread of its own, whose cores are not those of the tests after it."""
    results: list[T] = []
    thread = threading.Thread(target=lambda: results.append(call()))
    thread.start()
    thread.join()
    return results[0]


def test_a_thread_and_those_that_it_starts_share_one_core() -> None:
    before = os.sched_getaffinity(0)

    def bound() -> tuple[set[int], set[int]]:
        share_one_core()
        return os.sched_getaffinity(0), _in_thread(lambda: os.sched_getaffinity(0))

    shared, started = _in_thread(bound)
    assert len(shared) == 1
    assert started == shared < before == os.sched_getaffinity(0)


def test_threads_keep_their_cores_in_a_sandbox_that_forbids_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(_: int, __: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setaffinity", forbidden)
    share_one_core()
