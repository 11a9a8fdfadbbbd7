"""A gateway that is killed under load, and what it finds when it starts again; more of it with `benchmarks.crash`."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from benchmarks import crash
from tests.e2e.preloaded import Program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


def launch(arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> Program:
    return Program(arguments, environment, log.parent, stdout=log, stderr=log)


@pytest.mark.slow
def test_nothing_is_lost_when_the_gateway_is_killed(capsys: pytest.CaptureFixture[str]) -> None:
    status = crash.main(["--kills", "4", "--seed", "4", "--clients", "3"], launch)
    assert status == 0, capsys.readouterr().out
