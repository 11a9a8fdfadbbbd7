"""A process that searches loads little, and not the libraries of the settings or the listeners."""

import subprocess
import sys

import pytest

from gateway.detection import builtin_detector
from gateway.workers.search_worker import PatternReader
from tests.conftest import ROOT


@pytest.mark.skipif(sys.platform == "win32", reason="there are no search processes")
def test_it_starts_without_what_it_does_not_need() -> None:
    program = (
        "import sys, gateway.workers.search_worker, gateway.workers.detection_engines\n"
        "print({'httpx', 'fastapi', 'mitmproxy', 'numpy'} & sys.modules.keys())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_recognizers_in_the_place_of_a_model() -> None:
    texts = ["Write to anna@acme.test", "Nothing"]
    reader = PatternReader(builtin_detector())
    assert reader.read(texts) == [builtin_detector().detect(text) for text in texts]
    assert (reader.version, reader.types) == (builtin_detector().version, {})
