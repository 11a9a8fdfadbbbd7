"""A backup holds what belongs together, is written whole or not at all, and is of a log that verifies."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from addons.certificate_authority import make_authority
from gateway import __version__
from gateway.receipt_log.signing_key import load_signer
from tests.gateway.cli.backups.support import contents
from tests.gateway.cli.support import Command
from tests.gateway.receipt_log.support import opened, reference_check, sql


def test_it_holds_what_belongs_together(command: Command, log_dir: Path, tmp_path: Path) -> None:
    file = tmp_path / "gateway.tar"
    (log_dir / "installation.key").write_bytes(b"k" * 32)
    (log_dir / "operator.key").write_text("not in a backup")
    make_authority(tmp_path / "certs")
    with opened(log_dir):
        status, done = command.json("backup", file, "--certs")
    assert (status, done["gateway"], file.stat().st_mode & 0o777) == (0, __version__, 0o600)
    found = contents(file)
    assert next(iter(found)) == "manifest.json"
    manifest = json.loads(found.pop("manifest.json"))
    assert manifest["files"] == {
        name: {"size": len(content), "sha256": sha256(content).hexdigest()} for name, content in found.items()
    }
    data = {"gateway.db", "receipts.checkpoint", "installation.key", "signing.key"}
    assert {name for name in found if name.startswith("data/")} == {f"data/{name}" for name in data}
    assert "certs/mitmproxy-ca.pem" in found
    copy = tmp_path / "copy" / "gateway.db"
    copy.parent.mkdir()
    copy.write_bytes(found["data/gateway.db"])
    assert reference_check(copy, load_signer(log_dir).public_key) == manifest["records"]
    assert [each.name for each in copy.parent.iterdir()] == ["gateway.db"]
    text = command("backup", tmp_path / "other.tar")[1]
    assert "The file holds secrets: its keys sign receipts and derive placeholders. Keep it closed to others." in text
    assert set(contents(tmp_path / "other.tar")) == {"manifest.json", *(f"data/{name}" for name in data)}


def test_only_a_backup_is_replaced_and_only_when_told(command: Command, log_dir: Path, tmp_path: Path) -> None:
    file = tmp_path / "gateway.tar"
    assert command("backup", file)[0] == 0
    assert command("backup", file) == (1, "")
    assert f"{file} exists. Name another file, or add --replace." in command.errors
    assert command("backup", file, "--replace")[0] == 0
    before = (log_dir / "gateway.db").read_bytes()
    assert command("backup", log_dir / "gateway.db", "--replace") == (1, "")
    assert "only a backup is replaced" in command.errors
    assert (log_dir / "gateway.db").read_bytes() == before
    assert command("backup", tmp_path / "none" / "gateway.tar") == (1, "")
    assert "none/gateway.tar: No such file or directory" in command.errors


DAMAGE = {
    "a changed record": "UPDATE receipts SET body = replace(body, '120', '121') WHERE sequence = 2",
    "records cut off": "DELETE FROM receipts WHERE sequence > 2",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_log_that_does_not_verify_is_not_backed_up(
    damage: str, command: Command, log_dir: Path, tmp_path: Path
) -> None:
    sql(log_dir, damage)
    assert command("backup", tmp_path / "gateway.tar") == (1, "")
    assert "Nothing is backed up, because the receipt log is broken." in command.errors
    assert [each.name for each in tmp_path.iterdir()] == ["data"]


def test_an_authority_that_is_not_there_is_missed(command: Command, log_dir: Path, tmp_path: Path) -> None:
    assert command("backup", tmp_path / "gateway.tar", "--certs") == (1, "")
    assert "There is no certificate authority in certs_dir." in command.errors


def test_a_key_of_the_settings_stays_there(
    command: Command, log_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (log_dir / "signing.key").rename(tmp_path / "elsewhere")
    monkeypatch.setenv("SVC_SIGNING_KEY", f"file:{tmp_path / 'elsewhere'}")
    assert command("backup", tmp_path / "gateway.tar")[0] == 0
    assert "data/signing.key" not in contents(tmp_path / "gateway.tar")
