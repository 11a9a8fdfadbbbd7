"""The setting `receipts_keep`: what is too old is deleted once a day, unless the clock seems to have jumped."""

import asyncio
from datetime import date, timedelta
from pathlib import Path

import pytest

from gateway.config.loading import load_settings
from gateway.container import Container
from gateway.errors import Unavailable
from gateway.receipt_log import retention
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.retention import Retention
from gateway.receipt_log.signing_key import load_signer
from gateway.store import Store, open_store

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


class Log:
    """The log of a folder, its store, and how it is kept."""

    def __init__(self, folder: Path) -> None:
        self.store: Store = open_store(folder)
        self.log = ReceiptLog(self.store, load_signer(folder), folder)

    def keep(self, days: int) -> Retention:
        return Retention(self.store, self.log, timedelta(days=days))

    async def first(self) -> int:
        bounds = await self.store.read(lambda stored: stored.receipts.bounds())
        return bounds[0] if bounds else 0


async def test_what_is_older_is_deleted(days: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    log = Log(days)
    assert await log.keep(3).prune(date(2026, 3, 4)) is None, "all of it is to be kept"
    assert await log.keep(3).prune(date(2026, 3, 5)) == 10
    assert await log.keep(2).prune(date(2026, 3, 5)) == 530
    assert await log.first() == 531
    log.log.check()
    assert "deleted the receipts from before 2026-03-03: the log lost 530 records" in caplog.text
    log.store.close()


async def test_a_clock_that_jumped_ahead_deletes_nothing(days: Path, caplog: pytest.LogCaptureFixture) -> None:
    log = Log(days)
    assert await log.keep(400).prune(date(2099, 1, 1)) is None
    assert await log.first() == 1
    assert "the clock may be wrong; if it is right, run `receipts prune --before 2097-11-27`" in caplog.text
    log.store.close()


async def test_a_gateway_does_so_every_day_and_again_after_a_failure(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(retention, "_FIRST_SECONDS", 0)
    monkeypatch.setattr(retention, "_SECONDS", 0)
    failures, again = [Unavailable("The disk is full.")], asyncio.Event()

    async def prune(self: Retention, today: date) -> None:
        assert self._keep == timedelta(days=400)
        if failures:
            raise failures.pop()
        again.set()

    monkeypatch.setattr(Retention, "prune", prune)
    settings = load_settings(data_dir=data_dir, detection="patterns", receipts_keep="400d")
    async with await Container.start(settings), asyncio.timeout(10):
        await again.wait()
    assert "tried again in a day: store_unavailable" in caplog.text
