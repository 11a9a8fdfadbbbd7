"""Texts are searched in processes of their own, with the same findings. If one is lost, another takes its place."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from gateway.config.loading import load_settings
from gateway.config.settings import Settings, SettingsError
from gateway.detection import builtin_detector
from gateway.detection.engines import Finder
from gateway.detection.job_context import GivenUp
from gateway.detection.recognizer import EntityType
from gateway.errors import Unavailable
from gateway.models import Entity
from gateway.workers import rpc, search_processes
from gateway.workers.detection_engines import open_engines
from gateway.workers.search_processes import NoProcess, PatternProcesses, Pool, SearchProcesses, _portions
from gateway.workers.search_worker import Load
from tests.gateway.workers import readers
from tests.processes import gone, stopped

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no search processes")

_LARGE = "x" * 5000
_TEXTS = [
    "Ask Anna Schmidt of Berlin.",
    "",
    "No one is here.",
    "Dear Jonas Weber, Zbigniew Kowalski called. " * 500,
    "\U0001f600 Anna Schmidt",
    *(f"Note {number} for Karla Muster." for number in range(300)),
]


@asynccontextmanager
async def opened(processes: int, threads: int, *, load: Load = readers.load, hangs: float = 60) -> AsyncIterator[Pool]:
    pool = Pool(load, processes, threads, hangs)
    async with pool.opened({}) as described:
        if processes:
            assert await described == [("1", "abc", {})]
        while pool.free < processes * threads:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        yield pool


async def read(pool: Pool, *texts: str, wait: bool = True) -> list[int]:
    """Has texts read in a thread, and returns the processes that did so."""
    found = await asyncio.to_thread(pool.read, 0, texts, wait=wait)
    assert [(one.start, one.end, one.score) for (one,) in found] == [(0, len(text), 0.5) for text in texts]
    assert [one.recognizer.rpartition(" ")[0].strip() for (one,) in found] == [text[:8].strip() for text in texts]
    return [int(one.type.removeprefix("PROCESS_")) for (one,) in found]


async def pids(pool: Pool, number: int) -> set[int]:
    found = set[int]()
    while len(found) < number:
        found |= {pid for pids in await asyncio.gather(*(read(pool, "wait") for _ in range(number))) for pid in pids}
    return found


@pytest.mark.parametrize("text", ["\ud83d", "\U0001f600\0\n", "ж" * 2_000_000])
async def test_any_text_is_read_in_another_process(text: str) -> None:
    async with opened(1, 2) as pool:
        assert (await read(pool, text))[0] != os.getpid()


async def test_all_processes_take_part_and_long_texts_leave_a_thread_to_short_ones() -> None:
    long = "wait" + " " * 20_000
    async with opened(2, 2) as pool:
        assert len(await pids(pool, 2)) == 2
        began = time.monotonic()
        reading = asyncio.create_task(read(pool, *[long] * 6))
        while sum(link.waiting for link in pool._links) != 3:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        assert pool.free == 1
        await read(pool, "short")
        assert time.monotonic() - began < 0.2
        await reading


@pytest.mark.parametrize(
    ("text", "error", "told"),
    [
        ("unavailable", Unavailable, "Not now."),
        ("broken", RuntimeError, "ValueError"),
        ("panic", RuntimeError, "Panic"),
    ],
)
async def test_an_error_tells_nothing_of_the_text(
    text: str, error: type[Exception], told: str, capfd: pytest.CaptureFixture[str]
) -> None:
    async with opened(1, 2) as pool:
        for _ in range(3):
            with pytest.raises(error) as raised:
                await read(pool, text)
            assert str(raised.value) == told
        await read(pool, "next")
    assert capfd.readouterr() == ("", "")


async def test_lost_processes_are_replaced(caplog: pytest.LogCaptureFixture) -> None:
    async with opened(2, 2) as pool:
        before = await pids(pool, 2)
        os.kill(min(before), signal.SIGKILL)
        after = await pids(pool, 2)
        assert before - after in ({min(before)}, set())
        (record,) = caplog.records
        assert record.getMessage().endswith(f"(exit status {-signal.SIGKILL})")
        links = [*pool._links]
        for process in await pids(pool, 2):
            os.kill(process, signal.SIGKILL)
        while any(link.answers for link in links):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert (await pids(pool, 2)).isdisjoint(after)
        cores = {frozenset(os.sched_getaffinity(pid)) for pid in await pids(pool, 2)}
        assert cores == {frozenset(os.sched_getaffinity(0))}


async def test_a_text_that_ends_processes_is_refused_and_others_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_processes, "_MOST_STARTS", 3)
    monkeypatch.setattr(search_processes, "_LOOK_SECONDS", 0.05)
    async with opened(1, 2) as pool:
        results = await asyncio.gather(read(pool, "die"), read(pool, "wait"), return_exceptions=True)
        assert isinstance(results[0], Unavailable)
        assert results[0].code == "detection_failed"
        with pytest.raises(Unavailable) as refused:
            await read(pool, "die")
        assert refused.value.code == "detection_failed"
        # It is not started again and again.
        with pytest.raises(Unavailable) as refused:
            await read(pool, "next")
        assert (refused.value.code, refused.value.retry_after) == ("detection_failed", 60)
        with pytest.raises(NoProcess):
            await read(pool, "next", wait=False)
        # As if the time had passed.
        monkeypatch.setattr(search_processes, "_STARTS_SECONDS", 0.0)
        while not pool.free:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await read(pool, "next")


async def test_a_process_that_cannot_be_started_now_is_started_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_processes, "_LOOK_SECONDS", 0.05)

    def fails(_: object) -> None:
        raise OSError("too many open files")

    async with opened(1, 1) as pool:
        (process,) = await pids(pool, 1)
        with monkeypatch.context() as patched:
            patched.setattr(search_processes, "start_process", fails)
            os.kill(process, signal.SIGKILL)
            reading = asyncio.create_task(read(pool, "waits"))
            await asyncio.sleep(0.3)
            assert not reading.done()
        assert await reading != [process]


@pytest.mark.parametrize("stop", [True, False])
async def test_a_process_that_hangs_is_replaced(stop: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc, "_PING_SECONDS", 0.1)
    async with opened(1, 2, hangs=5) as pool:
        (process,) = await pids(pool, 1)
        if stop:
            os.kill(process, signal.SIGSTOP)
            assert await asyncio.to_thread(stopped, process)
        hung = asyncio.create_task(read(pool, "next" if stop else "hang"))
        assert await asyncio.to_thread(gone, process)
        if stop:
            assert await hung != [process]
        else:
            assert process not in await read(pool, "next")
            hung.cancel()


async def test_a_read_that_is_not_wanted_stops_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    def given_up() -> None:
        raise GivenUp

    monkeypatch.setattr(search_processes, "_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(search_processes, "stop_if_given_up", given_up)
    async with opened(1, 1) as pool:
        long = "wait" + " " * 20_000
        for texts in (["wait"], [long, long]):
            with pytest.raises(GivenUp):
                await read(pool, *texts)


@pytest.mark.parametrize(
    ("load", "error", "told"),
    [
        (readers.load_nothing, SettingsError, "no such model"),
        (readers.load_broken, RuntimeError, "ValueError"),
        (readers.load_and_die, Unavailable, "too often"),
    ],
)
async def test_a_process_that_cannot_load_its_readers_says_why(
    load: Load, error: type[Exception], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_processes, "_MOST_STARTS", 1)
    with pytest.raises(error, match=told) as raised:
        async with opened(1, 1, load=load):
            pass
    assert readers.PRIVATE not in str(raised.value)


async def test_a_process_that_has_loaded_other_files_is_not_used() -> None:
    async with opened(1, 1) as pool:
        (process,) = await pids(pool, 1)
        pool._run = partial(pool._run.func, readers.load_updated, *pool._run.args[1:])
        os.kill(process, signal.SIGKILL)
        with pytest.raises(Unavailable, match="have changed") as refused:
            await read(pool, "next")
        assert refused.value.code == "detection_failed"


async def test_processes_return_memory_when_they_have_been_idle() -> None:
    async with opened(1, 1) as pool:
        await read(pool, "long")
        await asyncio.sleep(2.5)
        ((found,),) = await asyncio.to_thread(pool.read, 0, ["rests"])
        rests = int(found.recognizer.rpartition(" ")[2])
        assert rests == 1
        assert len(await pids(pool, 1)) == 1


@pytest.mark.parametrize("stop", [False, True])
async def test_in_the_end_no_process_is_left(stop: bool) -> None:
    async with opened(2, 2) as pool:
        there = await pids(pool, 2)
        if stop:
            os.kill(min(there), signal.SIGSTOP)
    for process in there:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


class Here(Finder):
    """Tells in which process it looked."""

    version = "1"
    types: Mapping[str, EntityType] = {}

    def detect(self, text: str) -> tuple[Entity, ...]:
        return readers.Obedient().read([text])[0]


async def where(patterns: PatternProcesses, text: str) -> int:
    (found,) = await asyncio.to_thread(patterns.detect, text)
    return int(found.type.removeprefix("PROCESS_"))


async def test_large_texts_are_searched_for_patterns_elsewhere_while_a_process_is_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search_processes, "_MOST_STARTS", 1)
    async with opened(1, 1) as pool:
        patterns = PatternProcesses(Here(), pool)
        process = await where(patterns, _LARGE)
        assert process != os.getpid() == await where(patterns, "Anna")
        # An event loop does not wait for a process.
        assert patterns.detect(_LARGE)[0].type == f"PROCESS_{os.getpid()}"
        waiting = asyncio.create_task(read(pool, "wait"))
        await asyncio.sleep(0.1)
        assert await where(patterns, _LARGE) == os.getpid()
        await waiting
        os.kill(process, signal.SIGKILL)
        assert await where(patterns, _LARGE) == os.getpid()
        while not pool.free:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert await where(patterns, _LARGE) not in {process, os.getpid()}


@pytest.fixture
def full(tmp_path: Path) -> Settings:
    return load_settings(None, data_dir=tmp_path, detection="full")


async def test_names_are_the_same_wherever_they_are_found(full: Settings) -> None:
    alone, hash = open_engines(full, builtin_detector())
    expected = alone.detect_all(_TEXTS)
    processes = SearchProcesses(full)
    assert not processes.loads_models
    async with processes.opened() as searches:
        engines, own_hash = open_engines(full, searches.patterns, searches.models)
        assert (engines.version, dict(engines.types), own_hash) == (alone.version, dict(alone.types), hash)
        assert await asyncio.to_thread(engines.detect_all, _TEXTS) == expected
        assert (await asyncio.to_thread(engines.detect, _TEXTS[0])) == expected[0] != ()


async def test_models_run_in_the_gateways_process_or_not_at_all(full: Settings) -> None:
    processes = SearchProcesses(full.model_copy(update={"search_processes": 0}))
    assert processes.loads_models
    async with processes.opened() as searches:
        (model,) = searches.models()
        assert type(model).__name__ == "BuiltinModel"
    processes = SearchProcesses(full.model_copy(update={"detection": "patterns"}))
    assert not processes.loads_models
    async with processes.opened() as searches:
        assert not searches.models()
        text = "Write to anna@acme.test. " * 200
        found = await asyncio.to_thread(searches.patterns.detect, text)
        assert found == builtin_detector().detect(text)


@pytest.mark.parametrize(
    ("lengths", "free", "expected"),
    [
        ([1000] * 3, 4, [3]),
        ([3000] * 4, 4, [2, 2]),
        ([3000] * 4, 1, [4]),
        ([3000] * 32, 4, [11, 11, 10]),
        ([3000] * 32, 0, [11, 11, 10]),
        ([10] * 1000, 4, [410, 410, 180]),
        ([100_000], 4, [1]),
    ],
)
def test_portions_keep_workers_busy_and_are_not_too_large(lengths: list[int], free: int, expected: list[int]) -> None:
    texts = ["x" * length for length in lengths]
    portions = [*_portions(texts, free)]
    assert [len(portion) for portion in portions] == expected
    assert [text for portion in portions for text in portion] == texts
