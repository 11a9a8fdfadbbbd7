"""Large texts are searched in processes of their own, with the same findings; without the processes nothing is lost."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping

import pytest

from gateway.detection.memory import Recall
from gateway.detection.process_pool import ProcessPool, open_process_pool
from gateway.detection.recognizer import EntityType
from gateway.errors import Unavailable
from gateway.models import Entity
from tests.conftest import ROOT

# Other tests leave threads behind; what is forked here uses nothing of theirs.
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

_LARGE = "x" * 5000
_PRIVATE = "what nobody may read in an error"


class Finder:
    """Tells in which process it looked, and does what the text says."""

    version = "1"
    types: Mapping[str, EntityType] = {}

    def detect(self, text: str, recall: Recall | None = None) -> tuple[Entity, ...]:
        match text.removesuffix(_LARGE):
            case "hang":
                time.sleep(600)
            case "unavailable":
                raise Unavailable("Not now.", code="detection_failed")
            case "broken":
                raise ValueError(_PRIVATE)
        return (Entity(f"PROCESS_{os.getpid()}", 0, len(text), 0.5, text[:8]),)


@pytest.fixture
def helped() -> Iterator[ProcessPool]:
    with open_process_pool(Finder(), 1, timeout=0.5) as search:
        yield search


def where(search: ProcessPool, text: str) -> int:
    (found,) = search.detect(text)
    assert (found.start, found.end, found.score, found.recognizer) == (0, len(text), 0.5, text[:8])
    return int(found.type.removeprefix("PROCESS_"))


@pytest.mark.parametrize("text", [_LARGE, "\ud83d" + _LARGE, "\U0001f600\0\n" + _LARGE, "ж" * 2_000_000])
def test_large_texts_are_searched_elsewhere(helped: ProcessPool, text: str):
    assert where(helped, text) != os.getpid()


def test_small_texts_are_searched_here(helped: ProcessPool):
    assert where(helped, "Anna") == os.getpid()


async def test_an_event_loop_does_not_wait_for_a_process(helped: ProcessPool):
    assert where(helped, _LARGE) == os.getpid()


def test_without_processes_all_are_searched_here():
    with open_process_pool(Finder(), 0, timeout=1) as search:
        assert where(search, _LARGE) == os.getpid()


def test_what_a_search_refuses_is_refused(helped: ProcessPool):
    with pytest.raises(Unavailable) as refused:
        helped.detect("unavailable" + _LARGE)
    assert refused.value.code == "detection_failed"
    assert where(helped, _LARGE) != os.getpid()


def test_an_error_says_nothing_of_the_text(helped: ProcessPool):
    with pytest.raises(RuntimeError) as raised:
        helped.detect("broken" + _LARGE)
    assert (str(raised.value), raised.value.__cause__, raised.value.__context__) == ("ValueError", None, None)


def test_when_a_process_dies_its_texts_are_searched_here(helped: ProcessPool):
    os.kill(where(helped, _LARGE), signal.SIGKILL)
    assert [where(helped, _LARGE) for _ in range(5)] == [os.getpid()] * 5


@pytest.mark.slow
def test_a_search_that_hangs_is_refused_and_its_process_ended(helped: ProcessPool):
    process = where(helped, _LARGE)
    with pytest.raises(Unavailable) as refused:
        helped.detect("hang" + _LARGE)
    assert refused.value.code == "detection_timeout"
    assert [where(helped, _LARGE) for _ in range(5)] == [os.getpid()] * 5
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_in_the_end_no_process_is_left_and_what_was_inherited_is_closed():
    ours, theirs = socket.socketpair()
    with ours, open_process_pool(Finder(), 2, timeout=1, inherited=[theirs]) as search:
        there = {where(search, _LARGE) for _ in range(12)}
        assert len(there) == 2
        theirs.close()
        assert ours.recv(1) == b""
    for process in there:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_nothing_that_is_there_before_has_threads():
    """A thread that holds a lock while another forks leaves it locked in the new process for ever."""
    loaded = (
        "import os, sys, gateway.server.gateway_process, gateway.detection.process_pool\n"
        "from gateway.detection import builtin_detector\n"
        "builtin_detector()\n"
        "print(len(os.listdir('/proc/self/task')), *{'numpy', 'onnxruntime', 'tokenizers'} & sys.modules.keys())\n"
    )
    done = subprocess.run([sys.executable, "-c", loaded], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
