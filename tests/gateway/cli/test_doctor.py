"""`doctor` prints what was found, what is not searched, and how many problems there are."""

import pytest

from tests.gateway.cli.support import Command, free_port


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "counted"), [(0o700, "No problems"), (0o755, "1 problem")])
def test_problems_are_counted(installed: Command, mode: int, counted: str) -> None:
    installed.data_dir.chmod(mode)
    status, shown = installed("doctor", "--gateway-port", free_port(), "--proxy-port", free_port())
    assert status == (counted != "No problems")
    assert shown.rstrip().endswith(f"\n{counted}")
    assert "chatgpt.com" in shown
