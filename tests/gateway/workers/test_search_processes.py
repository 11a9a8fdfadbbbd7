"""Texts are searched in processes of their own, with the same findings; without the processes nothing is lost."""

import contextlib
import os
import signal
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from gateway.config.settings import Settings, load_settings
from gateway.detection import builtin_detector
from gateway.detection.engines import Finder
from gateway.detection.recognizer import EntityType
from gateway.errors import Unavailable
from gateway.models import Entity
from gateway.workers import process_pool
from gateway.workers.detection_engines import open_engines
from gateway.workers.process_pool import open_process_pool
from gateway.workers.process_starter import open_process_starter
from gateway.workers.search_processes import (
    PatternProcesses,
    PatternSearch,
    Searches,
    _portions,
    open_search_processes,
)

# Other tests leave threads behind; what is forked here uses nothing of theirs.
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

_LARGE = "x" * 5000
_TEXTS = [
    "Ask Anna Schmidt of Berlin.",
    "",
    "Nobody is here.",
    "Dear Jonas Weber, Zbigniew Kowalski called. " * 500,
    "\U0001f600 Anna Schmidt",
    *(f"Note {number} for Karla Muster." for number in range(300)),
]


class Telling(Finder):
    """Tells in which process it looked."""

    version = "1"
    types: Mapping[str, EntityType] = {}

    def detect(self, text: str) -> tuple[Entity, ...]:
        return (Entity(f"PROCESS_{os.getpid()}", 0, len(text), 0.5, text[:8]),)


@pytest.fixture
def patterns() -> Iterator[PatternProcesses]:
    with (
        open_process_starter() as starter,
        open_process_pool(starter, partial(PatternSearch, Telling), 1, 2, 5) as pool,
    ):
        yield PatternProcesses(Telling(), pool)


def where(patterns: PatternProcesses, text: str) -> int:
    (found,) = patterns.detect(text)
    assert (found.start, found.end, found.score, found.recognizer) == (0, len(text), 0.5, text[:8])
    return int(found.type.removeprefix("PROCESS_"))


@pytest.mark.parametrize("text", [_LARGE, "\ud83d" + _LARGE, "\U0001f600\0\n" + _LARGE, "ж" * 2_000_000])
def test_large_texts_are_searched_for_patterns_elsewhere(patterns: PatternProcesses, text: str) -> None:
    assert where(patterns, text) != os.getpid()


def test_small_texts_are_searched_for_patterns_here(patterns: PatternProcesses) -> None:
    assert where(patterns, "Anna") == os.getpid()


async def test_an_event_loop_does_not_wait_for_a_process(patterns: PatternProcesses) -> None:
    assert where(patterns, _LARGE) == os.getpid()


def test_when_the_process_is_lost_another_searches_for_patterns(patterns: PatternProcesses) -> None:
    lost = where(patterns, _LARGE)
    os.kill(lost, signal.SIGKILL)
    # The search that was under way is done here.
    assert lost not in {where(patterns, _LARGE) for _ in range(5)}
    assert where(patterns, _LARGE) != os.getpid()


def test_while_no_process_can_be_started_all_are_searched_for_patterns_here(
    patterns: PatternProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_pool, "_MOST_STARTS", 0)
    os.kill(where(patterns, _LARGE), signal.SIGKILL)
    assert [where(patterns, _LARGE) for _ in range(5)] == [os.getpid()] * 5


def test_a_process_that_has_loaded_other_files_is_refused(patterns: PatternProcesses) -> None:
    patterns.version = "2"
    with pytest.raises(Unavailable) as refused:
        patterns.detect(_LARGE)
    assert refused.value.code == "detection_failed"


@contextlib.contextmanager
def opened(settings: Settings) -> Iterator[Searches]:
    with open_process_starter() as starter, open_search_processes(settings, starter) as searches:
        yield searches


@pytest.fixture
def full(tmp_path: Path) -> Settings:
    return load_settings(None, data_dir=tmp_path, detection="full")


def test_names_are_the_same_wherever_they_are_found_and_if_all_processes_are_lost(full: Settings) -> None:
    alone, hash = open_engines(full, builtin_detector())
    expected = alone.detect_all(_TEXTS)
    with opened(full) as searches:
        assert not searches.loads_models
        engines, own_hash = open_engines(full, searches.patterns, searches.models)
        assert (engines.version, dict(engines.types), own_hash) == (alone.version, dict(alone.types), hash)
        assert engines.detect_all(_TEXTS) == expected
        assert engines.detect(_TEXTS[0]) == expected[0] != ()
    # The processes have ended.
    assert engines.detect_all(_TEXTS) == expected


def test_models_may_run_in_the_gateways_process(full: Settings) -> None:
    with opened(full.model_copy(update={"search_processes": 0})) as searches:
        assert searches.loads_models
        (model,) = searches.models()
        assert type(model).__name__ == "BuiltinModel"


def test_without_a_model_none_is_loaded(full: Settings) -> None:
    with opened(full.model_copy(update={"detection": "patterns"})) as searches:
        assert not searches.loads_models
        assert not searches.models()
        assert isinstance(searches.patterns, PatternProcesses)


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
