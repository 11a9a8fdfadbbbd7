"""`usage` prints the meters in words, or as the API returns them."""

import asyncio
from pathlib import Path

import pytest

from gateway.receipts.drafts import OutcomeDraft
from tests.gateway.cli.support import Command
from tests.gateway.receipt_log.support import draft, opened


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


@pytest.mark.slow
def test_usage_of_what_a_filter_selects(command: Command, data_dir: Path, ids: list[str]) -> None:
    """Long names are folded."""
    refused = draft(operation="protect", entity_counts={"A" * 64: 2}, tokens_input=7)
    with opened(data_dir) as log:
        asyncio.run(log.append(refused, "key_bert"))
        log.append_outcome(refused.request_id, OutcomeDraft("refused", code="c" * 64), "key_bert")
    meters = command.json("usage", "--key", "key_bert", "--since", "1h")[1]
    assert (meters["operations"], meters["refusals"], meters["tokens"]["input"]) == ({"protect": 1}, {"c" * 64: 1}, 7)
    assert command.json("usage", "--type", "PERSON")[1]["total_operations"] == 3
    status, text = command("usage", "--outcome", "refused", "--policy", "default")
    assert status == 0
    assert max(map(len, text.splitlines())) <= 80
    assert {"Refusals", "protect"} <= set(text.split())
    # Other words have a few of these letters.
    folded = [word for word in text.split() if set(word) in ({"c"}, {"A"})]
    assert sorted("".join(folded)) == sorted("c" * 64 + "A" * 64)
    assert command("usage", "--model", "o3") == (0, "No operations with model o3.\n")
