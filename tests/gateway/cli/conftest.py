"""A data folder, and commands that read it."""

import asyncio
import shutil
from pathlib import Path

import pytest

from addons.certificate_authority import make_authority
from gateway.receipt_log.log import ReceiptLog
from gateway.receipts.drafts import OutcomeDraft
from tests.gateway.cli.support import DEFAULT, Command
from tests.gateway.receipt_log.support import draft, opened


@pytest.fixture(autouse=True)
def _narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("authority")
    make_authority(folder)
    return folder


@pytest.fixture
def installed(authority: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Commands for an installation with a certificate authority, in a folder whose name needs quotes in a shell."""
    folder = tmp_path / "installation of 'ours'"
    shutil.copytree(authority, folder / "certs")
    (folder / "data").mkdir(mode=0o700)
    return Command(folder / "data", capsys)


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
