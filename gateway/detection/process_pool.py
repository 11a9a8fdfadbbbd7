"""The search for patterns, with processes beside it for large texts: they do not hold up the gateway's interpreter, and
each has a processor core of its own.

Handing a text over costs what searching a few KB does, so small texts are searched where they are; large ones, too,
while all processes are busy, or gone, and on an event loop, which must not wait for a process that has other texts.
"""

import asyncio
import contextlib
import gc
import logging
import multiprocessing
import threading
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from typing import NamedTuple, Protocol

from gateway.detection.engines import Finder
from gateway.detection.recognizer import EntityType
from gateway.errors import GatewayError, Unavailable
from gateway.models import Entity

_log = logging.getLogger(__name__)

_LARGE = 4096
"""Characters from which on a text is handed over."""
_LANES = 3
"""Texts a process has at once: while it reads or answers one, it searches another."""
_END_SECONDS = 1.0

type _Found = list[tuple[str, int, int, float, str]]


class Closable(Protocol):
    """A file or socket."""

    def close(self) -> object: ...


class _Lane(NamedTuple):
    process: multiprocessing.process.BaseProcess
    end: Connection


class ProcessPool:
    """Searches as `detector` does, with `lanes` to the processes that help."""

    def __init__(self, detector: Finder, lanes: Sequence[_Lane], timeout: float) -> None:
        self._detector = detector
        self._timeout = timeout
        self._free: SimpleQueue[_Lane] = SimpleQueue()
        for lane in lanes:
            self._free.put(lane)

    @property
    def version(self) -> str:
        return self._detector.version

    @property
    def types(self) -> Mapping[str, EntityType]:
        return self._detector.types

    def detect(self, text: str) -> tuple[Entity, ...]:
        """As the detector. Blocks. Raises Unavailable (detection_timeout) as well: a process that takes longer than the
        time limit is ended, and the rest goes on without it.
        """
        if len(text) >= _LARGE and not _on_event_loop():
            with contextlib.suppress(Empty, EOFError, OSError):
                return self._ask(self._free.get_nowait(), text)
        return self._detector.detect(text)

    def _ask(self, lane: _Lane, text: str) -> tuple[Entity, ...]:
        """Raises EOFError or OSError when the process is gone; its lane is not used again."""
        try:
            lane.end.send(text)
            if not lane.end.poll(self._timeout):
                lane.process.kill()
                lane.process.join(_END_SECONDS)
                message = "Looking for private text took too long; nothing was sent."
                raise Unavailable(message, code="detection_timeout", retry_after=1)
            found: _Found | Exception = lane.end.recv()
        except (EOFError, OSError, Unavailable) as error:
            _log.error("a process that searches large texts is lost: %s", type(error).__name__)
            raise
        self._free.put(lane)
        if isinstance(found, Exception):
            raise found
        return tuple(Entity(*each) for each in found)


def _on_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@contextlib.contextmanager
def searching(
    detector: Finder, processes: int, timeout: float, inherited: Sequence[Closable] = ()
) -> Iterator[ProcessPool]:
    """Forks `processes` that search with `detector`, and ends them in the end. They close what is `inherited`.

    Call it before anything starts a thread.
    """
    # What the processes share stays shared as long as nobody writes to it.
    gc.collect()
    gc.freeze()
    forking = multiprocessing.get_context("fork")
    lanes: list[_Lane] = []
    for _ in range(processes):
        pipes = [forking.Pipe() for _ in range(_LANES)]
        ours, theirs = [one for one, _ in pipes], [other for _, other in pipes]
        foreign = [*inherited, *ours, *(lane.end for lane in lanes)]
        process = forking.Process(target=_serve, args=(detector, theirs, foreign), daemon=True)
        process.start()
        for end in theirs:
            end.close()
        lanes += (_Lane(process, end) for end in ours)
    try:
        yield ProcessPool(detector, lanes, timeout)
    finally:
        for lane in lanes:
            lane.end.close()
        for lane in lanes[::_LANES]:
            lane.process.join(_END_SECONDS)
            lane.process.kill()


def _serve(detector: Finder, ends: Sequence[Connection], foreign: Sequence[Closable]) -> None:
    """Answers on every end until it is closed."""
    for each in foreign:
        each.close()
    threads = [threading.Thread(target=_answer, args=(detector, end)) for end in ends]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _answer(detector: Finder, end: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        while True:
            end.send(_found(detector, end.recv()))


def _found(detector: Finder, text: str) -> _Found | Exception:
    try:
        return [(one.type, one.start, one.end, one.score, one.recognizer) for one in detector.detect(text)]
    except GatewayError as error:
        return error
    except Exception as error:  # noqa: BLE001 - what it says may repeat the text; its type is what is logged
        return RuntimeError(type(error).__name__)
