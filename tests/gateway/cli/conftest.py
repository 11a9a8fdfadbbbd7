"""A data folder, and commands that read it."""

import asyncio
from pathlib import Path

import pytest

from gateway.receipt_log import ReceiptLog
from gateway.receipts import OutcomeDraft
from tests.gateway.cli.support import DEFAULT, Command
from tests.gateway.receipt_log.support import draft, opened


@pytest.fixture
def command(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(data_dir, capsys)


@pytest.fixture
def ids(data_dir: Path) -> list[str]:
    """Three receipts under the default policy, the first with an outcome."""
    drafts = [draft(policy=DEFAULT, operation=name) for name in ("chat", "reconstruct", "playground")]

    async def fill(log: ReceiptLog) -> None:
        for each in drafts:
            await log.append(each, "key_anna")
        guard = {"action": "flag", "findings": {"forged_placeholder": 2}}
        log.append_outcome(
            drafts[0].request_id, OutcomeDraft("answered", 200, (5, 7), guard, tokens_sent=98), "key_anna"
        )

    with opened(data_dir) as log:
        asyncio.run(fill(log))
    return [each.request_id for each in drafts]
