"""Workers: the result, or a refusal; never a wait without end, never the text that a job failed on."""

import asyncio
import logging
import threading
import time
from collections.abc import Iterator
from functools import partial

import pytest

from gateway.detection.job_context import waits_long
from gateway.errors import Forbidden, TooManyRequests, Unavailable
from gateway.workers import thread_pool
from gateway.workers.thread_pool import Workers, hanging


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """Set at the end, so that no job outlives its test."""
    event = threading.Event()
    yield event
    event.set()


async def test_the_result_of_a_job_and_that_other_code_may_wait_as_well() -> None:
    workers = Workers(2, 4, 5)
    waits_long()
    assert await workers.run(lambda: "abab") == "abab"
    assert await workers.run(threading.get_ident) != threading.get_ident()
    workers.close()
    assert not hanging()


async def test_the_event_loop_does_short_jobs_itself_while_nothing_else_is_under_way(release: threading.Event) -> None:
    workers = Workers(2, 8, 5, on_loop=10)
    own = threading.get_ident()
    assert await workers.run(threading.get_ident, cost=9) == own
    assert await workers.run(threading.get_ident, cost=10) != own
    waiting = asyncio.create_task(workers.run(release.wait, cost=10))
    await asyncio.sleep(0)
    # So that keys take turns.
    assert await workers.run(threading.get_ident, cost=9) != own
    release.set()
    assert await waiting
    workers.close()


async def test_the_event_loop_does_not_go_on_with_short_jobs_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(thread_pool, "monotonic", lambda: now)
    workers = Workers(1, 8, 5, on_loop=10)

    def job() -> int:
        nonlocal now
        now += 0.003
        return threading.get_ident()

    own = threading.get_ident()
    first, second, third = await asyncio.gather(*(workers.run(job) for _ in range(3)))
    assert (first, second) == (own, own)
    assert third != own
    assert await workers.run(job) == own
    workers.close()


@pytest.mark.parametrize("on_loop", [0, 10])
async def test_a_refusal_is_passed_on_and_any_other_failure_becomes_one(
    caplog: pytest.LogCaptureFixture, on_loop: int
) -> None:
    workers = Workers(1, 4, 5, on_loop=on_loop)

    def refuse() -> None:
        raise Forbidden("no", code="blocked_by_policy")

    def fail() -> None:
        raise ValueError("canary-4711")

    with pytest.raises(Forbidden):
        await workers.run(refuse)
    with caplog.at_level(logging.DEBUG), pytest.raises(Unavailable) as refusal:
        await workers.run(fail)
    assert refusal.value.code == "detection_failed"
    assert "canary" not in refusal.value.message + caplog.text
    assert "ValueError" in caplog.text
    workers.close()


async def test_a_job_over_its_time_is_a_refusal_and_keeps_its_place(release: threading.Event) -> None:
    workers = Workers(1, 1, 0.05)
    with pytest.raises(Unavailable) as refusal:
        await workers.run(release.wait)
    assert refusal.value.code == "detection_timeout"
    with pytest.raises(Unavailable) as refusal:
        await workers.run(str)
    assert (refusal.value.code, refusal.value.retry_after) == ("overloaded", 1)
    workers.close()
    assert hanging(0.01)
    release.set()
    assert not hanging(5)


async def until_threads(number: int, before: set[threading.Thread]) -> None:
    while len(set(threading.enumerate()) - before) != number:  # noqa: ASYNC110 - threads end without an event
        await asyncio.sleep(0.01)


async def test_a_job_that_only_waits_lets_others_work(release: threading.Event) -> None:
    before = set(threading.enumerate())
    workers = Workers(1, 6, 5)

    def wait_long() -> bool:
        for _ in range(3):
            waits_long()
        return release.wait()

    waiting = [asyncio.create_task(workers.run(wait_long)) for _ in range(2)]
    await until_threads(3, before)
    busy = {thread.ident for thread in threading.enumerate()}
    for _ in range(5):
        assert await workers.run(threading.get_ident) in busy
    release.set()
    assert await asyncio.gather(*waiting) == [True, True]
    await until_threads(1, before)
    workers.close()
    assert not hanging(5)


async def test_a_full_queue_is_a_refusal_and_opens_again(release: threading.Event) -> None:
    workers = Workers(1, 2, 5)
    jobs = [asyncio.create_task(workers.run(release.wait, key=key)) for key in "ab"]
    await asyncio.sleep(0)
    with pytest.raises(Unavailable) as refusal:
        await workers.run(str)
    assert refusal.value.code == "overloaded"
    release.set()
    assert await asyncio.gather(*jobs) == [True, True]
    await asyncio.sleep(0.05)
    assert await workers.run(str) == ""
    workers.close()


async def test_a_job_without_a_waiter_never_runs(release: threading.Event) -> None:
    workers = Workers(1, 4, 5)
    ran: list[int] = []
    first = asyncio.create_task(workers.run(release.wait))
    second = asyncio.create_task(workers.run(lambda: ran.append(1)))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    release.set()
    assert await first
    workers.close()
    assert not hanging(5)
    assert ran == []


async def test_a_late_failure_of_a_job_given_up_is_not_logged(
    release: threading.Event, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    workers = Workers(1, 1, 0.02)

    def late() -> None:
        release.wait()
        raise ValueError("canary-4711")

    with caplog.at_level(logging.DEBUG), pytest.raises(Unavailable):
        await workers.run(late)
    release.set()
    workers.close()
    assert not hanging(5)
    await asyncio.sleep(0.05)
    assert "canary" not in caplog.text + "".join(capfd.readouterr())


async def test_a_key_has_half_of_the_queue(release: threading.Event) -> None:
    workers = Workers(1, 4, 5)
    jobs = [asyncio.create_task(workers.run(release.wait, key="busy")) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(TooManyRequests) as refusal:
        await workers.run(str, key="busy")
    assert refusal.value.retry_after == 1
    jobs += [asyncio.create_task(workers.run(release.wait, key="other")) for _ in range(2)]
    release.set()
    assert await asyncio.gather(*jobs) == [True] * 4
    workers.close()


async def test_neither_a_full_queue_nor_a_time_limit_fails_a_job_that_closes_an_exchange(
    release: threading.Event,
) -> None:
    workers = Workers(1, 4, 0.05)
    opens = [asyncio.create_task(workers.run(release.wait, key=key)) for key in "aabb"]
    await asyncio.sleep(0)
    order: list[str] = []
    closes = [
        asyncio.create_task(workers.run(lambda: order.append("closed"), key="a", closes=True)),
        asyncio.create_task(workers.run(lambda: release.wait() and order.append("slow"), key="c", closes=True)),
    ]
    with pytest.raises(Unavailable) as refusal:
        await workers.run(str, key="c")
    assert refusal.value.code == "overloaded"
    codes = [one.code for one in await asyncio.gather(*opens, return_exceptions=True) if isinstance(one, Unavailable)]
    assert codes == 4 * ["detection_timeout"]
    await closes[0]
    release.set()
    await closes[1]
    assert order == ["closed", "slow"]
    workers.close()


async def test_a_job_that_closes_an_exchange_waits_for_no_other_of_its_key(release: threading.Event) -> None:
    workers = Workers(1, 8, 5)
    order: list[str] = []
    jobs: list[asyncio.Task[object]] = [asyncio.create_task(workers.run(release.wait, key="a"))]
    jobs += [asyncio.create_task(workers.run(partial(order.append, "opens"), key="a")) for _ in range(3)]
    await asyncio.sleep(0)
    jobs.append(asyncio.create_task(workers.run(partial(order.append, "closes"), key="a", closes=True)))
    await asyncio.sleep(0)
    release.set()
    await asyncio.gather(*jobs)
    assert order.index("closes") <= 1
    with pytest.raises(ValueError, match="as it is"):
        await workers.run(partial(int, "as it is"), closes=True)
    workers.close()


async def test_large_jobs_leave_a_thread_to_small_ones(release: threading.Event) -> None:
    workers = Workers(2, 16, 5)
    large = [asyncio.create_task(workers.run(release.wait, key=key, cost=1 << 20)) for key in "aab"]
    await asyncio.sleep(0)
    assert await workers.run(str, key="c") == ""
    assert await workers.run(str, key="a", cost=4096) == ""
    assert not any(job.done() for job in large)
    release.set()
    assert await asyncio.gather(*large) == [True] * 3
    workers.close()


async def test_jobs_that_hang_do_not_hold_up_the_rest(release: threading.Event) -> None:
    workers = Workers(2, 16, 0.05)
    for cost in (0, 0, 0, 1 << 20, 1 << 20):
        with pytest.raises(Unavailable) as refusal:
            await workers.run(release.wait, cost=cost)
        assert refusal.value.code == "detection_timeout"
    workers_of = set()
    for number in range(20):
        workers_of.add(await workers.run(threading.get_ident, cost=(number % 2) << 20))
    assert 1 <= len(workers_of) <= 2
    release.set()
    workers.close()
    assert not hanging(5)


@pytest.mark.parametrize("cancelled", [True, False])
async def test_time_in_which_the_process_was_stopped_does_not_count(
    cancelled: bool, release: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that was cancelled meanwhile is cancelled, and not over its time."""
    now = time.monotonic
    workers = Workers(1, 4, 2)
    job = asyncio.create_task(workers.run(release.wait))
    await asyncio.sleep(0)
    monkeypatch.setattr(thread_pool, "monotonic", lambda: now() + 60)
    await asyncio.sleep(2.2)
    assert not job.done()
    if cancelled:
        job.cancel()
    release.set()
    (result,) = await asyncio.gather(job, return_exceptions=True)
    assert isinstance(result, asyncio.CancelledError) if cancelled else result is True
    workers.close()


@pytest.mark.slow
async def test_waiting_is_no_part_of_the_time_of_a_job() -> None:
    workers = Workers(1, 16, 0.4)
    jobs = [asyncio.create_task(workers.run(lambda: threading.Event().wait(0.3))) for _ in range(4)]
    assert await asyncio.gather(*jobs) == [False] * 4
    workers.close()


@pytest.mark.slow
async def test_a_job_that_waits_far_too_long_is_a_refusal(release: threading.Event) -> None:
    workers = Workers(2, 64, 0.05)
    large = [asyncio.create_task(workers.run(release.wait, cost=1 << 20)) for _ in range(24)]
    refusals = await asyncio.gather(*large, return_exceptions=True)
    codes = [refusal.code for refusal in refusals if isinstance(refusal, Unavailable)]
    assert len(codes) == 24
    assert codes.count("overloaded") > 0
    release.set()
    workers.close()
