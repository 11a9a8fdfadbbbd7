"""`keys rotate --signing`: the log continues with a new key, and receipts of the old one stay verifiable."""

import asyncio
import json
import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gateway.config.settings import SettingsError
from gateway.errors import Unavailable
from gateway.receipt_log import signing_key
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.signing_key import FILE, NEXT, load_signer, signer_of
from gateway.receipts.checkpoint import sign_checkpoint
from gateway.receipts.records import seal
from gateway.receipts.signing import Signer
from gateway.store import open_store
from tests.conftest import vectors
from tests.gateway.cli.support import DEFAULT, Command, checked
from tests.gateway.receipt_log.support import OPERATOR, draft, opened, sql
from tests.gateway.receipts.verifier import canonical_form, tree_root


def public_key(command: Command) -> str:
    return load_signer(command.data_dir).public_bytes.hex()


def rotate(command: Command) -> tuple[str, str]:
    """Rotates, and returns the old and the new public key."""
    status, done = command.json("keys", "rotate", "--signing")
    assert status == 0
    assert done["new"]["public_key"] == public_key(command) != done["old"]["public_key"]
    return done["old"]["public_key"], done["new"]["public_key"]


def append(data_dir: Path, *request_ids: str) -> None:
    async def fill(log: ReceiptLog) -> None:
        for request_id in request_ids:
            await log.append(draft(request_id, policy=DEFAULT), "key_anna")

    with opened(data_dir) as log:
        asyncio.run(fill(log))


def test_receipts_before_and_after_verify_with_both_keys(command: Command, ids: list[str], tmp_path: Path) -> None:
    old, new = rotate(command)
    append(command.data_dir, "req_0a")
    for target in ((), (ids[0],), ("req_0a",)):
        assert command.json("receipts", "verify", *target)[1]["valid"]
    file = tmp_path / "log.ndjson"
    assert command("receipts", "export", "--output", str(file))[0] == 0
    assert checked(command, file, old, new) == []
    assert checked(command, file, new) == ["signature"], "the old key signed the first records"
    assert checked(command, file, old) == ["format", "signature", "head"]
    record = json.loads(file.read_text().splitlines()[5])
    assert (record["type"], record["record"]["public_key"], record["record"]["new_public_key"]) == (
        "rotation",
        old,
        new,
    )
    for request_id in (ids[0], "req_0a"):
        file.write_text(command("receipts", "prove", request_id)[1])
        assert checked(command, file, old, new) == []
    assert checked(command, file, new) == []
    file.write_text(command("receipts", "consistency", "2")[1])
    assert checked(command, file, new) == [], "the earlier checkpoint is signed again"


def test_the_old_key_signs_nothing_more(command: Command, ids: list[str], tmp_path: Path) -> None:
    thief = load_signer(command.data_dir)
    old, new = rotate(command)
    append(command.data_dir, "req_0a")
    file = tmp_path / "log.ndjson"
    command("receipts", "export", "--output", str(file))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for change in ("record", "checkpoint"):
        forged: list[Any] = json.loads(json.dumps(lines))
        if change == "record":
            forged[-2] = forged[-2] | {"record": signed(forged[-2]["record"], thief)}
            forged[-1]["hash"] = forged[-2]["record"]["hash"]
        forged[-1]["checkpoint"] = note_over(forged, thief)
        file.write_text("".join(json.dumps(line) + "\n" for line in forged))
        fails = checked(command, file, old, new)
        assert fails == (["signature", "head"] if change == "record" else ["head"])


def signed(record: dict[str, Any], signer: Signer) -> dict[str, Any]:
    body = {name: record[name] for name in record if name not in {"hash", "signature"}} | {"key_id": signer.key_id}
    return seal(body, signer).as_dict()


def note_over(lines: list[Any], signer: Signer) -> str:
    bodies = [
        canonical_form({name: value for name, value in line["record"].items() if name not in {"hash", "signature"}})
        for line in lines[1:-1]
    ]
    return sign_checkpoint(len(bodies), tree_root([body.encode() for body in bodies]), signer).note


async def test_a_running_gateway_takes_the_new_key_over(command: Command) -> None:
    data_dir = command.data_dir
    with opened(data_dir) as log:
        before = await log.append(draft("req_01", policy=DEFAULT), "key_anna")
        old, new = await asyncio.to_thread(rotate, command)
        log.check()
        assert (await log.verify("req_01", OPERATOR)).valid
        anchor = await log.anchor_payload("req_01", OPERATOR)
        assert (anchor["public_key"], anchor["key_id"]) == (new, load_signer(data_dir).key_id)
        after = await log.append(draft("req_02", policy=DEFAULT), "key_anna")
        assert (await log.verify("req_02", OPERATOR)).valid
        third = rotate_within(data_dir)
        last = await log.append(draft("req_03", policy=DEFAULT), "key_anna")
    keys = [receipt.as_dict()["key_id"] for receipt in (before, after, last)]
    assert len(set(keys)) == 3
    assert keys[2] == third
    assert old != new
    assert command.json("receipts", "verify")[1]["valid"]


def rotate_within(data_dir: Path) -> str:
    with opened(data_dir) as log:
        return signing_key.rotate_signing_key(data_dir, log.rotate).key_id


@pytest.mark.parametrize("after", ["the new key is written", "the record is durable"])
def test_a_start_completes_what_a_crash_interrupted(
    after: str, command: Command, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Crash(Exception):
        pass

    def crash(*_: object) -> None:
        raise Crash

    replace = Path.replace

    old = public_key(command)
    with monkeypatch.context() as patched:
        if after == "the record is durable":
            patched.setattr(Path, "replace", lambda path, to: crash() if path.name == NEXT else replace(path, to))
        else:
            patched.setattr(ReceiptLog, "rotate", crash)
        with pytest.raises(Crash):
            rotate_within(command.data_dir)
    assert (command.data_dir / NEXT).exists()
    assert command.json("receipts", "verify")[1]["valid"]
    asyncio.run(start_and_record(command.data_dir))
    assert command.json("receipts", "verify")[1]["valid"]
    assert (public_key(command) == old) == (after == "the new key is written")
    rotate(command)
    assert not (command.data_dir / NEXT).exists()


async def start_and_record(data_dir: Path) -> None:
    with closing(open_store(data_dir)) as store:
        log = ReceiptLog(store, signer_of(store, data_dir), data_dir)
        log.check()
        await log.append(draft(policy=DEFAULT), "key_anna")


def test_a_key_put_in_place_without_a_record_is_refused(command: Command, ids: list[str]) -> None:
    (command.data_dir / FILE).unlink()
    load_signer(command.data_dir)
    with pytest.raises(SettingsError, match="not the key"):
        asyncio.run(start_and_record(command.data_dir))
    assert command("keys", "rotate", "--signing") == (2, "")


ATTACKS = vectors("receipt_logs/rotated")


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_a_changed_record_of_a_rotation_is_named(name: str, command: Command, ids: list[str]) -> None:
    rotate(command)
    append(command.data_dir, "req_0a")
    sql(command.data_dir, ATTACKS[name])
    status, done = command.json("receipts", "verify")
    assert (status, done["valid"]) == (1, False)
    if name != "called a receipt":  # The kind is beside the record, and a start reads it of the last records alone.
        with opened(command.data_dir) as log, pytest.raises(Unavailable, match="broken"):
            log.check()


def test_a_key_of_the_settings_is_replaced_there(
    command: Command, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_SIGNING_KEY", (command.data_dir / FILE).read_text())
    assert command("keys", "rotate", "--signing") == (2, "")
    assert "signing_key is set" in command.errors


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system has no accounts with numbers")
def test_root_replaces_no_file_of_another_account(
    command: Command, ids: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (command.data_dir / "installation.key").write_bytes(b"k" * 32)
    (command.data_dir / "installation.key").chmod(0o600)
    assert command("backup", tmp_path / "gateway.tar")[0] == 0
    other = Command(command.data_dir.parent / "other" / "data", command._capsys)
    if os.geteuid() == 0:
        for folder in (command.data_dir, command.data_dir.parent):
            os.chown(folder, 4242, -1)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    before = {each.name: each.read_bytes() for each in command.data_dir.iterdir()}
    for each, words in (
        (command, ("keys", "rotate", "--signing")),
        (command, ("keys", "rotate", "installation")),
        (command, ("receipts", "prune", "--before", "30d")),
        (other, ("keys", "create", "first")),
        (other, ("restore", str(tmp_path / "gateway.tar"))),
    ):
        assert each(*words) == (2, ""), words
        assert "run the command as that account: `sudo -u " in each.errors
    assert {each.name: each.read_bytes() for each in command.data_dir.iterdir()} == before
    assert not other.data_dir.exists()
    assert command("keys", "create", "second")[0] == 0
