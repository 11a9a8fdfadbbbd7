"""Searches texts in processes of their own: for names, if a model is in use, otherwise large texts for patterns.

Models are loaded there and not in the gateway's process, whose interpreter then has nothing to do with them. If no
process can be started any more, the gateway's process searches by itself.
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from gateway.config.settings import Settings
from gateway.detection.detector import builtin_detector
from gateway.detection.engines import Finder
from gateway.detection.ner.finder import Reader, batches
from gateway.detection.recognizer import EntityType
from gateway.errors import Unavailable
from gateway.models import Entity
from gateway.workers.detection_engines import load_models
from gateway.workers.memory import LARGE, trim
from gateway.workers.process_pool import Answer, NoWorker, ProcessPool, open_process_pool
from gateway.workers.process_starter import ProcessStarter

_MIN_LENGTH = 4096
"""Characters from which on a text is worth sending: that costs as much as searching a few KB for patterns."""
_LEAST, _MOST = 4096, 32_000
"""Characters of a portion that is read at once; the more, the more memory it takes."""
_SHORT = 16_000
"""Characters up to which texts may take the last worker that is free, so that they do not wait for long ones."""
_HANGS, _LEAST_SECONDS = 2, 60
"""How many times the time limit a model may take, and the least seconds. By then the request was refused; a process
that takes longer hangs, and is ended.
"""

type _Row = tuple[str, int, int, float, str]
"""An entity as a plain tuple, which is sent in a fraction of the time."""
type LoadModels = Callable[[], Sequence[Reader]]


class Searches(NamedTuple):
    """What searches for the gateway.

    `models` loads the models of the settings, or gets those of the processes; `loads_models` tells that it is the
    former, and that there are any.
    """

    patterns: Finder
    models: LoadModels
    loads_models: bool


@contextlib.contextmanager
def open_search_processes(settings: Settings, starter: ProcessStarter) -> Iterator[Searches]:
    """Starts the `search_processes` of the settings, and tells them to end on exit."""
    patterns = builtin_detector()
    load = partial(load_models, settings, dict(patterns.types))
    count, threads, timeout = settings.search_processes, settings.model_threads, settings.detection_timeout_seconds
    if settings.detection == "patterns" and settings.detection_model is None:
        with open_process_pool(starter, partial(PatternSearch, builtin_detector), count, threads, timeout) as pool:
            yield Searches(PatternProcesses(patterns, pool), load, loads_models=False)
    elif not count:
        yield Searches(patterns, load, loads_models=True)
    else:
        hangs = max(_LEAST_SECONDS, _HANGS * timeout)
        with open_process_pool(starter, partial(_NameSearch, load), count, threads, hangs) as pool:
            yield Searches(patterns, NameProcesses(pool, load).readers, loads_models=False)


class PatternProcesses(Finder):
    """Detects like `detector`, large texts in `pool` while a worker is free."""

    def __init__(self, detector: Finder, pool: ProcessPool) -> None:
        self._detector = detector
        self._pool = pool
        self.version = detector.version
        self.types = detector.types

    def detect(self, text: str) -> tuple[Entity, ...]:
        """Detects like the detector. Blocks, except on an event loop. Raises Unavailable (detection_timeout)."""
        if len(text) >= _MIN_LENGTH and not _on_event_loop():
            with contextlib.suppress(NoWorker):
                version, rows = self._pool.request(text)
                _check([version], self.version)
                return _entities(rows)
        return self._detector.detect(text)


class PatternSearch(Answer):
    """Searches texts for patterns, in a worker."""

    def __init__(self, load: Callable[[], Finder]) -> None:
        self._detector = load()

    def __call__(self, text: str) -> tuple[str, list[_Row]]:
        found = _rows(self._detector.detect(text))
        if len(text) >= LARGE:
            trim()
        return self._detector.version, found

    def rest(self) -> None:
        """Keeps all it has."""


class NameProcesses:
    """Models that the workers of `pool` have loaded. Once there are none, this process loads them, too."""

    def __init__(self, pool: ProcessPool, load: LoadModels) -> None:
        self._pool = pool
        self._load = load
        self._versions: Sequence[str] = ()
        self._own: Sequence[Reader] | None = None
        self._loading = threading.Lock()

    def readers(self) -> Sequence[Reader]:
        """Returns the models, in the order of `load`. Raises SettingsError if one cannot be loaded."""
        try:
            described: Sequence[tuple[str, str, dict[str, EntityType]]] = self._pool.request_all([None])[0]
        except NoWorker:
            return self._loaded()
        self._versions = [version for version, *_ in described]
        return [_RemoteReader(*each, partial(self._read, number)) for number, each in enumerate(described)]

    def _read(self, number: int, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        jobs = [(number, some) for some in _portions(texts, self._pool.free)]
        try:
            results = self._pool.request_all(jobs, spare=sum(map(len, texts)) > _SHORT)
        except NoWorker:
            model = self._loaded()[number]
            _check([model.version], self._versions[number])
            return model.read(texts)
        _check((version for version, _ in results), self._versions[number])
        return [_entities(rows) for _, result in results for rows in result]

    def _loaded(self) -> Sequence[Reader]:
        with self._loading:
            if self._own is None:
                self._own = self._load()
            return self._own


class _RemoteReader:
    """A model in another process."""

    def __init__(
        self,
        version: str,
        hash: str,
        types: Mapping[str, EntityType],
        read: Callable[[Sequence[str]], list[tuple[Entity, ...]]],
    ) -> None:
        self.version, self.hash, self.types, self.read = version, hash, types, read

    def rest(self) -> None:
        """Does nothing: its process knows when there is nothing to do."""


def _portions(texts: Sequence[str], free: int) -> Iterator[Sequence[str]]:
    """Divides texts for workers, of which so many are free: in large portions, which take less time in all, but so that
    none of the free ones is left without work.
    """
    return batches(texts, max(_LEAST, min(_MOST, sum(map(len, texts)) // max(1, free - 1))), len)


class _NameSearch(Answer):
    """Has models read texts, in a worker. Without a job, tells which models there are."""

    def __init__(self, load: LoadModels) -> None:
        self._models = load()

    def __call__(self, job: tuple[int, Sequence[str]] | None) -> object:
        if job is None:
            return [(model.version, model.hash, dict(model.types)) for model in self._models]
        number, texts = job
        return self._models[number].version, [_rows(found) for found in self._models[number].read(texts)]

    def rest(self) -> None:
        for model in self._models:
            model.rest()


def _check(versions: Iterable[str], expected: str) -> None:
    """Raises Unavailable unless what searched is what receipts name: a process may have loaded other files later."""
    if any(version != expected for version in versions):
        message = "The files of the detection have changed since the start; restart the gateway."
        raise Unavailable(message, code="detection_failed")


def _rows(found: Sequence[Entity]) -> list[_Row]:
    return [(one.type, one.start, one.end, one.score, one.recognizer) for one in found]


def _entities(rows: Sequence[_Row]) -> tuple[Entity, ...]:
    return tuple(Entity(*row) for row in rows)


def _on_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
