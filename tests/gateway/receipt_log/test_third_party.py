"""Checkpoints and proofs are those of other implementations: `tlog-scales` shares no code with this project."""

import asyncio
from base64 import b64encode
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

from gateway.receipt_log.audit import prove, prove_extension
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.signing_key import load_signer
from gateway.receipts.checkpoint import verifier_key
from gateway.receipts.signing import Signer
from gateway.store import open_read_only
from tests.gateway.receipt_log.support import draft, opened
from tests.gateway.receipts.verifier import canonical_form

SIZE = 19


@pytest.fixture
def signer(data_dir: Path) -> Signer:
    """The key of a log of `SIZE` receipts."""

    async def fill(log: ReceiptLog) -> None:
        for number in range(1, SIZE + 1):
            await log.append(draft(f"req_{number:02}"), "key_anna")

    with opened(data_dir) as log:
        asyncio.run(fill(log))
    return load_signer(data_dir)


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


def test_every_inclusion_proof_of_every_checkpoint_holds(data_dir: Path, signer: Signer) -> None:
    with open_read_only(data_dir) as store:
        for size in range(1, SIZE + 1):
            for number in range(1, size + 1):
                check_inclusion(prove(store, signer, f"req_{number:02}", size), signer)


@pytest.mark.slow
def test_every_checkpoint_extends_every_earlier_one(data_dir: Path, signer: Signer) -> None:
    with open_read_only(data_dir) as store:
        for new in range(SIZE + 1):
            for old in range(new + 1):
                check_consistency(prove_extension(store, signer, old, new), signer)


def test_what_was_changed_holds_nowhere(data_dir: Path, signer: Signer, tmp_path: Path) -> None:
    with open_read_only(data_dir) as store:
        proofs = [prove(store, signer, f"req_{number:02}", None) for number in range(1, SIZE + 1)]
        extension = prove_extension(store, signer, 7, None)
    for one, other in pairwise(proofs):
        for change in ("receipt", "inclusion"):
            with pytest.raises(InclusionProofInvalid):
                check_inclusion(one | {change: other[change]}, signer)
    old = with_another_root(extension)
    with pytest.raises((ConsistencyProofInvalid, InvalidSignature)):
        check_consistency(old, signer)
    with pytest.raises(RuntimeError, match="no signature matched"):
        check_inclusion(proofs[0], load_signer(tmp_path / "other"))


def with_another_root(proof: dict[str, Any]) -> dict[str, Any]:
    origin, size, _, *rest = proof["old"].split("\n")
    return proof | {"old": "\n".join([origin, size, b64encode(bytes(32)).decode(), *rest])}
