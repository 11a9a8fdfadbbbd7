"""Outcomes that came while the store could not be written to: none is lost, none is written twice."""

import asyncio
import logging
import sqlite3
import threading
from pathlib import Path

import pytest

from gateway.errors import Unavailable
from gateway.receipt_log import ReceiptLog
from gateway.receipt_log import log as receipt_log
from gateway.receipt_log.signing_key import load_signer
from gateway.receipts import OutcomeDraft
from gateway.store import Repositories, Store
from gateway.store.sqlite.writer import SUBMIT_LIMIT
from gateway.usage import usage
from tests.gateway.receipt_log.support import ANNA, OPERATOR, draft, raw_rows, reference_check

ANSWERED = OutcomeDraft("answered", 200, (1, 2))


class Disk:
    """A disk that may be full. Counts how often it was written to, or tried to be."""

    def __init__(self, store: Store) -> None:
        self.full = False
        self.tried = 0
        store.before_commit(self._commit)

    def _commit(self, _: Repositories) -> None:
        self.tried += 1
        if self.full:
            raise sqlite3.OperationalError("database or disk is full")


@pytest.fixture
def log(store: Store, data_dir: Path) -> ReceiptLog:
    return ReceiptLog(store, load_signer(data_dir), data_dir)


@pytest.fixture
def disk(store: Store, log: ReceiptLog) -> Disk:
    return Disk(store)


async def settled(store: Store) -> None:
    """Everything that was submitted is decided, and what was submitted because of that."""
    for _ in range(10):
        await store.read(lambda db: None)


async def in_flight(log: ReceiptLog, number: int) -> list[str]:
    return [(await log.append(draft(), ANNA.key_id)).request_id for _ in range(number)]


def outcomes(data_dir: Path) -> list[str]:
    return [request_id for _, kind, request_id, *_ in raw_rows(data_dir / "gateway.db") if kind == "outcome"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [5, 150])
async def test_they_are_written_with_what_is_written_next(
    store: Store, log: ReceiptLog, disk: Disk, data_dir: Path, number: int
) -> None:
    waiting = await in_flight(log, number)
    disk.full = True
    for request_id in waiting:
        log.append_outcome(request_id, ANSWERED, ANNA.key_id)
    await settled(store)
    with pytest.raises(Unavailable):
        await log.append(draft(), ANNA.key_id)
    await settled(store)
    assert outcomes(data_dir) == []
    disk.full = False
    last = await log.append(draft(), ANNA.key_id)
    await settled(store)
    assert outcomes(data_dir) == waiting
    await in_flight(log, 1)
    await settled(store)
    assert outcomes(data_dir) == waiting
    assert (await log.verify(last.request_id, OPERATOR)).valid
    assert reference_check(data_dir / "gateway.db", load_signer(data_dir).public_key) == 2 * number + 2
    assert (await usage(store))["outcomes"] == {"answered": number}


async def test_or_when_a_check_finds_that_the_store_works(
    store: Store, log: ReceiptLog, disk: Disk, data_dir: Path
) -> None:
    waiting = await in_flight(log, 1)
    disk.full = True
    log.append_outcome(waiting[0], ANSWERED, ANNA.key_id)
    await settled(store)
    with pytest.raises(Unavailable):
        store.check()
    await settled(store)
    disk.full = False
    with pytest.raises(Unavailable):
        store.check()
    await settled(store)
    assert outcomes(data_dir) == waiting
    store.check()


async def test_a_disk_that_stays_full_is_not_tried_without_end(store: Store, log: ReceiptLog, disk: Disk) -> None:
    waiting = await in_flight(log, 3)
    disk.full, disk.tried = True, 0
    for request_id in waiting:
        log.append_outcome(request_id, ANSWERED, ANNA.key_id)
        await settled(store)
    await settled(store)
    # Each outcome once, and beside the second and the third those that wait.
    assert disk.tried <= 5


@pytest.mark.slow
async def test_those_for_which_there_was_no_room_in_the_queue_and_one_without_its_receipt(
    store: Store, log: ReceiptLog, data_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    waiting = await in_flight(log, 2)
    entered, opened = threading.Event(), threading.Event()

    def hold(_: Repositories) -> None:
        entered.set()
        opened.wait(10)

    store.submit(hold)
    assert entered.wait(10)
    filling = [store.submit(lambda db: None) for _ in range(SUBMIT_LIMIT)]
    with caplog.at_level(logging.ERROR):
        for request_id in (waiting[0], "req_ff", waiting[1]):
            log.append_outcome(request_id, ANSWERED, ANNA.key_id)
        assert not caplog.records
        opened.set()
        await asyncio.wrap_future(filling[-1])
        await settled(store)
    assert outcomes(data_dir) == waiting
    assert [record.getMessage() for record in caplog.records] == ["an outcome could not be recorded: receipt_not_found"]


async def test_only_so_many_are_kept(
    store: Store,
    log: ReceiptLog,
    disk: Disk,
    data_dir: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(receipt_log, "_MOST_WAITING", 2)
    waiting = await in_flight(log, 3)
    disk.full = True
    for request_id in waiting:
        log.append_outcome(request_id, ANSWERED, ANNA.key_id)
    await settled(store)
    assert caplog.text.count("an outcome could not be recorded: store_unavailable") == 1
    disk.full = False
    await in_flight(log, 1)
    await settled(store)
    assert outcomes(data_dir) == waiting[:2]
