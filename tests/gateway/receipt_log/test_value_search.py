"""Finding receipts by a value: outside the log, in its transactions, and with a note of what a search may miss."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from gateway.errors import Conflict
from gateway.protection.value_digests import MOST_VALUES, ValueDigests
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.signing_key import load_signer
from gateway.receipt_log.value_search import FoundReceipts
from gateway.receipts import records
from gateway.receipts.drafts import OutcomeDraft
from tests.gateway.receipt_log.support import ANNA, OPERATOR, draft, opened, reference_check, sql

DIGESTS = ValueDigests(bytes(32))
MAIL = "anna@acme.test"


@pytest.fixture
def log(data_dir: Path) -> Iterator[ReceiptLog]:
    with opened(data_dir) as log:
        log.use_value_key(DIGESTS.mark)
        yield log


async def append(log: ReceiptLog, *values: str, digests: ValueDigests = DIGESTS, request_id: str | None = None) -> str:
    made = draft(request_id, operation="protect")
    await log.append(made, ANNA.key_id, lambda: digests.digests(values))
    return made.request_id


async def find(log: ReceiptLog, value: str, *page: int, digests: ValueDigests = DIGESTS) -> FoundReceipts:
    return await log.find(digests.sought(value), *(page or (50, 0)))


def ids(found: FoundReceipts) -> list[str]:
    return [receipt.request_id for receipt in found.receipts]


def stored_values(data_dir: Path) -> int:
    return len(sql(data_dir, "SELECT sequence FROM receipts_values WHERE sequence > 0"))


async def test_the_receipts_of_a_value_are_found_newest_first(log: ReceiptLog) -> None:
    first = await append(log, MAIL, "Anna Schmidt")
    log.append_outcome(first, OutcomeDraft("answered", 200), ANNA.key_id)
    await append(log, "bert@acme.test")
    last = await append(log, MAIL.upper())
    found = await find(log, MAIL)
    assert (ids(found), found.total, found.complete) == ([last, first], 2, True)
    assert found.receipts[1].as_dict()["outcome"]["outcome"] == "answered"
    page = await find(log, MAIL, 1, 1)
    assert (ids(page), page.total) == ([first], 2)
    assert (await find(log, "nobody@acme.test"))[1:] == (0, True)


async def test_the_log_is_the_same_with_and_without_digests(log: ReceiptLog, data_dir: Path) -> None:
    request_id = await append(log, MAIL)
    await append(log)
    assert (await log.verify(request_id, OPERATOR)).valid
    assert reference_check(data_dir / "gateway.db", load_signer(data_dir).public_key) == 2
    sql(data_dir, "DELETE FROM receipts_values")
    assert (await log.verify(request_id, OPERATOR)).valid
    assert not (await find(log, MAIL)).complete


async def test_a_request_that_gets_no_receipt_leaves_no_digest(log: ReceiptLog, data_dir: Path) -> None:
    request_id = await append(log, MAIL)
    with pytest.raises(Conflict):
        await append(log, "bert@acme.test", request_id=request_id)
    assert (await find(log, "bert@acme.test")).total == 0
    assert stored_values(data_dir) == 1


async def test_values_that_cannot_be_digested_leave_no_receipt(log: ReceiptLog) -> None:
    def fails() -> list[bytes]:
        raise MemoryError

    with pytest.raises(MemoryError):
        await log.append(draft(), ANNA.key_id, fails)
    assert await log.list(OPERATOR, 10, 0) == ([], 0)


async def test_too_many_values_are_said(log: ReceiptLog) -> None:
    values = [f"name{number}@acme.test" for number in range(MOST_VALUES + 1)]
    request_id = await append(log, *values)
    found = await find(log, values[-1])
    assert (ids(found), found.complete) == ([request_id], False)
    assert (await find(log, values[0]))[1:] == (0, False)


async def test_receipts_of_earlier_versions_and_keys_are_said(data_dir: Path) -> None:
    other = ValueDigests(b"k" * 32)
    with opened(data_dir) as log:
        for found in (1, 2):  # A restart with the same key misses nothing.
            log.use_value_key(DIGESTS.mark)
            await append(log, MAIL)
            assert (await find(log, MAIL))[1:] == (found, True)
    with opened(data_dir) as log:
        log.use_value_key(other.mark)
        await append(log, MAIL, digests=other)
        assert (await find(log, MAIL, digests=other))[1:] == (1, False)
        assert not (await find(log, MAIL)).complete


async def test_receipts_made_before_a_key_is_used_are_said(data_dir: Path) -> None:
    with opened(data_dir) as log:
        await append(log)
        assert not (await find(log, MAIL)).complete
        log.use_value_key(DIGESTS.mark)
        await append(log, MAIL)
        assert (await find(log, MAIL))[1:] == (1, False)


async def test_digests_are_pruned_with_their_receipts(
    log: ReceiptLog, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(records, "_now", lambda: "2026-03-01T12:00:00.000Z")
        await append(log, *(f"name{number}@acme.test" for number in range(MOST_VALUES + 1)), MAIL)
        await append(log, MAIL)
    last = await append(log, MAIL)
    assert (await find(log, MAIL))[1:] == (3, False)
    assert log.prune(date(2026, 3, 2)) == 2
    found = await find(log, MAIL)
    assert (ids(found), found.total, found.complete) == ([last], 1, True)
    assert stored_values(data_dir) == 1
