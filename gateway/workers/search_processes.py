"""Has texts searched in processes of their own: for names, if a model is in use, otherwise large ones for patterns.

Models are loaded there and not in the gateway's process, whose interpreter then has nothing to do with them. A process
that is lost is replaced.
"""

import asyncio
import logging
import os
import socket
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from threading import Semaphore
from time import monotonic, sleep
from typing import Any, NamedTuple

from gateway.config.settings import Settings, SettingsError
from gateway.detection.detector import builtin_detector
from gateway.detection.engines import Finder
from gateway.detection.job_context import stop_if_given_up
from gateway.detection.ner.finder import Reader, batches
from gateway.detection.recognizer import EntityType
from gateway.errors import Unavailable
from gateway.models import Entity
from gateway.workers.detection_engines import load_models
from gateway.workers.process_starter import start_process
from gateway.workers.rpc import Link, NoReply
from gateway.workers.search_worker import Described, Load, PatternReader, Row, serve

_log = logging.getLogger(__name__)

_MIN_LENGTH = 4096
"""Characters from which on a text is worth sending: that costs as much as searching a few KB for patterns."""
_LEAST, _MOST = 4096, 32_000
"""Characters of a portion that is read at once; the more, the more memory it takes."""
_SHORT = 16_000
"""Characters up to which texts may take the last thread that is free, so that they do not wait for long ones."""
_HANGS, _LEAST_SECONDS = 2, 60
"""How many times the time limit a search may take, and the least seconds. By then the request was refused; a process
that takes longer hangs, and is ended.
"""
_LOOK_SECONDS = 1.0
"""How often a thread that waits for a process looks whether the result is still wanted."""
_POLL_SECONDS = 0.02
_MOST_STARTS, _STARTS_SECONDS = 5, 60.0
"""How many processes may be replaced in which time."""


class NoProcess(Exception):
    """No process can search at the moment."""


class Searches(NamedTuple):
    """Searches for patterns, and the models of the settings: `models` loads those, or finds them in the processes."""

    patterns: Finder
    models: Callable[[], Sequence[Reader]]


class SearchProcesses:
    """The `search_processes` of the settings, which start at once. `loads_models` tells whether this process does."""

    def __init__(self, settings: Settings) -> None:
        self._by_patterns = settings.detection == "patterns" and settings.detection_model is None
        self.loads_models = not (self._by_patterns or settings.search_processes)
        self._load: Load = partial(load_models, settings.detection == "full", settings.detection_model)
        load = _load_patterns if self._by_patterns else self._load
        hangs = max(_LEAST_SECONDS, _HANGS * settings.detection_timeout_seconds)
        self._pool = Pool(load, settings.search_processes, settings.model_threads, hangs)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Searches]:
        """Opens the links to the processes, and ends those on exit. Raises SettingsError for unusable models."""
        patterns = builtin_detector()
        types = dict(patterns.types)
        if self.loads_models:
            yield Searches(patterns, partial(self._load, types))
        elif self._by_patterns:
            async with self._pool.opened({}, [patterns.version]):
                yield Searches(PatternProcesses(patterns, self._pool), tuple)
        else:
            async with self._pool.opened(types) as described:
                models = [RemoteReader(*one, partial(self._pool.read, i)) for i, one in enumerate(await described)]
                yield Searches(patterns, models.copy)


def _load_patterns(_: Mapping[str, EntityType]) -> Sequence[Reader]:
    return [PatternReader(builtin_detector())]


class PatternProcesses(Finder):
    """Detects like `detector`, large texts in `pool` while a thread there is free."""

    def __init__(self, detector: Finder, pool: "Pool") -> None:
        self._detector = detector
        self._pool = pool
        self.version = detector.version
        self.types = detector.types

    def detect(self, text: str) -> tuple[Entity, ...]:
        """Detects like the detector. Blocks, except on an event loop. Raises Unavailable (`detection_failed`)."""
        if len(text) >= _MIN_LENGTH and self._pool.free and not _on_event_loop():
            with suppress(NoProcess):
                (found,) = self._pool.read(0, [text], wait=False)
                return found
        return self._detector.detect(text)


@dataclass(slots=True)
class RemoteReader:
    """A model in another process."""

    version: str
    hash: str
    types: Mapping[str, EntityType]
    read: Callable[[Sequence[str]], list[tuple[Entity, ...]]]

    def rest(self) -> None:
        """Does nothing: its process knows when there is nothing to do."""


class Pool:
    """Processes that search with what `load` returns, each in `threads` threads. One that is lost is replaced."""

    def __init__(self, load: Load, processes: int, threads: int, hangs: float) -> None:
        # Taken now: later, this process may be bound to one of the cores.
        cores = os.sched_getaffinity(0) if sys.platform == "linux" else set[int]()
        self._run = partial(serve, load, threads, hangs, cores)
        self._threads = threads
        self._hangs = hangs
        self._started = [start_process(self._run) for _ in range(processes)]
        self._links: list[Link] = []
        self._starts = deque[float]()
        # Places for long texts, which leave a thread to short ones.
        self._long = Semaphore(max(1, processes * threads - 1))
        self._changed_files = self._is_closed = False

    @asynccontextmanager
    async def opened(
        self, known: Mapping[str, EntityType], versions: Sequence[str] = ()
    ) -> AsyncIterator[asyncio.Future[Described]]:
        """Yields the future description of the readers. Ends the processes on exit.

        `known` are other types of entities. Later processes must have readers of the same versions as the first one or,
        if given, `versions`.
        """
        described: asyncio.Future[Described] = asyncio.get_running_loop().create_future()
        keeping = [asyncio.create_task(self._keep(*each, known, versions, described)) for each in self._started]
        try:
            yield described
        finally:
            self._is_closed = True
            for task in keeping:
                task.cancel()
            await asyncio.gather(*keeping, return_exceptions=True)
            if described.done() and not described.cancelled():
                described.exception()  # there may be no one who waits for it

    async def _keep(
        self,
        process: subprocess.Popen[bytes],
        end: socket.socket,
        known: Mapping[str, EntityType],
        versions: Sequence[str],
        described: asyncio.Future[Described],
    ) -> None:
        """Has a process search, and then, each time that one is lost, another."""
        while True:
            try:
                link = await Link.open(end)
                reason = await self._use(link, known, versions, described)
            except (SettingsError, RuntimeError) as error:
                if not described.done():
                    described.set_exception(error)
                return
            finally:
                process.kill()
                status = process.wait()
            _log.error("lost a detection worker process, starts another: %s (exit status %d)", reason, status)
            while not (started := self._start_again()):
                if not described.done():
                    described.set_exception(_too_often())
                await asyncio.sleep(_LOOK_SECONDS)
            process, end = started

    async def _use(
        self, link: Link, known: Mapping[str, EntityType], versions: Sequence[str], described: asyncio.Future[Described]
    ) -> str:
        """Returns why the process is lost. Raises what keeps it from loading."""
        try:
            async with asyncio.timeout(max(_LEAST_SECONDS, self._hangs)):
                found: Described = await link.call("describe", known)
            if not described.done():
                described.set_result(found)
            expected = versions or [version for version, *_ in described.result()]
            if [version for version, *_ in found] != expected:
                self._changed_files = True
                raise RuntimeError("other versions")
            self._links.append(link)
            async for _ in link.silences(self._hangs):
                return "it does not answer"
            return "it has ended"
        except NoReply:
            return "it ended while it was loading"
        except TimeoutError:
            return "it took too long to load"
        finally:
            if link in self._links:
                self._links.remove(link)
            link.close()

    def _start_again(self) -> tuple[subprocess.Popen[bytes], socket.socket] | None:
        """Starts a process, but not again and again."""
        now = monotonic()
        while self._starts and self._starts[0] < now - _STARTS_SECONDS:
            self._starts.popleft()
        if len(self._starts) < _MOST_STARTS:
            with suppress(OSError):
                started = start_process(self._run)
                self._starts.append(now)
                return started
        return None

    @property
    def free(self) -> int:
        """How many searches could start now."""
        return max(0, sum(self._threads - link.waiting for link in self._links))

    def read(self, number: int, texts: Sequence[str], *, wait: bool = True) -> list[tuple[Entity, ...]]:
        """Returns what the reader with a number finds in each text; long ones are divided between threads. Blocks.

        Raises Unavailable (`detection_failed`) if processes were lost with it, or too often, and GivenUp if the result
        is not wanted any more. Without `wait`, raises NoProcess instead of waiting until a lost one is replaced.
        """
        portions = [*_portions(texts, self.free)]
        is_long = sum(map(len, texts)) > _SHORT
        replies = SimpleQueue[tuple[int, bool, Any]]()

        def submit(at: int) -> None:
            link = self._link(wait=wait)
            while is_long and not self._long.acquire(timeout=_LOOK_SECONDS):
                stop_if_given_up()
            link.submit(partial(take, at), "search", number, portions[at])

        def take(at: int, done: bool, value: Any) -> None:
            if is_long:
                self._long.release()
            replies.put((at, done, value))

        for at in range(len(portions)):
            submit(at)
        results: dict[int, list[list[Row]]] = {}
        lost = set[int]()
        while len(results) < len(portions):
            try:
                at, done, value = replies.get(timeout=_LOOK_SECONDS)
            except Empty:
                stop_if_given_up()
                continue
            if done:
                results[at] = value
            elif not isinstance(value, NoReply):
                raise value
            elif at in lost:  # the text may be the reason
                raise Unavailable("Detection failed; nothing was sent. Try again.", code="detection_failed")
            else:
                lost.add(at)
                submit(at)
        return [tuple(Entity(*row) for row in rows) for _, found in sorted(results.items()) for rows in found]

    def _link(self, *, wait: bool) -> Link:
        """Returns the link to the process that has the fewest searches."""
        while not (links := [link for link in self._links if link.answers]):
            if self._changed_files:
                message = "The files of the detection have changed since the start; restart the gateway."
                raise Unavailable(message, code="detection_failed")
            if not wait:
                raise NoProcess
            if self._is_closed:
                raise Unavailable("The gateway is stopping; try again.", code="stopping", retry_after=1)
            if len(self._starts) >= _MOST_STARTS:
                raise _too_often()
            stop_if_given_up()
            sleep(_POLL_SECONDS)
        return min(links, key=lambda link: link.waiting)


def _portions(texts: Sequence[str], free: int) -> Iterator[Sequence[str]]:
    """Divides texts for threads, `free` of which have no work: in large portions, which take less time in all, but not
    so large that a free thread gets none.
    """
    return batches(texts, max(_LEAST, min(_MOST, sum(map(len, texts)) // max(1, free - 1))), len)


def _too_often() -> Unavailable:
    message = "Detection failed too often; nothing was sent. Try again in a minute."
    return Unavailable(message, code="detection_failed", retry_after=int(_STARTS_SECONDS))


def _on_event_loop() -> bool:
    with suppress(RuntimeError):
        asyncio.get_running_loop()
        return True
    return False
