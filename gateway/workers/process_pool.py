"""Runs jobs in worker processes, which neither block the gateway's interpreter nor share its core.

`gateway.workers.search_processes` says which jobs. Jobs and results pass through a socket pair for each thread of a
worker; workers keep nothing. A worker that is lost is replaced.
"""

import contextlib
import gc
import logging
import os
import pickle
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from multiprocessing.connection import Connection
from time import monotonic
from typing import Any, Protocol

from gateway.config.settings import SettingsError
from gateway.detection.job_context import stop_if_given_up
from gateway.errors import GatewayError, Unavailable
from gateway.workers.memory import trim
from gateway.workers.process_starter import ProcessStarter, limited_pair

_log = logging.getLogger(__name__)

_LOOK_SECONDS = 1.0
"""How often a job that waits for a worker looks whether it is still wanted."""
_MOST_LOSSES = 1
"""How many workers may be lost with a job. One more, and the job is the reason."""
_MOST_STARTS, _STARTS_SECONDS = 5, 60.0
"""How many workers may be replaced in which time."""
_IDLE_SECONDS = 1.0
_NICE = 5
"""A text may wait, the event loops may not."""


class Answer(Protocol):
    """What a worker does."""

    def __call__(self, job: Any, /) -> Any:
        """Does a job, and returns its result."""
        ...

    def rest(self) -> None:
        """Gives up what takes memory and can be had again, since there has been no job for a while."""
        ...


class NoWorker(Exception):
    """All workers are busy, or lost."""


@dataclass(slots=True, eq=False)
class _Process:
    id: int
    is_lost: bool = False


@dataclass(slots=True)
class _Channel:
    process: _Process
    connection: Connection
    unread: bool = False
    """Whether nobody waited for the last result."""


class ProcessPool:
    """Worker processes with so many `threads`, each of which takes one job at a time. Thread-safe."""

    def __init__(
        self, starter: ProcessStarter, prepare: Callable[[], Answer], processes: int, threads: int, timeout: float
    ) -> None:
        self._starter = starter
        # Pickled here, so that a worker can tell what fails to load.
        self._run = partial(_work, pickle.dumps(prepare))
        self._threads = threads
        self._timeout = timeout
        # Workers to replace, and when some were.
        self._missing = 0
        self._starts = deque[float]()
        self._next_start = 0.0
        self._changed = threading.Condition()
        workers: list[list[_Channel]] = [self._start() for _ in range(processes)]
        # They take turns.
        self._free: deque[_Channel] = deque(chain.from_iterable(zip(*workers, strict=True)))
        self._left = len(self._free)

    def _start(self) -> list[_Channel]:
        """Starts a worker. Raises OSError if that fails."""
        own_ends, worker_ends = zip(*(limited_pair(self._timeout) for _ in range(self._threads)), strict=True)
        try:
            process = _Process(self._starter.start(self._run, worker_ends))
        finally:
            for connection in worker_ends:
                connection.close()
        return [_Channel(process, connection) for connection in own_ends]

    @property
    def free(self) -> int:
        """How many jobs could start now."""
        return len(self._free)

    def request(self, job: object) -> Any:
        """Returns the result of a job that starts at once, or raises its GatewayError; RuntimeError for any other.

        Blocks. Raises NoWorker if none is free, and Unavailable (detection_timeout) when a worker exceeds the time
        limit. That worker is killed, and others do the rest of its jobs.
        """
        return self._request([job], wait=False, spare=False)[0]

    def request_all(self, jobs: Sequence[object], *, spare: bool = False) -> list[Any]:
        """Returns the results of jobs, some of which are done at the same time while workers are free.

        With `spare`, leaves a worker to others. Waits for workers that are busy; raises Unavailable (detection_failed)
        while lost ones may not be replaced, NoWorker if none ever will be, and GivenUp if the result is no longer
        wanted. Otherwise like `request`.
        """
        return self._request(jobs, wait=True, spare=spare)

    def _request(self, jobs: Sequence[object], *, wait: bool, spare: bool) -> list[Any]:
        results: list[Any] = [None] * len(jobs)
        waiting = deque(range(len(jobs)))
        under_way: deque[tuple[int, _Channel]] = deque()
        losses = Counter[int]()
        try:
            while waiting or under_way:
                while waiting and (channel := self._take(wait=wait and not under_way, spare=spare or bool(under_way))):
                    if self._send(channel, jobs[waiting[0]]):
                        under_way.append((waiting.popleft(), channel))
                if not under_way:
                    raise NoWorker
                number, channel = under_way.popleft()
                done, result = self._receive(channel)
                if done:
                    results[number] = result
                    continue
                losses[number] += 1
                if losses[number] > _MOST_LOSSES:
                    raise Unavailable("Detection failed; nothing was sent. Try again.", code="detection_failed")
                waiting.appendleft(number)
        finally:
            for _, channel in under_way:
                channel.unread = True
                self._give_back(channel)
        return results

    def _take(self, *, wait: bool, spare: bool) -> _Channel | None:
        """Returns a channel, or None if none is free; with `spare`, only if another one is."""
        with self._changed:
            self._replace()
            while len(self._free) <= (spare and self._left > 1):
                if not wait or not (self._left or self._missing):
                    return None
                if not self._left:
                    message = "Detection failed too often; nothing was sent. Try again in a minute."
                    raise Unavailable(message, code="detection_failed", retry_after=int(_STARTS_SECONDS))
                stop_if_given_up()
                self._changed.wait(_LOOK_SECONDS)
                self._replace()
            return self._free.popleft()

    def _replace(self) -> None:
        """Starts workers in place of lost ones, but not again and again."""
        now = monotonic()
        while self._starts and self._starts[0] < now - _STARTS_SECONDS:
            self._starts.popleft()
        while self._missing and len(self._starts) < _MOST_STARTS and now >= self._next_start:
            try:
                channels = self._start()
            except OSError as error:
                self._next_start = now + _LOOK_SECONDS
                if self._starter.is_lost:
                    self._missing = 0
                    _log.error("lost detection worker processes until the next start: %s", type(error).__name__)
                return
            self._starts.append(now)
            self._missing -= 1
            self._left += len(channels)
            self._free.extend(channels)
            self._changed.notify_all()

    def _send(self, channel: _Channel, job: object) -> bool:
        """Returns False if the worker is lost."""
        try:
            if channel.unread:
                channel.connection.recv()
                channel.unread = False
            channel.connection.send(job)
        except Exception as error:  # noqa: BLE001 - the channel is of no more use, whatever it is
            self._lose(channel, type(error).__name__)
            return False
        return True

    def _receive(self, channel: _Channel) -> tuple[bool, Any]:
        """Returns whether the job was done, and its result. Otherwise the worker is lost."""
        try:
            result = channel.connection.recv()
        except BlockingIOError:
            self._lose(channel, "it took too long")
            message = "Detection took too long; nothing was sent. Try a shorter text."
            raise Unavailable(message, code="detection_timeout", retry_after=1) from None
        except Exception as error:  # noqa: BLE001 - as above
            self._lose(channel, type(error).__name__)
            return False, None
        self._give_back(channel)
        if isinstance(result, Exception):
            raise result
        return True, result

    def _give_back(self, channel: _Channel) -> None:
        with self._changed:
            if channel.process.is_lost:
                self._left -= 1
                channel.connection.close()
            else:
                self._free.append(channel)
            # Those that leave a worker to others may have to wait on.
            self._changed.notify_all()

    def _lose(self, channel: _Channel, reason: str) -> None:
        """Ends the worker of a channel, which is not used again, and drops the free ones."""
        process = channel.process
        status = None
        with self._changed:
            if is_first := not process.is_lost:
                process.is_lost = True
                status = self._starter.end(process.id)
                self._missing += 1
            dropped = [channel, *(each for each in self._free if each.process is process)]
            self._free = deque(each for each in self._free if each.process is not process)
            self._left -= len(dropped)
            self._changed.notify_all()
        for each in dropped:
            each.connection.close()
        if is_first:
            _log.error("lost a detection worker process, starts another: %s (exit status %s)", reason, status)

    def close(self) -> None:
        """Tells the workers to end."""
        with self._changed:
            self._missing = self._left = 0
            for channel in self._free:
                channel.connection.close()
            self._free.clear()


@contextlib.contextmanager
def open_process_pool(
    starter: ProcessStarter, prepare: Callable[[], Answer], processes: int, threads: int, timeout: float
) -> Iterator[ProcessPool]:
    """Starts `processes` workers, and tells them to end on exit. `timeout` is in seconds, for a job.

    Each calls `prepare`, which is pickled, and runs the result in `threads` threads.
    """
    pool = ProcessPool(starter, prepare, processes, threads, timeout)
    try:
        yield pool
    finally:
        pool.close()


def _work(prepare: bytes, connections: Sequence[Connection]) -> None:
    """Serves every connection until it is closed."""
    os.nice(_NICE)
    try:
        answer = pickle.loads(prepare)()  # noqa: S301 - of this gateway  # nosec B301
    except Exception as error:  # noqa: BLE001 - whoever asks is told
        for connection in connections:
            _tell(connection, _told(error))
        return
    trim()
    gc.freeze()
    worker = _Worker(answer)
    threads = [threading.Thread(target=worker.serve, args=(connection,)) for connection in connections]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(_IDLE_SECONDS)
            worker.rest()


class _Worker:
    """Does the jobs of a worker, and returns its memory when there are none."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        # Beginnings and ends of jobs: what a long one takes is free only behind its end.
        self._turns = self._seen = self._trimmed = 0

    def serve(self, connection: Connection) -> None:
        """Does the jobs of a connection until it is closed."""
        with contextlib.suppress(EOFError, OSError), connection:
            while True:
                job = connection.recv()
                self._turns += 1
                try:
                    answer = pickle.dumps(self._answer(job))
                except BaseException as error:  # noqa: BLE001 - a thread would print it; whoever asks is told
                    answer = pickle.dumps(_told(error))
                del job
                connection.send_bytes(answer)
                del answer
                self._turns += 1

    def rest(self) -> None:
        """Returns free memory, once, if no job has begun or ended since the last call."""
        turns = self._turns
        if turns == self._seen and turns != self._trimmed:
            # Whatever fails here, the next job may succeed.
            with contextlib.suppress(Exception):
                self._answer.rest()
            trim()
            self._trimmed = turns
        self._seen = turns


def _tell(connection: Connection, result: object) -> None:
    """Answers the first job of a connection."""
    with contextlib.suppress(EOFError, OSError), connection:
        connection.recv()
        connection.send(result)


def _told(error: BaseException) -> Exception:
    """Returns what may be told of an error: of any but ours, only the type, as its message may repeat the text."""
    return error if isinstance(error, GatewayError | SettingsError) else RuntimeError(type(error).__name__)
