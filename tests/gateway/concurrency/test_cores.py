"""Threads that run Python share a core; those that compute without the interpreter's lock leave it."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from gateway.concurrency import cores
from gateway.concurrency.cores import join_shared_core, leave_shared_core, on_any_core, share_one_core
from gateway.concurrency.job_context import waits_long
from gateway.concurrency.thread_pool import Workers
from gateway.detection.ner.builtin import MODEL
from gateway.detection.ner.inference import Logits
from gateway.detection.ner.student import Student
from gateway.detection.ner.units import UnitReader

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="needs Linux and two cores"
)


@pytest.fixture(autouse=True)
def _not_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "_cores", cores._Cores())


def _bound() -> frozenset[int]:
    return frozenset(os.sched_getaffinity(0))


def _in_thread[T](call: Callable[[], T]) -> T:
    """Calls in a thread of its own, whose cores are not those of the tests after it."""
    results: list[T] = []
    thread = threading.Thread(target=lambda: results.append(call()))
    thread.start()
    thread.join()
    return results[0]


def test_threads_share_one_core_until_they_leave_it() -> None:
    def steps() -> list[frozenset[int]]:
        bound = [_bound()]
        for step in (share_one_core, leave_shared_core, join_shared_core):
            step()
            bound.append(_bound())
        return [*bound, _in_thread(_bound)]

    before, shared, left, joined, started = _in_thread(steps)
    assert len(shared) == 1 < len(before)
    assert left == before
    assert joined == started == shared


def test_what_runs_on_any_core_leaves_the_thread_as_it_was() -> None:
    def steps() -> list[frozenset[int]]:
        share_one_core()
        bound = []
        with on_any_core():
            with on_any_core():
                pass
            bound.append(_bound())
        bound.append(_bound())
        leave_shared_core()
        with on_any_core():
            pass
        return [*bound, _bound()]

    within, after, left = _in_thread(steps)
    assert within == left == _bound()
    assert len(after) == 1


def test_nothing_is_bound_where_no_core_is_shared() -> None:
    def steps() -> frozenset[int]:
        leave_shared_core()
        join_shared_core()
        with on_any_core():
            return _bound()

    assert _in_thread(steps) == _bound()


def test_where_a_sandbox_forbids_it_all_threads_keep_their_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(_: int, __: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setaffinity", forbidden)
    share_one_core()
    assert not cores._cores.shared


def test_a_core_that_was_taken_away_binds_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores._cores, "shared", frozenset({max(os.sched_getaffinity(0)) + 1000}))

    def steps() -> frozenset[int]:
        join_shared_core()
        return _bound()

    assert _in_thread(steps) == _bound()


def test_long_jobs_run_on_any_core_and_the_others_on_the_shared_one() -> None:
    async def jobs() -> list[frozenset[int]]:
        share_one_core()
        workers = Workers(1, 8, 5, long_from=10)

        def takes_long() -> frozenset[int]:
            waits_long()  # starts another thread, from one that has left the shared core
            return _bound()

        bound = [await workers.run(_bound, cost=cost) for cost in (9, 10, 9)]
        bound += [await workers.run(takes_long, cost=10), await workers.run(_bound, cost=9)]
        workers.close()
        return bound

    short, long, after, relieved, replacement = _in_thread(lambda: asyncio.run(jobs()))
    assert long == relieved == _bound()
    assert len(short) == 1
    assert short == after == replacement


def test_the_student_reads_longer_texts_on_any_core(monkeypatch: pytest.MonkeyPatch) -> None:
    student = Student((MODEL / "student.onnx").read_bytes())
    reader = UnitReader(MODEL / "ordinary.txt", MODEL / "given.txt")
    bound: list[int] = []
    run = student._session.run

    def observed(feed: Mapping[str, NDArray[np.int32]]) -> Logits:
        bound.append(len(_bound()))
        return run(feed)

    monkeypatch.setattr(student._session, "run", observed)

    def steps() -> int:
        share_one_core()
        for words in (10, 600):
            student.chances(reader.read_all(["word " * words]))
        return len(_bound())

    assert _in_thread(steps) == 1
    assert bound[0] == 1 < bound[1]
