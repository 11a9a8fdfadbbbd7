"""Logs of a version whose checkpoints signed the hash of the last record."""

import sqlite3
from base64 import b64encode
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import orjson
import pytest

from gateway.receipts import Signer
from gateway.receipts.checkpoint_file import FILE, read_checkpoint
from tests.gateway.receipts.support import OPERATOR, draft, opened, reference_check


def old_note(size: int, last: str, signer: Signer) -> str:
    origin = "privacy-gateway/receipts"
    text = f"{origin}\n{size}\n{b64encode(bytes.fromhex(last)).decode()}\n"
    key_hash = sha256(origin.encode() + b"\n\x01" + signer.public_bytes).digest()[:4]
    return f"{text}\n\u2014 {origin} {b64encode(key_hash + signer.sign(text.encode())).decode()}\n"


async def old_log(data_dir: Path, count: int, *, remembered: int) -> None:
    """A log of `count` records as that version left it, with a file that remembers `remembered` of them."""
    with opened(data_dir) as log:
        hashes = ["0" * 64, *[(await log.append(draft(), "key_anna")).hash for _ in range(count)]]
    signer = Signer.load(data_dir)
    with closing(sqlite3.connect(data_dir / "gateway.db")) as db, db:
        db.execute("DELETE FROM receipts_tree")
        db.execute("UPDATE receipts_head SET checkpoint = ?", [old_note(count, hashes[-1], signer)])
    note = old_note(remembered, hashes[remembered], signer)
    value = {"format": "privacy-gateway/receipts-checkpoint", "version": 1, "checkpoint": note}
    (data_dir / FILE).write_bytes(orjson.dumps(value))


@pytest.mark.slow
@pytest.mark.parametrize(("count", "remembered"), [(0, 0), (3, 3), (3, 1), (300, 299)])
async def test_an_older_log_goes_on(count: int, remembered: int, data_dir: Path) -> None:
    await old_log(data_dir, count, remembered=remembered)
    for size in (count + 1, count + 2):
        with opened(data_dir) as log:
            log.check()
            receipt = await log.append(draft(), "key_anna")
            assert (await log.verify(receipt.request_id, OPERATOR)).valid
        assert reference_check(data_dir / "gateway.db", Signer.load(data_dir).public_key) == size
        found = read_checkpoint(data_dir)
        assert found is not None
        assert found.size == size


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM receipts WHERE sequence = 2",
        "DELETE FROM receipts WHERE sequence = 3",
        "UPDATE receipts SET body = replace(body, '120', '121') WHERE sequence = 1",
        "UPDATE receipts_head SET size = 2",
        "UPDATE receipts_head SET checkpoint = replace(checkpoint, '3', '2')",
    ],
)
async def test_an_older_log_that_was_changed_is_not_signed(
    statement: str, data_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await old_log(data_dir, 3, remembered=3)
    before = (data_dir / FILE).read_bytes()
    with closing(sqlite3.connect(data_dir / "gateway.db")) as db, db:
        db.execute(statement)
    with opened(data_dir):
        assert "the receipt log is broken, and requests are refused" in caplog.text
    assert (data_dir / FILE).read_bytes() == before


async def test_an_older_log_that_was_set_back_is_not_signed(data_dir: Path, caplog: pytest.LogCaptureFixture) -> None:
    await old_log(data_dir, 3, remembered=3)
    signer = Signer.load(data_dir)
    with closing(sqlite3.connect(data_dir / "gateway.db")) as db, db:
        db.execute("DELETE FROM receipts WHERE sequence = 3")
        ((last,),) = db.execute("SELECT hash FROM receipts WHERE sequence = 2").fetchall()
        db.execute("UPDATE receipts_head SET size = 2, head = ?, checkpoint = ?", [last, old_note(2, last, signer)])
    with opened(data_dir):
        assert "the receipt log is broken, and requests are refused" in caplog.text
