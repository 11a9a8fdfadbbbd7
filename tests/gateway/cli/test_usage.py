"""`usage` prints the meters in words, or as the API returns them."""

import pytest

from tests.gateway.cli.support import Command


@pytest.mark.slow
def test_usage(command: Command, ids: list[str]) -> None:
    status, meters = command.json("usage")
    assert (status, meters["total_operations"], meters["operations"]["chat"]) == (0, 3, 1)
    assert meters["tokens"] == {"input": 360, "external": 98, "reported_input": 5, "reported_output": 7}
    status, text = command("usage")
    assert status == 0
    assert "3 operations" in text
    assert {"reconstruct", "EMAIL_ADDRESS", "placeholder", "answered"} <= set(text.split())
    assert max(map(len, text.splitlines())) <= 80
