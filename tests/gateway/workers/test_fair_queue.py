"""The order of waiting jobs: no key waits for what another has queued."""

import random
import threading
from collections import Counter

import pytest

from gateway.workers.fair_queue import FairQueue

LARGE = 1 << 20


def taken(queue: FairQueue[str, str], count: int) -> list[str]:
    found = []
    for _ in range(count):
        job = queue.get()
        assert job is not None
        found.append(job)
        queue.done(job)
    return found


def test_keys_take_turns_until_the_end() -> None:
    queue = FairQueue[str, str](1)
    for name in ("a0", "a1", "a2", "b0", "c0"):
        queue.put(name, name[0], 10)
    queue.close()
    assert sorted(taken(queue, 3)) == ["a0", "b0", "c0"]
    assert taken(queue, 2) == ["a1", "a2"]
    assert queue.get() is None


def test_a_new_key_comes_before_the_backlog_of_another() -> None:
    queue = FairQueue[str, str](1)
    for number in range(100):
        queue.put(f"a{number}", "a", 5000)
    assert taken(queue, 50)[-1] == "a49"
    queue.put("b", "b", 100_000)
    assert "b" in taken(queue, 2)


def test_long_texts_count_for_more() -> None:
    queue = FairQueue[str, str](1)
    for _ in range(100):
        queue.put("long", "a", 40_000)
        queue.put("short", "b", 4_000)
    first = Counter(taken(queue, 55))
    assert 4 <= first["long"] <= 6


def test_idle_time_is_not_saved_up() -> None:
    queue = FairQueue[str, str](1)
    for number in range(50):
        queue.put(f"a{number}", "a", 10_000)
        assert taken(queue, 1) == [f"a{number}"]
    for _ in range(4):
        queue.put("a", "a", 10_000)
        queue.put("b", "b", 10_000)
    assert Counter(taken(queue, 4)) == {"a": 2, "b": 2}


def test_a_large_job_waits_for_its_place_and_small_ones_pass() -> None:
    queue = FairQueue[str, str](1)
    queue.put("large 1", "a", LARGE)
    queue.put("large 2", "b", LARGE)
    queue.put("small", "a", 10)
    assert queue.get() == "large 1"
    assert queue.get() == "small"
    threading.Timer(0.05, queue.done, ["large 1"]).start()
    assert queue.get() == "large 2"


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_lost_and_every_key_keeps_its_order(seed: int) -> None:
    chance, queue = random.Random(seed), FairQueue[str, str](2)
    put: dict[tuple[str, bool], list[str]] = {}
    left = 0
    got: dict[tuple[str, bool], list[str]] = {}
    for number in range(500):
        key, cost = chance.choice("abcde"), chance.choice([10, 5000, LARGE])
        put.setdefault((key, cost == LARGE), []).append(f"{key}{number}")
        queue.put(f"{key}{number}", key, cost)
        left += 1
        while left and chance.random() < 0.4:
            left -= 1
            (job,) = taken(queue, 1)
            got.setdefault((job[0], job in put.get((job[0], True), [])), []).append(job)
    for job in taken(queue, left):
        got.setdefault((job[0], job in put.get((job[0], True), [])), []).append(job)
    assert got == put
