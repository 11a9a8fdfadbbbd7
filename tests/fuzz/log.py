"""Exports, proofs and checkpoints of the receipt log: what is changed is not valid, and never an exception."""

import asyncio
import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import orjson

from gateway.cli.receipt_files import _verified
from gateway.http.strict_json import dump
from gateway.receipt_log.audit import prove, prove_extension
from gateway.receipt_log.checkpoint_file import FILE, read_checkpoint
from gateway.receipt_log.export import export
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.signing_key import load_signer
from gateway.receipts.checkpoint import parse_checkpoint, verify_checkpoint
from gateway.receipts.drafts import OutcomeDraft
from gateway.receipts.offline import parse_key, verify_consistency, verify_proof
from gateway.receipts.records import Receipt
from gateway.receipts.signing import GivenKeys, Signer
from gateway.store import open_read_only
from tests.fuzz.bodies import Check
from tests.fuzz.mutation import mutated_bytes, mutated_json, mutated_text
from tests.gateway.receipt_log.support import draft, opened

type Json = Any


def _written(folder: Path) -> tuple[Signer, Path]:
    """A log of thirty records."""
    data = folder / "data"
    data.mkdir(mode=0o700)

    async def fill(log: ReceiptLog) -> None:
        for number in range(15):
            receipt: Receipt = await log.append(draft(f"req_{number:02}"), "key_anna")
            log.append_outcome(receipt.request_id, OutcomeDraft("answered", 200, (1, 2)), "key_anna")

    with opened(data) as log:
        asyncio.run(fill(log))
    return load_signer(data), data


def _keys(signer: Signer) -> GivenKeys:
    return GivenKeys([parse_key(signer.public_bytes.hex())])


@contextmanager
def exports(folder: Path) -> Iterator[Check]:
    """An export is valid only with the records that it had."""
    signer, data = _written(folder)
    with open_read_only(data) as store:
        lines = [dump(line) for line in export(store, signer, lambda _: None)]
    records = [orjson.loads(line).get("record") for line in lines[1:-1]]
    file, keys = folder / "export.ndjson", _keys(signer)

    def check(rng: random.Random, longest: int) -> int:
        changed = list(lines)
        at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        match rng.randrange(5):
            case 0:
                changed[at], changed[other] = changed[other], changed[at]
            case 1:
                del changed[at : at + rng.randint(1, 3)]
            case 2:
                changed.insert(at, changed[other])
            case 3:
                changed[at] = orjson.dumps(mutated_json(rng, orjson.loads(changed[at])))
            case _:
                changed[at] = mutated_bytes(rng, changed[at], longest=longest)
        content = b"\n".join(changed) + b"\n"
        file.write_bytes(content)
        if _verified(file, keys)[0].valid:
            there = [orjson.loads(line).get("record") for line in content.splitlines()[1:-1]]
            assert there == records, "an export of other records is valid"
        return len(content)

    yield check


@contextmanager
def proofs(folder: Path) -> Iterator[Check]:
    """A proof is valid only for the receipt and the checkpoints that it was given for."""
    signer, data = _written(folder)
    with open_read_only(data) as store:
        given = [prove(store, signer, f"req_{number:02}", size) for number, size in ((0, None), (7, 20), (14, None))]
        led = [prove_extension(store, signer, *sizes) for sizes in ((8, None), (13, 29), (30, None), (0, 7))]
    file, keys = folder / "proof.json", _keys(signer)

    def check(rng: random.Random, longest: int) -> int:
        is_inclusion = rng.random() < 0.5
        proof = rng.choice(given if is_inclusion else led)
        changed = mutated_json(rng, proof)
        content = orjson.dumps(changed)
        if rng.random() < 0.3:
            content = mutated_bytes(rng, content, longest=longest)
        file.write_bytes(content)
        _verified(file, keys)
        if isinstance(changed, dict):
            if is_inclusion and verify_proof(changed, keys).valid:
                assert any(changed["receipt"] in (each["receipt"], _without_outcome(each)) for each in given)
            if not is_inclusion and verify_consistency(changed, keys).valid:
                assert verify_checkpoint(changed["old"], signer), "a consistency proof of nothing is valid"
        return len(content)

    yield check


def _without_outcome(proof: Json) -> Json:
    return {name: value for name, value in proof["receipt"].items() if name != "outcome"}


@contextmanager
def checkpoints(folder: Path) -> Iterator[Check]:
    """A checkpoint is read only in the one spelling that was signed, and a file with it, or a key, never fails."""
    signer, data = _written(folder)
    remembered = (data / FILE).read_bytes()
    note = orjson.loads(remembered)["checkpoint"]
    key = signer.public_bytes.hex()

    def check(rng: random.Random, longest: int) -> int:
        changed = mutated_text(rng, note, longest=longest)
        parse_checkpoint(changed)
        assert changed == note or verify_checkpoint(changed, signer) is None, "another checkpoint is valid"
        content = mutated_bytes(rng, remembered, longest=longest)
        (data / FILE).write_bytes(content)
        found = read_checkpoint(data)
        assert found is not None
        with suppress(ValueError):
            parse_key(mutated_text(rng, key, longest=longest))
        return len(changed) + len(content)

    yield check
