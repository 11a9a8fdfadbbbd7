"""Mixed traffic for some seconds; `benchmarks.soak` runs for as long as requested and also measures memory."""

import sys

import pytest

from benchmarks import soak
from tests.e2e.test_crash import launch

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


@pytest.mark.slow
def test_mixed_traffic_is_served_and_leaves_a_valid_log(capsys: pytest.CaptureFixture[str]) -> None:
    status = soak.main(["--minutes", "0.1", "--rate", "20", "--clients", "3"], launch)
    assert status == 0, capsys.readouterr().out
