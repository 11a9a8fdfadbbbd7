"""The tree as it is stored: proofs across stored subtrees, and the detection of a changed one."""

import asyncio
from hashlib import sha256
from pathlib import Path

import pytest

from gateway.errors import Unavailable
from gateway.receipt_log.checkpoint_file import FILE
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.signing_key import load_signer
from gateway.receipt_log.tree import IncompleteTree, StoredTree
from gateway.receipts.merkle import extends
from gateway.store import open_read_only
from tests.gateway.receipt_log.support import OPERATOR, draft, opened, raw_rows, reference_check, sql
from tests.gateway.receipts.verifier import check_inclusion, inclusion_path, tree_root

COUNT = 600


async def fill(log: ReceiptLog, count: int = COUNT) -> list[str]:
    receipts = await asyncio.gather(*(log.append(draft(), "key_anna") for _ in range(count)))
    return [receipt.request_id for receipt in receipts]


async def test_proofs_reach_across_stored_subtrees(data_dir: Path) -> None:
    with opened(data_dir) as log:
        await fill(log)
    leaves = [body.encode() for _, _, _, body, _, _ in raw_rows(data_dir / "gateway.db")]
    with open_read_only(data_dir) as look:
        roots = {
            size: look.read(lambda stored, size=size: StoredTree(stored.receipts).root(size))
            for size in (0, 1, 255, 256, 257, 511, 512, 513, COUNT)
        }
        assert roots == {size: tree_root(leaves[:size]) for size in roots}
        for size in (257, 512, COUNT):
            for index in (0, 1, 255, 256, size - 1):
                proof = look.read(lambda stored, i=index, n=size: StoredTree(stored.receipts).inclusion(i, n))
                assert proof == inclusion_path(index, leaves[:size])
        for old in list(roots)[1:]:
            proof = look.read(lambda stored, m=old: StoredTree(stored.receipts).consistency(m, COUNT))
            assert extends(old, roots[old], COUNT, roots[COUNT], proof)
        with pytest.raises(IncompleteTree):
            look.read(lambda stored: StoredTree(stored.receipts).root(COUNT + 1))


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 255, 256, 257, 512])
async def test_a_log_continues_after_a_restart(count: int, data_dir: Path) -> None:
    with opened(data_dir) as log:
        await fill(log, count)
    with opened(data_dir) as log:
        log.check()
        (request_id,) = await fill(log, 1)
        anchor = await log.anchor_payload(request_id, OPERATOR)
        receipt = (await log.get(request_id, OPERATOR)).as_dict()
        assert (await log.verify(request_id, OPERATOR)).valid
    key = load_signer(data_dir).public_key
    check_inclusion(receipt, anchor, [key])
    assert reference_check(data_dir / "gateway.db", key) == count + 1


async def test_a_changed_or_missing_subtree_is_named_and_nothing_is_proved_with_it(
    data_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(data_dir) as log:
        ids = await fill(log)
        sql(data_dir, "UPDATE receipts_tree SET hash = ? WHERE number = 1", [sha256(b"other").digest()])
        checks = {check.name: check for check in (await log.verify(ids[0], OPERATOR)).checks}
        assert not checks["tree"].ok
        assert checks["tree"].detail == "subtree 1 of level 1 is not what the records give"
        assert checks["head"].ok
        with pytest.raises(Unavailable) as refused:
            await log.anchor_payload(ids[0], OPERATOR)
        assert refused.value.code == "receipt_log_broken"
    for statement in ("SELECT 1", "DELETE FROM receipts_tree"):
        sql(data_dir, statement)
        caplog.clear()
        with opened(data_dir) as log:
            assert "the receipt log is broken, and requests are refused" in caplog.text
            with pytest.raises(Unavailable, match="broken"):
                log.check()
            with pytest.raises(Unavailable):
                await log.append(draft(), "key_anna")


async def test_a_subtree_invented_in_advance_changes_nothing(data_dir: Path) -> None:
    with opened(data_dir) as log:
        await fill(log, 200)
        sql(data_dir, "INSERT INTO receipts_tree VALUES (1, 0, ?)", [bytes(32)])
        (*_, last) = await fill(log, 100)
        assert (await log.verify(last, OPERATOR)).valid
    assert reference_check(data_dir / "gateway.db", load_signer(data_dir).public_key) == 300


async def test_records_changed_before_a_start_are_not_signed_again(data_dir: Path) -> None:
    """With its hash recomputed, only the root tells."""
    with opened(data_dir) as log:
        await fill(log, 3)
    (data_dir / FILE).unlink()
    _, body, _ = (row[3] for row in raw_rows(data_dir / "gateway.db"))
    changed = body.replace('"input":120', '"input":121')
    values = [changed, sha256(changed.encode()).hexdigest()]
    sql(data_dir, "UPDATE receipts SET body = ?, hash = ? WHERE sequence = 2", values)
    with opened(data_dir) as log:
        with pytest.raises(Unavailable, match="not those that its head signs"):
            log.check()
        with pytest.raises(Unavailable):
            await log.append(draft(), "key_anna")
