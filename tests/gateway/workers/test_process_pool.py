"""Jobs are done in processes of their own. If one is lost, others do its jobs, and another takes its place."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from gateway.config.settings import SettingsError
from gateway.detection.job_context import GivenUp
from gateway.errors import Unavailable
from gateway.workers import process_pool
from gateway.workers.process_pool import Answer, NoWorker, ProcessPool
from gateway.workers.process_starter import open_process_starter
from tests.conftest import ROOT
from tests.processes import gone

# Other tests leave threads behind; what is forked here uses nothing of theirs.
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

_PRIVATE = "what nobody may read in an error"
_TIMEOUT = 5.0


class Panic(BaseException):
    """As libraries in Rust raise it."""


class Worker(Answer):
    """Does what a job says, and tells in which process, and how often the worker rested."""

    def __init__(self) -> None:
        self.rests = 0

    def __call__(self, job: object) -> object:
        match job:
            case "hang":
                time.sleep(600)
            case "wait":
                time.sleep(0.2)
            case "unavailable":
                raise Unavailable("Not now.", code="detection_failed")
            case "broken":
                raise ValueError(_PRIVATE)
            case "die":
                os._exit(1)
            case "panic":
                raise Panic(_PRIVATE)
            case "no pickle":
                return threading.Lock(), 0
            case "long":
                time.sleep(0.4)
                return self.rests
            case "rests":
                return self.rests
        return job, os.getpid()

    def rest(self) -> None:
        self.rests += 1


class Restless(Worker):
    """Has no memory left to give up any."""

    def rest(self) -> None:
        raise MemoryError


def fails(error: Exception) -> Answer:
    raise error


@contextlib.contextmanager
def opened(
    processes: int, threads: int, timeout: float = _TIMEOUT, does: Callable[[], Answer] = Worker
) -> Iterator[ProcessPool]:
    with (
        open_process_starter() as starter,
        process_pool.open_process_pool(starter, does, processes, threads, timeout) as pool,
    ):
        yield pool


def pids(pool: ProcessPool, jobs: int = 12) -> set[int]:
    done = pool.request_all(range(jobs))
    assert [job for job, _ in done] == [*range(jobs)]
    return {pid for _, pid in done}


def kill(process: int) -> None:
    """Kills a process, and waits until it has ended."""
    os.kill(process, signal.SIGKILL)
    assert gone(process)


@pytest.fixture
def pool() -> Iterator[ProcessPool]:
    with opened(2, 2) as pool:
        yield pool


@pytest.mark.parametrize("job", ["\ud83d", "\U0001f600\0\n", "ж" * 2_000_000, ("a", [1, b"\0"])])
def test_any_job_comes_back(pool: ProcessPool, job: object) -> None:
    assert pool.request(job)[0] == job


def test_processes_take_turns(pool: ProcessPool) -> None:
    assert len(pids(pool)) == 2
    assert os.getpid() not in pids(pool)


def test_jobs_are_done_at_the_same_time_but_for_one_worker_that_is_left_to_others(pool: ProcessPool) -> None:
    under_way: list[int] = []

    def watch() -> None:
        while not done.wait(0.01):
            under_way.append(4 - pool.free)

    done = threading.Event()
    watcher = threading.Thread(target=watch)
    watcher.start()
    assert len(pool.request_all(["wait"] * 6)) == 6
    done.set()
    watcher.join()
    assert max(under_way) == 3


def test_who_needs_a_worker_waits_for_one_and_others_are_told(pool: ProcessPool) -> None:
    with ThreadPoolExecutor(8) as threads:
        waiting = [threads.submit(pool.request_all, ["wait"]) for _ in range(8)]
        while pool.free:
            time.sleep(0.001)
        with pytest.raises(NoWorker):
            pool.request("at once")
        assert all(len(each.result()) == 1 for each in waiting)
    assert int(pool.free) == 4


def test_what_a_job_refuses_is_refused(pool: ProcessPool) -> None:
    with pytest.raises(Unavailable) as refused:
        pool.request("unavailable")
    assert refused.value.code == "detection_failed"
    assert int(pool.free) == 4


@pytest.mark.parametrize(("job", "told"), [("broken", "ValueError"), ("panic", "Panic"), ("no pickle", "TypeError")])
def test_an_error_says_nothing_of_the_job(
    pool: ProcessPool, capfd: pytest.CaptureFixture[str], job: str, told: str
) -> None:
    for _ in range(5):
        with pytest.raises(RuntimeError) as raised:
            pool.request(job)
        assert (str(raised.value), raised.value.__cause__, raised.value.__context__) == (told, None, None)
    assert int(pool.free) == 4
    assert capfd.readouterr() == ("", "")


def test_nobody_gets_the_result_of_a_job_that_failed_beside_his(pool: ProcessPool) -> None:
    for _ in range(3):
        with pytest.raises(RuntimeError):
            pool.request_all(["broken", "wait", "wait", "wait"])
        assert [job for job, _ in pool.request_all(["a", "b", "c", "d", "e"])] == ["a", "b", "c", "d", "e"]
        assert int(pool.free) == 4


def test_when_a_process_is_lost_another_takes_its_place(pool: ProcessPool, caplog: pytest.LogCaptureFixture) -> None:
    before = pids(pool)
    lost = pool.request("")[1]
    os.kill(lost, signal.SIGKILL)
    after = pids(pool)
    assert len(after) == 2
    assert before - after == {lost}
    assert int(pool.free) == 4
    (record,) = caplog.records
    assert record.getMessage().endswith(f"(exit status {-signal.SIGKILL})")


def test_when_all_processes_are_lost_others_take_their_place(pool: ProcessPool) -> None:
    before = pids(pool)
    for process in before:
        kill(process)
    after = pids(pool)
    assert len(after) == 2
    assert before.isdisjoint(after)


def test_a_job_that_ends_workers_is_refused(pool: ProcessPool, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(Unavailable) as refused:
        pool.request_all(["die"])
    assert refused.value.code == "detection_failed"
    assert len(pids(pool)) == 2
    assert int(pool.free) == 4
    assert [record.getMessage().partition("(")[2] for record in caplog.records] == ["exit status 1)"] * 2


def test_processes_are_not_started_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_pool, "_MOST_STARTS", 3)
    with opened(1, 2) as pool:
        for _ in range(2):
            with pytest.raises(Unavailable):
                pool.request_all(["die"])
        with pytest.raises(NoWorker):
            pool.request("")
        with pytest.raises(Unavailable) as refused:
            pool.request_all([""])
        assert refused.value.code == "detection_failed"
        # As if the time had passed: a slow machine needs more than half a second for the starts alone.
        monkeypatch.setattr(process_pool, "_STARTS_SECONDS", 0.0)
        assert pool.request_all([""])[0][0] == ""


@pytest.mark.skipif(sys.platform != "linux", reason="the parent of a process is read in /proc")
def test_without_the_starter_there_is_no_worker(caplog: pytest.LogCaptureFixture) -> None:
    with opened(1, 2) as pool:
        process = pool.request("")[1]
        starter = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(starter, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            while True:
                os.kill(process, 0)
        for _ in range(3):
            with pytest.raises(NoWorker):
                pool.request_all(["", ""])
        with pytest.raises(NoWorker):
            pool.request("")
    assert "until the next start" in caplog.records[-1].getMessage()


def test_a_process_that_cannot_be_started_now_is_started_later(
    pool: ProcessPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_pool, "_LOOK_SECONDS", 0.05)
    before = pids(pool)

    def fails(_: float) -> None:
        raise OSError("too many open files")

    with monkeypatch.context() as patched:
        patched.setattr(process_pool, "limited_pair", fails)
        os.kill(min(before), signal.SIGKILL)
        assert pids(pool) == {max(before)}
    time.sleep(0.1)
    assert len(pids(pool)) == 2


def test_who_leaves_a_worker_to_others_waits_for_a_second_one() -> None:
    with opened(1, 2) as pool, ThreadPoolExecutor(2) as threads:
        first = threads.submit(pool.request_all, ["wait"] * 3, spare=True)
        while pool.free == 2:
            time.sleep(0.001)
        second = threads.submit(pool.request_all, ["wait"], spare=True)
        for _ in range(10):
            assert pool.request("at once")[0] == "at once"
        assert not second.done()
        assert len(first.result()) == 3
        assert len(second.result()) == 1


def test_a_job_whose_result_is_not_wanted_stops_waiting_for_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    def given_up() -> None:
        raise GivenUp

    monkeypatch.setattr("gateway.workers.process_pool._LOOK_SECONDS", 0.01)
    monkeypatch.setattr("gateway.workers.process_pool.stop_if_given_up", given_up)
    with opened(1, 1) as pool, ThreadPoolExecutor(1) as threads:
        first = threads.submit(pool.request_all, ["wait"])
        while pool.free:
            time.sleep(0.001)
        with pytest.raises(GivenUp):
            pool.request_all([""])
        assert len(first.result()) == 1


def test_whoever_waits_for_a_worker_gets_one_that_takes_its_place() -> None:
    with opened(1, 1) as pool, ThreadPoolExecutor(4) as threads:
        first = threads.submit(pool.request_all, ["wait", "die", "wait"])
        while pool.free:
            time.sleep(0.001)
        waiting = [threads.submit(pool.request_all, ["wait"] * 3) for _ in range(3)]
        assert isinstance(first.exception(), Unavailable)
        assert [len(each.result()) for each in waiting] == [3] * 3


@pytest.mark.slow
def test_a_process_that_hangs_is_ended() -> None:
    with opened(1, 2, 2) as pool:
        process = pool.request("")[1]
        with pytest.raises(Unavailable) as refused:
            pool.request("hang")
        assert refused.value.code == "detection_timeout"
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
        assert pool.request("")[1] != process


@pytest.mark.parametrize(
    ("error", "told"),
    [(SettingsError("no such model"), "no such model"), (ValueError(_PRIVATE), "ValueError")],
)
def test_whoever_asks_learns_why_a_process_cannot_work(error: Exception, told: str) -> None:
    with (
        opened(1, 2, does=partial(fails, error)) as pool,
        pytest.raises(SettingsError if isinstance(error, SettingsError) else RuntimeError, match=f"^{told}$"),
    ):
        pool.request("")


def test_a_worker_rests_once_when_it_has_had_no_job_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_pool, "_IDLE_SECONDS", 0.05)
    with opened(1, 1) as pool:
        assert pool.request("rests") == 0
        time.sleep(1)
        assert pool.request("rests") == 1


def test_a_worker_rests_behind_a_long_job_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_pool, "_IDLE_SECONDS", 0.05)
    with opened(1, 1) as pool:
        during = pool.request("long")
        time.sleep(1)
        assert pool.request("rests") == during + 1


def test_a_worker_that_cannot_rest_works_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_pool, "_IDLE_SECONDS", 0.05)
    with opened(1, 1, does=Restless) as pool:
        before = pids(pool, 1)
        time.sleep(0.5)
        assert pids(pool, 1) == before


def test_without_processes_there_is_no_worker() -> None:
    with opened(0, 2) as pool:
        for request in (pool.request, lambda job: pool.request_all([job])):
            with pytest.raises(NoWorker):
                request("")


@pytest.mark.parametrize("stopped", [False, True])
def test_in_the_end_no_process_is_left(stopped: bool) -> None:
    with opened(2, 2) as pool:
        there = pids(pool)
        assert len(there) == 2
        if stopped:
            os.kill(min(there), signal.SIGSTOP)
    for process in there:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_nothing_that_is_there_before_has_threads() -> None:
    """A thread that holds a lock while another forks leaves it locked in the new process for ever."""
    loaded = (
        "import os, sys, gateway.server.gateway_process, gateway.workers.search_processes\n"
        "from gateway.detection import builtin_detector\n"
        "builtin_detector()\n"
        "print(len(os.listdir('/proc/self/task')), *{'numpy', 'onnxruntime', 'tokenizers'} & sys.modules.keys())\n"
    )
    done = subprocess.run([sys.executable, "-c", loaded], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
