"""`receipts …`, through the entry point. The attacks on the log are those of tests/vectors/receipts."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gateway.models import PolicyRef
from run_proxy import main
from tests.gateway.cli.support import DEFAULT, Command
from tests.gateway.receipt_log.support import draft, opened, sql
from tests.gateway.receipt_log.test_attacks import VECTORS, attack

pytestmark = pytest.mark.slow


def test_show(command: Command, ids: list[str]) -> None:
    status, receipt = command.json("receipts", "show", ids[0])
    assert status == 0
    assert receipt["outcome"]["guard"] == {"action": "flag", "findings": {"forged_placeholder": 2}}
    status, text = command("receipts", "show", ids[0])
    assert status == 0
    assert ids[0] in text
    assert re.search(r"^outcome\.guard\.findings\.forged_placeholder +2 *$", text, re.MULTILINE)
    assert receipt["signature"] in re.sub(r"\s", "", text)


UNKNOWN = ["req_" + "0" * 32, "nonsense", "req_\x00", "", "missing.ndjson", "a" * 300, "/"]


@pytest.mark.parametrize("action", ["show", "verify"])
@pytest.mark.parametrize("name", UNKNOWN, ids=range(len(UNKNOWN)))
def test_no_such_receipt_or_file(command: Command, ids: list[str], action: str, name: str) -> None:
    status, reply = command.json("receipts", action, name)
    assert (status, reply["ok"], reply["error"]["code"]) == (1, False, "receipt_not_found")
    assert command("receipts", action, name) == (1, "")
    assert command.errors.startswith("There is no such receipt.")


def test_verify_a_good_log(command: Command, ids: list[str]) -> None:
    for words in ((), ("--all",)):
        status, done = command.json("receipts", "verify", *words)
        assert (status, done["valid"], done["broken_at"], done["log"]["size"]) == (0, True, None, 4)
    assert [check["name"] for check in done["checks"]] == [
        "chain",
        "hash",
        "signature",
        "outcome_receipt",
        "head",
        "tree",
        "checkpoint",
        "policy",
    ]
    status, done = command.json("receipts", "verify", ids[0])
    assert (status, done["valid"], done["request_id"]) == (0, True, ids[0])
    assert {"filing", "outcome_hash", "outcome_signature", "policy"} <= {check["name"] for check in done["checks"]}
    status, text = command("receipts", "verify")
    assert status == 0
    assert "Valid: 4 records" in text
    with pytest.raises(SystemExit):
        command("receipts", "verify", ids[0], "--all")


async def test_a_look_while_the_gateway_writes(command: Command) -> None:
    with opened(command.data_dir):
        pass  # Its head is written.
    with opened(command.data_dir) as log:
        assert command("receipts", "list") == (0, "No receipts.\n")
        assert command("usage")[0] == 0
        for size in range(3):
            status, done = command.json("receipts", "verify")
            assert (status, done["valid"], done["log"]["size"]) == (0, True, size)
            assert command.json("receipts", "list")[1]["total"] == size
            await log.append(draft(policy=DEFAULT), "key_anna")


def test_an_attack_on_the_log_is_shown(command: Command, log_dir: Path) -> None:
    attack(log_dir, VECTORS["removed-record"])
    status, text = command("receipts", "verify")
    assert (status, "NOT VALID: breaks at sequence" in text) == (1, True)
    assert command("receipts", "list")[0] == 0


def test_an_export_that_cannot_be_written(command: Command, ids: list[str], tmp_path: Path) -> None:
    for file in (tmp_path / "missing" / "x.ndjson", tmp_path):
        assert command("receipts", "export", "--output", str(file)) == (1, "")
        assert str(file) in command.errors
    assert not list(tmp_path.glob("x.ndjson*"))


@pytest.mark.parametrize("which", ["--signing", "installation", "key_01"])
def test_rotating_makes_no_folder(which: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Command(tmp_path / "mistyped", capsys)("keys", "rotate", which) == (2, "")
    assert list(tmp_path.iterdir()) == []


LOOKS = [
    ["receipts", "list"],
    ["receipts", "show", "req_01"],
    ["receipts", "verify"],
    ["receipts", "export"],
    ["usage"],
]
CHANGES = [
    ["keys", "list"],
    ["keys", "audit"],
    ["keys", "revoke", "key_01"],
    ["keys", "rotate", "key_01"],
    ["keys", "rotate", "--signing"],
    ["sessions", "revoke", "sess_01"],
    ["receipts", "prune", "--before", "2026-01-01"],
]


@pytest.mark.parametrize("words", [*LOOKS, *CHANGES], ids=" ".join)
def test_without_a_store(command: Command, words: list[str]) -> None:
    assert command(*words) == (2, "")
    assert "there is no gateway.db in data_dir" in command.errors
    assert list(command.data_dir.iterdir()) == []
    status, reply = command.json(*words)
    assert (status, reply["ok"], reply["error"]["code"]) == (2, False, "unusable_settings")


@pytest.mark.parametrize("words", [*LOOKS, *CHANGES, ["keys", "create", "a"]], ids=" ".join)
def test_a_lost_database_is_distinguished_from_an_empty_folder(
    command: Command, ids: list[str], words: list[str]
) -> None:
    for file in command.data_dir.glob("gateway.db*"):
        file.unlink()
    assert command(*words) == (1, "")
    assert "gateway.db is missing from data_dir, and receipts.checkpoint says that it had receipts" in command.errors
    status, reply = command.json(*words)
    assert (status, reply["ok"], reply["error"]["code"]) == (1, False, "receipt_log_broken")
    assert not (command.data_dir / "gateway.db").exists()


async def test_a_lost_policy_and_a_missing_checkpoint_are_reported(command: Command) -> None:
    with opened(command.data_dir) as log:
        await log.append(draft("req_01", policy=PolicyRef("gone", 1, "a1" * 32)), "key_anna")
    for names in (["policy"], ["checkpoint", "policy"]):
        for words in ((), ("req_01",)):
            status, done = command.json("receipts", "verify", *words)
            failed = [check for check in done["checks"] if not check["ok"]]
            assert (status, done["valid"], [check["name"] for check in failed]) == (1, False, names)
            assert len(names) == 1 or failed[0]["detail"].startswith("receipts.checkpoint is missing")
        (command.data_dir / "receipts.checkpoint").unlink(missing_ok=True)


@pytest.mark.parametrize("words", LOOKS, ids=" ".join)
def test_a_database_of_another_program_is_refused(command: Command, words: list[str]) -> None:
    file = command.data_dir / "gateway.db"
    file.write_bytes(b"no database, but a text of more than a hundred characters. " * 9)
    assert command(*words) == (2, "")
    assert "cannot be read: SQLITE_NOTADB" in command.errors
    file.unlink()
    sql(file.parent, "CREATE TABLE recipes (title TEXT)")
    assert command(*words) == (2, "")
    assert "not one of this gateway" in command.errors


@pytest.mark.parametrize("words", [*LOOKS, *CHANGES, ["keys", "create", "a"], ["policies", "list"]], ids=" ".join)
def test_a_store_of_another_version_stays_as_it_is(command: Command, ids: list[str], words: list[str]) -> None:
    file = command.data_dir / "gateway.db"
    sql(file.parent, "UPDATE migrations SET id = 'later' WHERE id = '0001_tables'")
    assert command(*words) == (2, "")
    assert "made by a newer version" in command.errors
    sql(file.parent, "DELETE FROM migrations WHERE id = 'later'")
    assert command(*words) == (2, "")
    # A gateway of that version may be running on it.
    assert "made by an older version" in command.errors
    with closing(sqlite3.connect(file)) as db:
        assert ("0001_tables",) not in db.execute("SELECT id FROM migrations").fetchall()


@pytest.mark.parametrize("action", ["verify", "export"])
def test_without_the_signing_key(command: Command, ids: list[str], action: str) -> None:
    (command.data_dir / "signing.key").unlink()
    assert command("receipts", action) == (2, "")
    assert "signing.key is missing from data_dir, so receipts cannot be verified" in command.errors
    assert not (command.data_dir / "signing.key").exists()
    assert command("receipts", "list")[0] == 0


def test_the_folder_comes_from_the_settings_file_too(
    ids: list[str], data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "svc.toml"
    file.write_text(f"data_dir = '{data_dir}'\n")
    assert main(["receipts", "list", "--json", "--config", str(file)]) == 0
    assert json.loads(capsys.readouterr().out)["total"] == 3
