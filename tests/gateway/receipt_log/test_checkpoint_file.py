"""The checkpoint outside the database, and starts with a log that does not extend it."""

import os
import shutil
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from gateway.api.app import create_app
from gateway.config.loading import load_settings
from gateway.config.settings import SettingsError
from gateway.container import Container
from gateway.errors import Unavailable
from gateway.receipt_log import checkpoint_file
from gateway.receipt_log.audit import audit
from gateway.receipt_log.checkpoint_file import FILE, read_checkpoint, write_checkpoint
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.signing_key import load_signer
from gateway.receipts.checkpoint import sign_checkpoint, verify_checkpoint
from gateway.store import open_read_only
from run_proxy import main
from tests.gateway.receipt_log.support import OPERATOR, draft, opened, reference_check, sql

KEY = "svck_" + "operator-of-the-tests-" * 2


def start(data_dir: Path) -> Any:
    return Container.start(load_settings(None, data_dir=data_dir, detection="patterns", api_key=KEY))


def remembered(data_dir: Path) -> int:
    checkpoint = read_checkpoint(data_dir)
    assert checkpoint is not None
    assert verify_checkpoint(checkpoint.note, load_signer(data_dir)) == checkpoint
    return checkpoint.size


async def append(data_dir: Path, *request_ids: str) -> None:
    with opened(data_dir) as log:
        for request_id in request_ids:
            await log.append(draft(request_id), "key_anna")


async def refusal(log: ReceiptLog) -> str:
    with pytest.raises(Unavailable) as degraded:
        log.check()
    with pytest.raises(Unavailable):
        await log.append(draft("req_99"), "key_anna")
    return degraded.value.message


async def test_a_head_is_signed_and_remembered_from_the_first_start(data_dir: Path) -> None:
    with opened(data_dir) as log:
        log.check()
    assert remembered(data_dir) == 0
    assert (data_dir / FILE).stat().st_mode & 0o077 == 0
    assert reference_check(data_dir / "gateway.db", load_signer(data_dir).public_key) == 0
    await append(data_dir, "req_01", "req_02")
    assert remembered(data_dir) == 2
    assert orjson.loads((data_dir / FILE).read_bytes()).keys() == {"format", "version", "checkpoint"}
    assert {name for name in os.listdir(data_dir) if name.startswith(FILE)} == {FILE}  # noqa: PTH208


def client_of(container: Container) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(create_app(container))
    return httpx.AsyncClient(transport=transport, base_url="http://gateway", headers={"authorization": f"Bearer {KEY}"})


@pytest.mark.slow
async def test_an_emptied_log_is_named_at_start_by_health_and_by_verify(
    data_dir: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    text = {"text": "Write to anna@acme.test"}
    async with await start(data_dir) as container, client_of(container) as client:
        assert (await client.post("/v1/protect", json=text)).status_code == 200
        assert (await client.get("/healthz")).status_code == 200
        sql(data_dir, "DELETE FROM receipts")
        sql(data_dir, "DELETE FROM receipts_head")
        assert (await client.get("/healthz")).status_code == 503, "also while it runs"
    assert "broken" not in caplog.text
    async with await start(data_dir) as container, client_of(container) as client:
        assert "the receipt log is broken, and requests are refused" in caplog.text
        for method, path in (("GET", "/healthz"), ("POST", "/v1/protect"), ("GET", "/healthz")):
            refused = await client.request(method, path, json=text if method == "POST" else None)
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "receipt_log_broken")
            assert path != "/healthz" or "degraded" in refused.json()["error"]["message"]
    assert remembered(data_dir) == 1
    assert main(["receipts", "verify", "--data-dir", str(data_dir)]) == 1
    assert "NOT VALID" in capsys.readouterr().out


@pytest.mark.parametrize("suffixes", [("",), ("", "-wal", "-shm")])
async def test_a_database_that_is_gone_is_named(suffixes: tuple[str, ...], data_dir: Path) -> None:
    await append(data_dir, "req_01")
    for suffix in suffixes:
        (data_dir / f"gateway.db{suffix}").unlink(missing_ok=True)
    with opened(data_dir) as log:
        assert "its head is gone, and receipts.checkpoint remembers … records" in await refusal(log)


async def test_an_older_copy_of_the_database_is_named(data_dir: Path, tmp_path: Path) -> None:
    await append(data_dir, "req_01", "req_02")
    shutil.copy(data_dir / "gateway.db", tmp_path / "older.db")
    await append(data_dir, "req_03")
    shutil.copy(tmp_path / "older.db", data_dir / "gateway.db")
    reference_check(data_dir / "gateway.db", load_signer(data_dir).public_key)
    with opened(data_dir) as log:
        assert "its head is of … records, and receipts.checkpoint remembers …" in await refusal(log)
        verification = await log.verify("req_01", OPERATOR)
        assert [check.name for check in verification.checks if not check.ok] == ["checkpoint"]
    assert main(["receipts", "verify", "req_01", "--data-dir", str(data_dir)]) == 1


async def test_another_history_of_the_same_key_is_named(data_dir: Path, tmp_path: Path) -> None:
    await append(data_dir, "req_01")
    shutil.copytree(data_dir, tmp_path / "twin")
    await append(data_dir, "req_02")
    await append(tmp_path / "twin", "req_03", "req_04")
    shutil.copy(tmp_path / "twin" / "gateway.db", data_dir / "gateway.db")
    with opened(data_dir) as log:
        assert "its first … records are not those that receipts.checkpoint remembers" in await refusal(log)


async def test_a_crash_before_the_file_is_written_raises_no_alarm(data_dir: Path) -> None:
    """The file may be behind the log, and catches up."""
    await append(data_dir, "req_01")
    behind = (data_dir / FILE).read_bytes()
    await append(data_dir, "req_02", "req_03")
    (data_dir / FILE).write_bytes(behind)
    with opened(data_dir) as log:
        log.check()
    assert remembered(data_dir) == 3
    (data_dir / FILE).write_bytes(behind)
    await append(data_dir, "req_04")
    assert remembered(data_dir) == 4


async def test_a_log_without_its_checkpoint_is_taken_as_it_is(data_dir: Path, caplog: pytest.LogCaptureFixture) -> None:
    await append(data_dir, "req_01", "req_02")
    (data_dir / FILE).unlink()
    with opened(data_dir) as log:
        log.check()
    assert f"{FILE} is missing" in caplog.text
    assert remembered(data_dir) == 2


async def test_a_new_log_with_an_existing_signing_key_is_reported_and_no_key_made_for_a_lost_one(
    data_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        async with await start(data_dir):
            assert caplog.text == ""
    for name in ("gateway.db", FILE):
        (data_dir / name).unlink()
    async with await start(data_dir) as container:
        assert "a new receipt log is begun beside a signing.key" in caplog.text
        await container.receipts.append(draft("req_01"), "key_anna")
    for name in ("gateway.db", "signing.key"):
        (data_dir / name).unlink()
    with pytest.raises(SettingsError, match="missing"):
        await start(data_dir)
    load_signer(data_dir)
    with pytest.raises(SettingsError, match="not the key"):
        await start(data_dir)


@pytest.mark.parametrize("set_back", [False, True])
async def test_an_emptied_log_without_its_checkpoint_is_named_at_every_start(
    data_dir: Path, caplog: pytest.LogCaptureFixture, set_back: bool
) -> None:
    """Even with its first head: the usage meters, which change with the log, still count its records."""
    with opened(data_dir):
        pass
    (first,) = sql(data_dir, "SELECT size, head, checkpoint FROM receipts_head")
    await append(data_dir, "req_01", "req_02")
    sql(data_dir, "DELETE FROM receipts")
    sql(data_dir, "DELETE FROM receipts_head")
    if set_back:
        sql(data_dir, "INSERT INTO receipts_head (size, head, checkpoint) VALUES (?, ?, ?)", first)
    (data_dir / FILE).unlink()
    for _ in range(2):
        caplog.clear()
        with opened(data_dir) as log:
            assert "the usage meters count 2 records, and it has 0" in caplog.text
            assert "the usage meters count … records, and it has …" in await refusal(log)
        assert not (data_dir / FILE).exists()
        with open_read_only(data_dir) as look:
            done = audit(look, load_signer(data_dir), read_checkpoint(data_dir), lambda _: None)
        failed = [check.name for check in done.checks if not check.ok]
        assert failed == (["checkpoint"] if set_back else ["head", "checkpoint"])


DAMAGED = {
    "empty": b"",
    "not JSON": b"receipts",
    "an array": b"[]",
    "a later version": b'{"format":"privacy-gateway/receipts-checkpoint","version":2,"checkpoint":""}',
    "no checkpoint": b'{"format":"privacy-gateway/receipts-checkpoint","version":1}',
    "no note": b'{"format":"privacy-gateway/receipts-checkpoint","version":1,"checkpoint":"1"}',
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*DAMAGED, "a forged size", "a forged signature"])
async def test_a_damaged_checkpoint_is_named_and_kept(name: str, data_dir: Path) -> None:
    await append(data_dir, "req_01", "req_02")
    written = (data_dir / FILE).read_bytes()
    forged = {
        "a forged size": written.replace(b"\\n2\\n", b"\\n1\\n"),
        "a forged signature": written[:-12] + b"AAAA" + written[-8:],
    }
    content = (DAMAGED | forged)[name]
    assert content != written
    (data_dir / FILE).write_bytes(content)
    with opened(data_dir) as log:
        assert f"{FILE} is damaged" in await refusal(log)
    assert (data_dir / FILE).read_bytes() == content


def test_a_checkpoint_never_goes_back(data_dir: Path) -> None:
    signer = load_signer(data_dir)
    for size, kept in ((3, 3), (2, 3), (4, 4), (0, 4)):
        write_checkpoint(data_dir, sign_checkpoint(size, bytes([size]) * 32, signer))
        assert remembered(data_dir) == kept


async def test_requests_are_served_while_the_file_cannot_be_written(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "/a/path")

    with monkeypatch.context() as patched:
        patched.setattr(checkpoint_file, "write_checkpoint", full)
        await append(data_dir, "req_01")
    assert f"{FILE} could not be written: OSError" in caplog.text
    assert not (data_dir / FILE).exists()
    await append(data_dir, "req_02")
    assert remembered(data_dir) == 2
