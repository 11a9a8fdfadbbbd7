"""The log by its public face: what a receipt looks like, who sees it, what is counted."""

import asyncio
import logging
import sqlite3
import threading
from hashlib import sha256
from pathlib import Path

import pytest

from gateway.errors import Conflict, NotFound, Unavailable
from gateway.receipt_log import log as receipt_log
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.signing_key import load_signer
from gateway.receipts.checkpoint import verifier_key
from gateway.receipts.drafts import OutcomeDraft
from gateway.store import Repositories, Store
from gateway.store.group_commit import SUBMIT_LIMIT
from gateway.usage import usage
from tests.gateway.receipt_log.support import ANNA, BERT, OPERATOR, draft, raw_rows, reference_check
from tests.gateway.receipts.verifier import check_checkpoint, check_inclusion


async def test_a_receipt_is_on_the_wire_as_the_design_says(log: ReceiptLog, data_dir: Path) -> None:
    receipt = (await log.append(draft("req_01"), ANNA.key_id)).as_dict()
    signer = load_signer(data_dir)
    assert receipt.pop("created_at").endswith("Z")
    assert len(bytes.fromhex(receipt.pop("signature"))) == 64
    assert len(bytes.fromhex(receipt.pop("hash"))) == 32
    assert len(bytes.fromhex(receipt.pop("salt"))) == 16
    assert receipt == {
        "request_id": "req_01",
        "sequence": 1,
        "operation": "chat",
        "policy": {"id": "default", "version": 3, "hash": "a1" * 32},
        "engine": {"version": "patterns-1.0+0123456789ab", "model_hash": None},
        "route": "protected",
        "risk_level": "medium",
        "entity_counts": {"PERSON": 2, "EMAIL_ADDRESS": 1},
        "transformation_counts": {"placeholder": 3},
        "tokens": {"input": 120, "external": 98},
        "protected_digest": "b2" * 32,
        "previous_hash": "0" * 64,
        "key_id": signer.key_id,
    }


async def test_an_outcome_is_a_second_record_of_the_same_request(log: ReceiptLog) -> None:
    receipt = await log.append(draft(), ANNA.key_id)
    other = await log.append(draft(), ANNA.key_id)
    verdict = {"action": "redact", "findings": {"forged_placeholder": 2}}
    log.append_outcome(receipt.request_id, OutcomeDraft("guarded", 200, (80, 20), verdict, tokens_sent=98), ANNA.key_id)
    outcome = (await log.get(receipt.request_id, ANNA)).as_dict()["outcome"]
    assert outcome["sequence"] == 3
    assert outcome["receipt_hash"] == receipt.hash
    assert outcome["previous_hash"] == other.hash
    assert outcome["tokens"] == {"input": 80, "output": 20}
    assert outcome["guard"] == {"action": "redact", "findings": {"forged_placeholder": 2}}
    assert "outcome" not in (await log.get(other.request_id, ANNA)).as_dict()


async def test_the_first_outcome_counts(log: ReceiptLog) -> None:
    request_id = (await log.append(draft(), ANNA.key_id)).request_id
    log.append_outcome(request_id, OutcomeDraft("answered", 200), ANNA.key_id)
    log.append_outcome(request_id, OutcomeDraft("failed"), ANNA.key_id)
    assert (await log.get(request_id, ANNA)).as_dict()["outcome"]["outcome"] == "answered"
    assert (await log.verify(request_id, ANNA)).log.size == 2


@pytest.mark.parametrize(("request_id", "owner"), [("req_ff", ANNA.key_id), ("req_01", BERT.key_id)])
async def test_an_outcome_without_its_receipt_is_not_recorded(
    log: ReceiptLog, request_id: str, owner: str, caplog: pytest.LogCaptureFixture
) -> None:
    await log.append(draft("req_01"), ANNA.key_id)
    with caplog.at_level(logging.ERROR):
        log.append_outcome(request_id, OutcomeDraft("answered"), owner)
        assert (await log.verify("req_01", ANNA)).log.size == 1
    assert "outcome" in caplog.text


async def test_a_request_has_one_receipt(log: ReceiptLog) -> None:
    await log.append(draft("req_01"), ANNA.key_id)
    with pytest.raises(Conflict):
        await log.append(draft("req_01"), BERT.key_id)
    ids = ["req_01", "req_02", "req_02", "req_03"]
    done = await asyncio.gather(*(log.append(draft(id), ANNA.key_id) for id in ids), return_exceptions=True)
    assert [isinstance(each, Conflict) for each in done] == [True, False, True, False]
    assert (await log.list(ANNA, 10, 0))[1] == 3
    assert (await log.verify("req_02", ANNA)).valid


async def test_clients_see_their_own_receipts_and_operators_all(log: ReceiptLog) -> None:
    hers = [(await log.append(draft(), ANNA.key_id)).request_id for _ in range(3)]
    his = (await log.append(draft(), BERT.key_id)).request_id
    log.append_outcome(hers[0], OutcomeDraft("answered", 200), ANNA.key_id)
    rows, total = await log.list(ANNA, 50, 0)
    assert ([row.request_id for row in rows], total) == (hers[::-1], 3)
    rows, total = await log.list(OPERATOR, 50, 0)
    assert ([row.request_id for row in rows], total) == ([his, *hers[::-1]], 4)
    assert rows[-1].as_dict()["outcome"]["outcome"] == "answered"
    rows, total = await log.list(OPERATOR, 2, 1)
    assert ([row.request_id for row in rows], total) == (hers[:0:-1], 4)
    assert await log.list(ANNA, 50, 3) == ([], 3)
    assert (await log.get(his, OPERATOR)).request_id == his


@pytest.mark.parametrize("request_id", ["req_ff", "", "req_' OR 1=1", "req_\ud800", "REQ_01", "x" * 10_000])
async def test_a_missing_receipt_looks_like_that_of_another_key(log: ReceiptLog, request_id: str) -> None:
    his = (await log.append(draft(), BERT.key_id)).request_id
    messages = set()
    for asked in (request_id, his):
        for ask in (log.get, log.verify, log.anchor_payload):
            with pytest.raises(NotFound) as refused:
                await ask(asked, ANNA)
            messages.add((refused.value.code, refused.value.message))
    assert len(messages) == 1
    assert messages.pop()[0] == "receipt_not_found"


async def test_the_anchor_payload_commits_to_receipt_and_log(log: ReceiptLog, data_dir: Path) -> None:
    receipt = await log.append(draft(), ANNA.key_id)
    last = await log.append(draft(), BERT.key_id)
    anchor = await log.anchor_payload(receipt.request_id, ANNA)
    assert anchor["submitted"] is False
    signer = load_signer(data_dir)
    size, root = check_checkpoint(anchor["checkpoint"], [signer.public_key])
    assert size == 2
    assert anchor["log"] == {"size": 2, "head": last.hash, "root": root.hex()}
    assert (anchor["receipt_hash"], anchor["outcome_hash"]) == (receipt.hash, None)
    check_inclusion(receipt.as_dict(), anchor, [signer.public_key])
    # One hash for all receipts so far.
    text, _, _ = anchor["checkpoint"].partition("\n\n")
    assert anchor["payload_hash"] == sha256(text.encode() + b"\n").hexdigest()
    other = await log.anchor_payload(last.request_id, BERT)
    assert other["payload_hash"] == anchor["payload_hash"]
    check_inclusion(last.as_dict(), other, [signer.public_key])
    assert (anchor["key_id"], anchor["public_key"]) == (signer.key_id, signer.public_bytes.hex())
    assert anchor["verifier_key"] == verifier_key(signer)


async def test_a_good_log_verifies_and_the_reference_agrees(log: ReceiptLog, data_dir: Path) -> None:
    receipts = await asyncio.gather(*(log.append(draft(), ANNA.key_id) for _ in range(30)))
    for receipt in receipts[::3]:
        log.append_outcome(receipt.request_id, OutcomeDraft("answered", 200), ANNA.key_id)
    for receipt in receipts[:4]:
        verification = await log.verify(receipt.request_id, ANNA)
        assert verification.as_dict()["valid"] is True
        assert all(check["ok"] for check in verification.as_dict()["checks"])
        assert verification.log.size == 40
    assert reference_check(data_dir / "gateway.db", load_signer(data_dir).public_key) == 40


async def test_a_chain_that_grows_while_it_is_followed_verifies(log: ReceiptLog) -> None:
    receipts = await asyncio.gather(*(log.append(draft(), ANNA.key_id) for _ in range(1500)))
    verifying = asyncio.create_task(log.verify(receipts[0].request_id, ANNA))
    for _ in range(20):
        await log.append(draft(), ANNA.key_id)
    verification = await verifying
    assert verification.valid
    assert verification.log.size >= 1500


# Outcomes that came while the store could not be written to: none is lost, none is written twice.

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
    for full in (True, False):
        disk.full = full
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
