"""The program of a process that searches texts for the gateway's process, until that closes the link.

It imports little, so that it starts soon, and keeps no text.
"""

import gc
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from time import monotonic, sleep

from gateway.config.settings_file import SettingsError
from gateway.detection.engines import Finder
from gateway.detection.ner.finder import Reader
from gateway.detection.recognizer import EntityType
from gateway.errors import GatewayError
from gateway.models import Entity
from gateway.workers.memory import bound_free_memory, trim
from gateway.workers.rpc import answer_in_threads

_IDLE_SECONDS = 1.0
_NICE = 5
"""A text may wait, the event loops may not."""

type Load = Callable[[Mapping[str, EntityType]], Sequence[Reader]]
type Row = tuple[str, int, int, float, str]
"""An entity as a plain tuple, which is sent in a fraction of the time."""
type Described = list[tuple[str, str, dict[str, EntityType]]]
"""Version, hash and types of each reader."""


class PatternReader(Reader):
    """Built-in recognizers in the place of a model."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder
        self.version, self.hash, self.types = finder.version, "", {}

    def read(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        return [*self._finder.detect_all(texts)]

    def rest(self) -> None:
        """Keeps all it has."""


def serve(load: Load, threads: int, hangs: float, cores: Iterable[int], end: socket.socket) -> None:
    """Answers searches at `end` with the readers that `load` returns, in `threads` threads, on any of the `cores`.

    Ends the process once a search takes more than `hangs` seconds.
    """
    os.nice(_NICE)
    if sys.platform == "linux":
        with suppress(OSError):  # a sandbox may forbid it
            os.sched_setaffinity(0, cores)
    bound_free_memory()
    worker = _Worker(load, hangs)
    threading.Thread(target=worker.rest_when_idle, daemon=True).start()
    answer_in_threads(end, {"describe": worker.describe, "search": worker.search, "ping": worker.check}, _told, threads)


def _told(error: BaseException) -> Exception:
    """Returns what may be told of an error: of any but ours, only the type, as its message may repeat the text."""
    return error if isinstance(error, GatewayError | SettingsError) else RuntimeError(type(error).__name__)


class _Worker:
    """Searches, and returns memory when there is nothing to search."""

    def __init__(self, load: Load, hangs: float) -> None:
        self._load = load
        self._hangs = hangs
        self._readers: Sequence[Reader] = ()
        # When each thread that searches began, and how many searches have begun or ended.
        self._began: dict[int, float] = {}
        self._turns = 0

    def describe(self, known: Mapping[str, EntityType]) -> Described:
        """Loads the readers. `known` are the other types of entities."""
        self._readers = self._load(known)
        trim()
        gc.freeze()
        return [(one.version, one.hash, dict(one.types)) for one in self._readers]

    def search(self, number: int, texts: Sequence[str]) -> list[list[Row]]:
        """Returns what a reader finds in each of the texts."""
        thread = threading.get_ident()
        self._began[thread] = monotonic()
        self._turns += 1
        try:
            found = self._readers[number].read(texts)
        finally:
            del self._began[thread]
            self._turns += 1
        return [[(one.type, one.start, one.end, one.score, one.recognizer) for one in each] for each in found]

    def check(self) -> None:
        """Ends the process if a search hangs, which nothing else would end."""
        if any(began < monotonic() - self._hangs for began in [*self._began.values()]):
            os._exit(1)

    def rest_when_idle(self) -> None:
        """Returns free memory, once, whenever no search has begun or ended for a second."""
        seen = rested = 0
        while True:
            sleep(_IDLE_SECONDS)
            if seen == self._turns != rested:
                for each in self._readers:
                    with suppress(Exception):  # the next search may succeed all the same
                        each.rest()
                trim()
                rested = seen
            seen = self._turns
