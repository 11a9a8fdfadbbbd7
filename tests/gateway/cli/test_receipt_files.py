"""Exports and proofs, through the entry point; what `verify FILE` says to them, and a second verifier."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gateway.receipt_log.signing_key import load_signer
from gateway.receipts.checkpoint import verifier_key
from tests.conftest import ROOT
from tests.gateway.cli.support import Command, verified_by_both
from tests.gateway.receipt_log.support import OPERATOR, opened
from tests.gateway.receipt_log.test_attacks import FOUND, VECTORS, attack

pytestmark = pytest.mark.slow


def checker() -> Any:
    """The program of docs/receipt-format.md."""
    page = (ROOT / "docs" / "receipt-format.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for program in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(program, "docs/receipt-format.md", "exec"), names)
    return names["check_export"]


def test_an_export_is_verified_by_the_program_of_the_documentation(
    command: Command, ids: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "receipts.ndjson"
    status, done = command.json("receipts", "export", "--output", str(file))
    assert (status, done["records"], done["file"]) == (0, 4, str(file))
    assert file.stat().st_mode & 0o077 == 0
    key = load_signer(command.data_dir).public_bytes.hex()
    assert checker()(file, key) == 4
    assert verified_by_both(command, file)["valid"]
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["type"] for line in lines] == ["header", "receipt", "receipt", "receipt", "outcome", "head"]
    assert [line["record"]["request_id"] for line in lines[1:5]] == [*ids, ids[0]]
    status, out = command("receipts", "export")
    assert [json.loads(line) for line in out.splitlines()][1:] == lines[1:]
    assert command("receipts", "export", "--output", "-") == (status, out)
    assert list(tmp_path.glob("receipts.ndjson?*")) == []


async def test_the_key_in_every_form(command: Command, ids: list[str], tmp_path: Path) -> None:
    """As an anchor payload has it; commands read each form. A folder that cannot be written to will do."""
    with opened(command.data_dir) as log:
        anchor = await log.anchor_payload(ids[0], OPERATOR)
    file, pem = tmp_path / "receipts.ndjson", tmp_path / "key.pem"
    command("receipts", "export", "--output", str(file))
    command.data_dir.chmod(0o500)
    before = {each.name for each in command.data_dir.iterdir()}
    status, key = command.json("receipts", "key")
    pem.write_text(command("receipts", "key")[1])
    command.data_dir.chmod(0o700)
    assert {each.name for each in command.data_dir.iterdir()} == before
    assert (status, key["pem"], key["earlier"]) == (0, pem.read_text(), [])
    names = ("key_id", "public_key", "verifier_key")
    assert [key[name] for name in names] == [anchor[name] for name in names]
    for form in (key["public_key"], key["verifier_key"], key["pem"].strip(), str(pem)):
        assert command.json("receipts", "verify", str(file), "--key", form)[0] == 0
    for wrong in (pem.read_text().replace("MCow", "MCox"), str(file), str(command.data_dir / "signing.key")):
        assert command("receipts", "verify", str(file), "--key", wrong) == (2, "")
        assert "--key must be an Ed25519 public key" in command.errors and "MC" not in command.errors
    assert command("keys", "rotate", "--signing")[0] == 0
    _, new = command.json("receipts", "key")
    assert new["earlier"] == [{"first_sequence": 1, **{name: key[name] for name in names}}]
    assert new["public_key"] == load_signer(command.data_dir).public_bytes.hex() != key["public_key"]
    (command.data_dir / "signing.key").unlink()
    assert command("receipts", "key") == (2, "")
    assert not (command.data_dir / "signing.key").exists()


def test_an_outsider_checks_a_receipt_with_common_tools(command: Command, ids: list[str], tmp_path: Path) -> None:
    """The commands of the documentation."""
    page = (ROOT / "docs" / "receipts.md").read_text(encoding="utf-8")
    (block,) = (each for each in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) if "openssl pkeyutl" in each)
    program = f"{sys.executable} {ROOT / 'run_proxy.py'}"
    script = "set -e -o pipefail\n" + block.replace(".venv/bin/python run_proxy.py", program)
    (tmp_path / "key.pem").write_text(command("receipts", "key")[1])
    proof = json.loads(command("receipts", "prove", ids[0])[1])

    def check(proof: Any) -> int:
        (tmp_path / "proof.json").write_text(json.dumps(proof))
        return subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, check=False).returncode

    assert check(proof) == 0
    assert check(proof | {"receipt": proof["receipt"] | {"risk_level": "none"}}) != 0


def test_an_export_is_valid_for_its_key_alone(command: Command, ids: list[str], tmp_path: Path) -> None:
    file = tmp_path / "receipts.ndjson"
    command("receipts", "export", "--output", str(file))
    key = verifier_key(load_signer(command.data_dir))
    assert command.json("receipts", "verify", str(file), "--key", key)[0] == 0
    other = load_signer(tmp_path / "other").public_bytes.hex()
    status, done = command.json("receipts", "verify", str(file), "--key", other)
    assert (status, done["valid"]) == (1, False)
    for wrong in ("", "00", "zz" * 32, key[:-4] + "AAA=", key.replace("receipt-log", "other")):
        assert command("receipts", "verify", str(file), "--key", wrong) == (2, "")
        assert "--key must be an Ed25519 public key" in command.errors
    assert command("receipts", "verify", str(file)) == (2, "")
    assert "as --key KEY" in command.errors
    assert command("receipts", "verify", "--key", key) == (2, "")


def test_a_proof_for_an_earlier_checkpoint(command: Command, ids: list[str], tmp_path: Path) -> None:
    file = tmp_path / "proof.json"
    for size in (2, 3, 4):
        file.write_text(command("receipts", "prove", ids[1], "--size", str(size))[1])
        done = verified_by_both(command, file)
        assert (done["valid"], done["log"]["size"]) == (True, size)
    for wrong in ("1", "5"):
        assert command("receipts", "prove", ids[1], "--size", wrong) == (1, "")
    status, text = command("receipts", "verify", str(file), "--key", load_signer(command.data_dir).public_bytes.hex())
    assert (status, "Valid: the receipt is one of the 4 records of the checkpoint." in text) == (0, True)


def test_a_log_extends_what_it_was(command: Command, ids: list[str], tmp_path: Path) -> None:
    file = tmp_path / "proof.json"
    for old in range(5):
        for new in range(old, 5):
            status, out = command("receipts", "consistency", str(old), "--size", str(new))
            assert status == 0
            file.write_text(out)
            done = verified_by_both(command, file)
            assert (done["valid"], done["log"]["size"]) == (True, new)
    assert command("receipts", "consistency", "5") == (1, "")
    assert command("receipts", "consistency", "3", "--size", "2") == (1, "")
    assert command.errors.strip() == "A log of 2 records does not extend one of 3.", "it is not broken"


# These change columns beside the records in the database; an export of them is that of a good log.
BESIDE = {"filed-under-another-request", "outcome-of-another-request"}
# Another way to write the same, which the short program of the documentation takes.
SPELLED = {"body-with-fraction", "signature-in-capitals"}


@pytest.mark.parametrize("name", sorted(VECTORS))
def test_an_attacked_log_is_exported_and_refused_elsewhere(
    command: Command, log_dir: Path, name: str, tmp_path: Path
) -> None:
    attack(log_dir, VECTORS[name])
    file = tmp_path / "receipts.ndjson"
    assert command("receipts", "export", "--output", str(file))[0] == 0
    key = load_signer(log_dir).public_bytes.hex()
    assert verified_by_both(command, file)["valid"] == (name in BESIDE)
    if name in BESIDE | SPELLED:
        assert checker()(file, key) == 6
    else:
        with pytest.raises(FOUND):
            checker()(file, key)


def test_only_a_regular_file_is_read(command: Command, ids: list[str], tmp_path: Path) -> None:
    """A device or pipe may have no end."""
    key = load_signer(command.data_dir).public_bytes.hex()
    for path, said in ((os.devnull, "not a regular file"), (tmp_path, "not a regular file"), ("none", "No such file")):
        assert command("receipts", "verify", path, "--key", key) == (1, "")
        assert said in command.errors
