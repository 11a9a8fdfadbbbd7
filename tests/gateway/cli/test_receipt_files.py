"""Exports and proofs, through the entry point; what `verify FILE` says to them, and a second verifier."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gateway.receipts import Signer
from gateway.receipts.checkpoint import verifier_key
from tests.conftest import ROOT
from tests.gateway.cli.support import Command
from tests.gateway.receipts.test_attacks import FOUND, VECTORS, attack
from tests.gateway.receipts.verifier import check_export, check_inclusion, check_receipt

pytestmark = pytest.mark.slow


def checker() -> Any:
    """The program of docs/receipt-format.md."""
    page = (ROOT / "docs" / "receipt-format.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for program in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(program, "docs/receipt-format.md", "exec"), names)
    return names["check_export"]


def verified(command: Command, file: Path) -> tuple[bool, Any]:
    """Whether `verify FILE` and the second verifier find a file good, which they must agree on, and the answer."""
    key = Signer.load(command.data_dir)
    status, done = command.json("receipts", "verify", str(file), "--key", key.public_bytes.hex())
    assert status == (0 if done["valid"] else 1)
    text = file.read_text(encoding="utf-8", errors="replace")
    try:
        if "receipt-proof" in text:
            proof = json.loads(text)
            check_receipt(proof["receipt"], key.public_key)
            check_inclusion(proof["receipt"], proof, key.public_key)
        else:
            check_export(text.splitlines(), key.public_bytes.hex())
    except FOUND:
        assert not done["valid"]
    else:
        assert done["valid"]
    return done["valid"], done


def test_an_export_is_verified_by_the_program_of_the_documentation(
    command: Command, ids: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "receipts.ndjson"
    status, done = command.json("receipts", "export", "--output", str(file))
    assert (status, done["records"], done["file"]) == (0, 4, str(file))
    assert file.stat().st_mode & 0o077 == 0
    key = Signer.load(command.data_dir).public_bytes.hex()
    assert checker()(file, key) == 4
    assert verified(command, file)[0]
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["type"] for line in lines] == ["header", "receipt", "receipt", "receipt", "outcome", "head"]
    assert [line["record"]["request_id"] for line in lines[1:5]] == [*ids, ids[0]]
    status, out = command("receipts", "export")
    assert [json.loads(line) for line in out.splitlines()][1:] == lines[1:]
    assert list(tmp_path.glob("receipts.ndjson?*")) == []


CHANGES = {
    "a-record-less": lambda lines: lines.pop(2),
    "a-record-twice": lambda lines: lines.insert(2, lines[1]),
    "records-swapped": lambda lines: lines.insert(1, lines.pop(2)),
    "the-newest-cut-off": lambda lines: lines.pop(-2),
    "a-count-changed": lambda lines: lines[1]["record"]["tokens"].update(input=1),
    "an-outcome-changed": lambda lines: lines[4]["record"].update(status=500),
    "an-outcome-called-a-receipt": lambda lines: lines[4].update(type="receipt"),
    "the-head-less": lambda lines: lines.pop(),
    "the-head-moved": lambda lines: lines[-1].update(checkpoint=lines[-1]["checkpoint"].replace("\n4\n", "\n3\n")),
    "another-public-key": lambda lines: lines[0].update(public_key="00" * 32),
    "another-format": lambda lines: lines[0].update(version=1),
    "the-root-of-another-size": lambda lines: lines[-1].update(size=3),
    "a-receipt-called-an-outcome": lambda lines: lines[1].update(type="outcome"),
    "everything-but-header-and-head": lambda lines: lines.__delitem__(slice(1, -1)),
    "two-heads": lambda lines: lines.append(lines[-1]),
    "a-record-after-the-head": lambda lines: lines.append(lines[1]),
    "no-header": lambda lines: lines.pop(0),
    "a-member-added": lambda lines: lines[1]["record"].update(note="x"),
    "a-member-removed": lambda lines: lines[1]["record"].pop("route"),
    "a-number-as-text": lambda lines: lines[1]["record"].update(sequence="1"),
    "a-negative-sequence": lambda lines: lines[1]["record"].update(sequence=-1),
    "a-huge-sequence": lambda lines: lines[1]["record"].update(sequence=2**63),
    "a-look-alike-in-a-name": lambda lines: lines[1]["record"].update({"\u0440oute": "direct"}),
    "a-look-alike-in-a-value": lambda lines: lines[1]["record"].update(route="pr\u043etected"),
    "hashes-swapped": lambda lines: lines[1]["record"].update(hash=lines[2]["record"]["hash"]),
    "signatures-swapped": lambda lines: lines[1]["record"].update(signature=lines[2]["record"]["signature"]),
    "another-key-id": lambda lines: lines[1]["record"].update(key_id="key_0000000000000000"),
    "a-checkpoint-of-another-root": lambda lines: lines[-1].update(checkpoint=other_root(lines[-1]["checkpoint"])),
    "a-checkpoint-without-signature": lambda lines: lines[-1].update(
        checkpoint=lines[-1]["checkpoint"].partition("\u2014")[0]
    ),
    "a-checkpoint-of-another-origin": lambda lines: lines[-1].update(checkpoint="other" + lines[-1]["checkpoint"]),
    "a-checkpoint-of-the-old-origin": lambda lines: lines[-1].update(
        checkpoint=lines[-1]["checkpoint"].replace("receipt-log", "receipts")
    ),
    "no-checkpoint": lambda lines: lines[-1].pop("checkpoint"),
    "records-of-no-kind": lambda lines: lines[2].update(record=[1]),
}


def other_root(note: str) -> str:
    origin, size, _, *rest = note.split("\n")
    return "\n".join([origin, size, "A" * 43 + "=", *rest])


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_export_is_refused(command: Command, ids: list[str], tmp_path: Path, name: str) -> None:
    file = tmp_path / "receipts.ndjson"
    command("receipts", "export", "--output", str(file))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    CHANGES[name](lines)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(FOUND):
        checker()(file, Signer.load(command.data_dir).public_bytes.hex())
    valid, done = verified(command, file)
    assert not valid
    assert all(check["detail"] for check in done["checks"] if not check["ok"])


WRITTEN = {
    "a-name-twice": lambda text: text.replace('"route":', '"route":"direct","route":', 1),
    "a-name-twice-in-another-line": lambda text: text.replace('"type":"head"', '"type":"head","type":"head"', 1),
    "a-fraction": lambda text: text.replace('"input":120', '"input":120.5', 1),
    "not-a-number": lambda text: text.replace('"input":120', '"input":NaN', 1),
    "no-json": lambda text: text.replace("{", "", 1),
    "cut-in-a-line": lambda text: text[:-40],
    "an-empty-line": lambda text: text.replace("\n", "\n\n", 1),
    "nested-deep": lambda text: text.replace('"guard":', '"guard":' + "[" * 5000 + "]" * 5000 + ',"x":', 1),
    "not-utf-8": lambda text: text.replace("chat", "ch\udcffat", 1),
    "nothing": lambda text: "",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_an_export_that_nobody_wrote_is_refused(command: Command, ids: list[str], tmp_path: Path, name: str) -> None:
    file = tmp_path / "receipts.ndjson"
    command("receipts", "export", "--output", str(file))
    text = file.read_text()
    changed = WRITTEN[name](text)
    assert changed != text
    file.write_bytes(changed.encode("utf-8", "surrogateescape"))
    assert not verified(command, file)[0]


def test_an_export_is_valid_for_its_key_alone(command: Command, ids: list[str], tmp_path: Path) -> None:
    file = tmp_path / "receipts.ndjson"
    command("receipts", "export", "--output", str(file))
    key = verifier_key(Signer.load(command.data_dir))
    assert command.json("receipts", "verify", str(file), "--key", key)[0] == 0
    other = Signer.load(tmp_path / "other").public_bytes.hex()
    status, done = command.json("receipts", "verify", str(file), "--key", other)
    assert (status, done["valid"]) == (1, False)
    for wrong in ("", "00", "zz" * 32, key[:-4] + "AAA=", key.replace("receipt-log", "other")):
        assert command("receipts", "verify", str(file), "--key", wrong) == (2, "")
        assert "--key must be an Ed25519 public key" in command.errors
    assert command("receipts", "verify", "--key", key) == (2, "")
    assert command("receipts", "verify", str(tmp_path / "missing"), "--key", key) == (1, "")
    assert "missing" in command.errors


def hashes(proof: Any) -> list[str]:
    found: list[str] = proof["inclusion"]["hashes"]
    return found


PROOFS = {
    "as-it-is": lambda proof: None,
    "another-count": lambda proof: proof["receipt"]["tokens"].update(input=1),
    "another-outcome": lambda proof: proof["receipt"]["outcome"].update(status=500),
    "an-outcome-less": lambda proof: proof["receipt"].pop("outcome"),
    "a-hash-less": lambda proof: hashes(proof).pop(),
    "a-hash-more": lambda proof: hashes(proof).append("00" * 32),
    "a-hash-changed": lambda proof: hashes(proof).__setitem__(0, "00" * 32),
    "hashes-swapped": lambda proof: hashes(proof).reverse(),
    "hashes-in-capitals": lambda proof: proof["inclusion"].update(hashes=[h.upper() for h in hashes(proof)]),
    "a-hash-cut": lambda proof: hashes(proof).__setitem__(0, hashes(proof)[0][:-2]),
    "another-leaf": lambda proof: proof["inclusion"].update(leaf_index=1),
    "a-negative-leaf": lambda proof: proof["inclusion"].update(leaf_index=-1),
    "a-leaf-beyond": lambda proof: proof["inclusion"].update(leaf_index=2**64),
    "another-size": lambda proof: proof["inclusion"].update(tree_size=3),
    "no-proof": lambda proof: proof.pop("inclusion"),
    "no-checkpoint": lambda proof: proof.pop("checkpoint"),
    "another-root": lambda proof: proof.update(checkpoint=other_root(proof["checkpoint"])),
    "another-receipt": lambda proof: proof.update(receipt={}),
}


@pytest.mark.parametrize("name", PROOFS)
def test_a_changed_proof_is_refused(command: Command, ids: list[str], tmp_path: Path, name: str) -> None:
    status, out = command("receipts", "prove", ids[0])
    assert status == 0
    proof = json.loads(out)
    PROOFS[name](proof)
    file = tmp_path / "proof.json"
    file.write_text(json.dumps(proof, indent=2))
    # Whether a request had an outcome is not proved by its receipt.
    assert verified(command, file)[0] == (name in {"as-it-is", "an-outcome-less"})


def test_a_proof_for_an_earlier_checkpoint(command: Command, ids: list[str], tmp_path: Path) -> None:
    file = tmp_path / "proof.json"
    for size in (2, 3, 4):
        file.write_text(command("receipts", "prove", ids[1], "--size", str(size))[1])
        valid, done = verified(command, file)
        assert (valid, done["log"]["size"]) == (True, size)
    for size in ("1", "5"):
        assert command("receipts", "prove", ids[1], "--size", size) == (1, "")
    status, text = command("receipts", "verify", str(file), "--key", Signer.load(command.data_dir).public_bytes.hex())
    assert (status, "Valid: the receipt is one of the 4 records of the checkpoint." in text) == (0, True)


def test_a_log_extends_what_it_was(command: Command, ids: list[str], tmp_path: Path) -> None:
    file, key = tmp_path / "proof.json", Signer.load(command.data_dir).public_bytes.hex()
    for old in range(5):
        for new in range(old, 5):
            status, out = command("receipts", "consistency", str(old), "--size", str(new))
            assert status == 0
            file.write_text(out)
            status, done = command.json("receipts", "verify", str(file), "--key", key)
            assert (status, done["valid"], done["log"]["size"]) == (0, True, new)
            proof = json.loads(out)
            for change in (
                {"old": proof["new"], "new": proof["old"]} if old != new else {"old": ""},
                {"new": other_root(proof["new"])},
                {"consistency": {"hashes": [*proof["consistency"]["hashes"], "00" * 32]}},
                {"consistency": {}},
            ):
                file.write_text(json.dumps(proof | change))
                status, done = command.json("receipts", "verify", str(file), "--key", key)
                assert (status, done["valid"]) == (1, False), (old, new, change)
    assert command("receipts", "consistency", "5") == (1, "")


# What these change stands beside the records in the database, or is another way to write the same; an export of them is
# that of a good log.
BESIDE = {
    "body-with-fraction",
    "filed-under-another-request",
    "outcome-of-another-request",
    "signature-in-capitals",
}


@pytest.mark.parametrize("name", sorted(VECTORS))
def test_an_attacked_log_is_exported_and_refused_elsewhere(
    command: Command, log_dir: Path, name: str, tmp_path: Path
) -> None:
    attack(log_dir, VECTORS[name])
    file = tmp_path / "receipts.ndjson"
    assert command("receipts", "export", "--output", str(file))[0] == 0
    key = Signer.load(log_dir).public_bytes.hex()
    assert verified(command, file)[0] == (name in BESIDE - {"signature-in-capitals"})
    if name in BESIDE:
        assert checker()(file, key) == 6
    else:
        with pytest.raises(FOUND):
            checker()(file, key)
