"""Protectors and data folders that the tests of several parts share."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.config.locations import BUILTIN_POLICIES
from gateway.detection import builtin_detector
from gateway.policy.model import Policy
from gateway.policy.registry import PolicyRegistry
from gateway.protection.protector import Protector
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.signing_key import load_signer
from gateway.receipts import records
from gateway.receipts.drafts import OutcomeDraft
from gateway.store import Store, open_store
from tests.gateway.cli.support import DEFAULT, Command
from tests.gateway.receipt_log.support import DAYS, OPERATOR, draft, opened


@pytest.fixture(scope="module")
def protector() -> Protector:
    """By patterns alone; what one module's tests had it remember stays with them."""
    return Protector(builtin_detector(), hash_key=b"h" * 32)


@pytest.fixture(scope="session")
def policy() -> Policy:
    return PolicyRegistry(BUILTIN_POLICIES).get("default")


@pytest.fixture
def store(data_dir: Path) -> Iterator[Store]:
    store = open_store(data_dir)
    yield store
    store.close()


@pytest.fixture
def log(store: Store, data_dir: Path) -> ReceiptLog:
    return ReceiptLog(store, load_signer(data_dir), data_dir)


@pytest.fixture(scope="session")
def good_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a log of six records: receipts req_01, req_02, req_03, req_04 and two outcomes."""
    data_dir = tmp_path_factory.mktemp("good") / "data"
    data_dir.mkdir(mode=0o700)

    async def fill(log: ReceiptLog) -> None:
        for request_id, has_outcome in (("req_01", False), ("req_02", True), ("req_03", True), ("req_04", False)):
            await log.append(draft(request_id), "key_anna")
            if has_outcome:
                of = {"req_02": "req_01"}.get(request_id, request_id)
                log.append_outcome(of, OutcomeDraft("answered", 200, (1, 2)), "key_anna")

    with opened(data_dir) as log:
        asyncio.run(fill(log))
    return data_dir


@pytest.fixture
def log_dir(good_log: Path, data_dir: Path) -> Path:
    """The data folder of this test, with a copy of that log."""
    shutil.copytree(good_log, data_dir, dirs_exist_ok=True)
    return data_dir


@pytest.fixture(scope="session")
def log_of_days(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a log of four days, with an outcome for each receipt."""
    folder = tmp_path_factory.mktemp("days") / "data"
    folder.mkdir(mode=0o700)

    async def fill(log: ReceiptLog) -> None:
        number = 0
        for day, requests in DAYS:
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(records, "_now", lambda day=day: f"{day}T12:00:00.000Z")
                for _ in range(requests):
                    number += 1
                    await log.append(draft(f"req_{number:04x}", policy=DEFAULT), "key_anna")
                    log.append_outcome(f"req_{number:04x}", OutcomeDraft("answered", 200, (5, 7)), "key_anna")
                await log.list(OPERATOR, 1, 0)  # Waits until the outcomes are written.

    with opened(folder) as log:
        asyncio.run(fill(log))
    return folder


@pytest.fixture
def days(log_of_days: Path, data_dir: Path) -> Path:
    shutil.copytree(log_of_days, data_dir, dirs_exist_ok=True)
    return data_dir


@pytest.fixture
def command(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(data_dir, capsys)
