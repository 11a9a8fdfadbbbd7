"""Receipts are verified by their proofs or the whole log; proofs are those of `tlog-scales`, which shares no code."""

import asyncio
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from tlog_scales.signing import Vkey
from tlog_scales.tlog import (
    Checkpoint,
    ConsistencyProof,
    ConsistencyProofInvalid,
    InclusionProof,
    InclusionProofInvalid,
)

from gateway.receipt_log.audit import audit, prove, prove_extension, verify_receipt
from gateway.receipt_log.checkpoint_file import FILE, read_checkpoint
from gateway.receipt_log.signing_key import load_signer
from gateway.receipts.checkpoint import verifier_key
from gateway.receipts.drafts import OutcomeDraft
from gateway.receipts.signing import Signer
from gateway.receipts.verify import Verification
from gateway.store import Receipts, open_read_only
from tests.conftest import vectors
from tests.gateway.receipt_log.support import OPERATOR, draft, opened, sql
from tests.gateway.receipts.verifier import canonical_form

COUNT = 600


async def fill(data_dir: Path, count: int = COUNT) -> list[str]:
    with opened(data_dir) as log:
        receipts = await asyncio.gather(*(log.append(draft(), "key_anna") for _ in range(count - 1)))
        log.append_outcome(receipts[9].request_id, OutcomeDraft("answered", 200), "key_anna")
    return [receipt.request_id for receipt in receipts]


def names(verification: Verification) -> dict[str, bool]:
    return {check.name: check.ok for check in verification.checks}


async def verified(data_dir: Path, request_id: str) -> Verification:
    """Returns the verification by the endpoint, which is the same as the command's."""
    with opened(data_dir) as log:
        said = await log.verify(request_id, OPERATOR)
    with open_read_only(data_dir) as store:
        signer, remembered = load_signer(data_dir), read_checkpoint(data_dir)
        assert names(verify_receipt(store, signer, remembered, request_id, lambda _: None)) == names(said)
        assert audit(store, signer, remembered, lambda _: None).valid
    return said


@pytest.fixture
def rows_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    read: list[int] = []
    real = Receipts.after

    def after(self: Receipts, sequence: int | None, limit: int) -> list[object]:
        rows = real(self, sequence, limit)
        read.append(len(rows))
        return list(rows)

    monkeypatch.setattr(Receipts, "after", after)
    return read


@pytest.mark.slow
async def test_a_receipt_of_a_long_log_is_verified_by_its_proof(data_dir: Path, rows_read: list[int]) -> None:
    ids = await fill(data_dir, 2000)
    with opened(data_dir) as log:
        rows_read.clear()
        verification = await log.verify(ids[9], OPERATOR)
    assert verification.valid
    assert names(verification).keys() >= {"hash", "signature", "outcome_signature", "inclusion", "head", "checkpoint"}
    assert verification.log.size == 2000
    # The neighbours of the receipt, of its outcome, and the end of the log.
    assert sum(rows_read) <= 3 * 256


async def test_a_short_log_is_recomputed(data_dir: Path) -> None:
    ids = await fill(data_dir, 200)
    verification = await verified(data_dir, ids[9])
    assert verification.valid
    assert "chain" in names(verification)


@pytest.mark.slow
@pytest.mark.parametrize(("statement", "fails"), vectors("receipt_logs/proved"))
async def test_a_check_that_fails_is_named_by_the_walk(data_dir: Path, statement: str, fails: str) -> None:
    ids = await fill(data_dir)
    sql(data_dir, statement)
    with open_read_only(data_dir) as store:
        signer, remembered = load_signer(data_dir), read_checkpoint(data_dir)
        found = names(verify_receipt(store, signer, remembered, ids[9], lambda _: None))
    assert found[fails] is False
    assert "inclusion" not in found


@pytest.mark.parametrize("spoil", [Path.unlink, lambda path: path.write_bytes(b"{}")], ids=["missing", "damaged"])
async def test_without_the_remembered_checkpoint_the_log_is_walked(
    data_dir: Path, spoil: Callable[[Path], object]
) -> None:
    ids = await fill(data_dir)
    spoil(data_dir / FILE)
    with open_read_only(data_dir) as store:
        signer, remembered = load_signer(data_dir), read_checkpoint(data_dir)
        assert names(verify_receipt(store, signer, remembered, ids[9], lambda _: None))["checkpoint"] is False


async def test_a_log_that_grew_since_the_remembered_checkpoint_extends_it(data_dir: Path) -> None:
    ids = await fill(data_dir, 300)
    older = read_checkpoint(data_dir)
    await fill(data_dir, 400)
    with open_read_only(data_dir) as store:
        verification = verify_receipt(store, load_signer(data_dir), older, ids[9], lambda _: None)
    assert verification.valid
    assert "inclusion" in names(verification)


# Other implementations check the proofs.

SIZE = 20


@pytest.fixture
def ids(data_dir: Path) -> list[str]:
    """The receipts of a log of `SIZE` records, of which the last is an outcome."""
    return asyncio.run(fill(data_dir, SIZE))


def checked(note: str, signer: Signer) -> Checkpoint:
    checkpoint = Checkpoint.from_text(note)
    checkpoint.verify(Vkey.from_string(verifier_key(signer)))
    assert checkpoint.serialize() == note
    return checkpoint


def check_inclusion(proof: dict[str, Any], signer: Signer) -> None:
    checkpoint = checked(proof["checkpoint"], signer)
    path, receipt = proof["inclusion"], proof["receipt"]
    content = canonical_form({name: receipt[name] for name in receipt if name not in {"hash", "signature", "outcome"}})
    hashes = [bytes.fromhex(each) for each in path["hashes"]]
    inclusion = InclusionProof(path["leaf_index"], checkpoint.size, hashes)
    inclusion.check(sha256(b"\x00" + content.encode()).digest(), checkpoint.root_hash)


def check_consistency(proof: dict[str, Any], signer: Signer) -> None:
    old, new = (checked(proof[name], signer) for name in ("old", "new"))
    hashes = [bytes.fromhex(each) for each in proof["consistency"]["hashes"]]
    ConsistencyProof(old.size, new.size, hashes).check(old.root_hash, new.root_hash)


@pytest.mark.slow
def test_every_proof_of_every_checkpoint_holds(data_dir: Path, ids: list[str]) -> None:
    signer = load_signer(data_dir)
    with open_read_only(data_dir) as store:
        for size in range(SIZE + 1):
            for request_id in ids[:size]:
                check_inclusion(prove(store, signer, request_id, size), signer)
            for old in range(size + 1):
                check_consistency(prove_extension(store, signer, old, size), signer)


def test_a_changed_proof_holds_nowhere(data_dir: Path, ids: list[str], tmp_path: Path) -> None:
    signer = load_signer(data_dir)
    with open_read_only(data_dir) as store:
        proofs = [prove(store, signer, request_id, None) for request_id in ids]
        extension = prove_extension(store, signer, 7, None)
    for one, other in pairwise(proofs):
        for change in ("receipt", "inclusion"):
            with pytest.raises(InclusionProofInvalid):
                check_inclusion(one | {change: other[change]}, signer)
    origin, size, _, *rest = extension["old"].split("\n")
    another_root = "\n".join([origin, size, b64encode(bytes(32)).decode(), *rest])
    with pytest.raises((ConsistencyProofInvalid, InvalidSignature)):
        check_consistency(extension | {"old": another_root}, signer)
    with pytest.raises(RuntimeError, match="no signature matched"):
        check_inclusion(proofs[0], load_signer(tmp_path / "other"))
