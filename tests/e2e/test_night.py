"""A short night with everything that goes wrong in one; `benchmarks.night` takes thirty minutes, and checks alerts."""

import sys
from pathlib import Path

import pytest

from benchmarks import night
from tests.e2e.test_crash import launch

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


@pytest.mark.slow
def test_log_metrics_and_receipts_agree_about_a_night(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--minutes", "0.3", "--rate", "20", "--clients", "3", "--keep", str(tmp_path)]
    status = night.main(arguments, launch)
    assert status == 0, capsys.readouterr().out
