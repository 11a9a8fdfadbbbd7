"""Runs pattern detection for large texts in worker processes, which neither block the gateway's interpreter nor share
its core.

Sending a text to a worker costs as much as searching a few KB, so small texts are searched in place. So are large ones
while all workers are busy or lost, and on an event loop, which must not wait for a worker.
"""

import asyncio
import contextlib
import gc
import logging
import multiprocessing
import threading
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from typing import NamedTuple, Protocol

from gateway.concurrency.memory import LARGE, trim
from gateway.detection.engines import Finder
from gateway.detection.memory import Recall
from gateway.errors import GatewayError, Unavailable
from gateway.models import Entity

_log = logging.getLogger(__name__)

_MIN_LENGTH = 4096
"""Minimum length, in characters, of a text that is sent to a worker."""
_CHANNELS_PER_WORKER = 3
"""Concurrent texts for each worker: while it transfers one, it searches another."""
_JOIN_SECONDS = 1.0

type _Findings = list[tuple[str, int, int, float, str]]


class Closable(Protocol):
    """A file or socket."""

    def close(self) -> object: ...


class _Channel(NamedTuple):
    process: multiprocessing.process.BaseProcess
    connection: Connection


class ProcessPool:
    """Detects like `detector`, and distributes large texts over `channels` to worker processes."""

    def __init__(self, detector: Finder, channels: Sequence[_Channel], timeout: float) -> None:
        self._detector = detector
        self.version = detector.version
        self.types = detector.types
        self._timeout = timeout
        self._free: SimpleQueue[_Channel] = SimpleQueue()
        for channel in channels:
            self._free.put(channel)

    def detect(self, text: str, recall: Recall | None = None) -> tuple[Entity, ...]:
        """Detects like the detector. Blocks.

        Raises Unavailable (detection_timeout) when a worker exceeds the time limit. That worker is killed; the others
        remain in use.
        """
        if len(text) >= _MIN_LENGTH and not _on_event_loop():
            with contextlib.suppress(Empty, EOFError, OSError):
                return self._request(self._free.get_nowait(), text)
        return self._detector.detect(text, recall)

    def _request(self, channel: _Channel, text: str) -> tuple[Entity, ...]:
        """Raises EOFError or OSError if the worker is gone. Its channel is not used again."""
        try:
            channel.connection.send(text)
            if not channel.connection.poll(self._timeout):
                channel.process.kill()
                channel.process.join(_JOIN_SECONDS)
                message = "Detection took too long; nothing was sent. Try a shorter text."
                raise Unavailable(message, code="detection_timeout", retry_after=1)
            found: _Findings | Exception = channel.connection.recv()
        except (EOFError, OSError, Unavailable) as error:
            _log.error("lost a detection worker process: %s", type(error).__name__)
            raise
        self._free.put(channel)
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
def open_process_pool(
    detector: Finder, processes: int, timeout: float, inherited: Sequence[Closable] = ()
) -> Iterator[ProcessPool]:
    """Forks `processes` workers that run `detector`, and ends them on exit. Workers close the `inherited` files.

    Call this before any thread starts.
    """
    # Keeps the garbage collector from writing to pages that the workers share.
    gc.collect()
    gc.freeze()
    context = multiprocessing.get_context("fork")
    channels: list[_Channel] = []
    for _ in range(processes):
        pipes = [context.Pipe() for _ in range(_CHANNELS_PER_WORKER)]
        own_ends, worker_ends = [one for one, _ in pipes], [other for _, other in pipes]
        unused = [*inherited, *own_ends, *(channel.connection for channel in channels)]
        process = context.Process(target=_run_worker, args=(detector, worker_ends, unused), daemon=True)
        process.start()
        for connection in worker_ends:
            connection.close()
        channels += (_Channel(process, connection) for connection in own_ends)
    try:
        yield ProcessPool(detector, channels, timeout)
    finally:
        for channel in channels:
            channel.connection.close()
        for channel in channels[::_CHANNELS_PER_WORKER]:
            channel.process.join(_JOIN_SECONDS)
            channel.process.kill()


def _run_worker(detector: Finder, connections: Sequence[Connection], unused: Sequence[Closable]) -> None:
    """Serves every connection until it is closed."""
    for each in unused:
        each.close()
    threads = [threading.Thread(target=_serve, args=(detector, connection)) for connection in connections]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _serve(detector: Finder, connection: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        while True:
            connection.send(_findings(detector, text := connection.recv()))
            is_large = len(text) >= LARGE
            del text
            if is_large:
                trim()


def _findings(detector: Finder, text: str) -> _Findings | Exception:
    try:
        return [(one.type, one.start, one.end, one.score, one.recognizer) for one in detector.detect(text)]
    except GatewayError as error:
        return error
    except Exception as error:  # noqa: BLE001 - its message may repeat the text, so only its type is passed on
        return RuntimeError(type(error).__name__)
