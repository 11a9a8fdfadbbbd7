"""`receipts prune` and `receipts export --by-day`: what is left, and each day alone, still verifies."""

import asyncio
import json
import shutil
import sqlite3
from contextlib import closing
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import Unavailable
from gateway.receipt_log import pruning
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.signing_key import load_signer
from gateway.receipts import records
from gateway.receipts.drafts import OutcomeDraft
from tests.gateway.cli.support import DEFAULT, Command, checked
from tests.gateway.receipt_log.support import OPERATOR, draft, opened, sql

pytestmark = pytest.mark.slow

# Request n is of the second in the day that is numbered here; its outcome follows where there is one.
DAYS = [("2026-03-01", 5), ("2026-03-02", 260), ("2026-03-03", 3), ("2026-03-05", 40)]
SIZE = 2 * sum(number for _, number in DAYS)


@pytest.fixture(scope="module")
def log_of_days(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a log of four days, with an outcome for each receipt."""
    folder = tmp_path_factory.mktemp("days") / "data"
    folder.mkdir(mode=0o700)

    async def fill(log: ReceiptLog) -> None:
        number = 0
        for day, requests in DAYS:
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(records, "_now", lambda day=day: f"{day}T12:00:00.000Z")
                for _ in range(requests):
                    number += 1
                    await log.append(draft(f"req_{number:04x}", policy=DEFAULT), "key_anna")
                    log.append_outcome(f"req_{number:04x}", OutcomeDraft("answered", 200, (5, 7)), "key_anna")
                await log.list(OPERATOR, 1, 0)  # Waits until the outcomes are written.

    with opened(folder) as log:
        asyncio.run(fill(log))
    return folder


@pytest.fixture
def days(log_of_days: Path, data_dir: Path) -> Path:
    shutil.copytree(log_of_days, data_dir, dirs_exist_ok=True)
    return data_dir


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def days_of(data_dir: Path) -> set[str]:
    return {json.loads(body)["created_at"][:10] for (body,) in sql(data_dir, "SELECT body FROM receipts")}


def test_what_is_left_of_a_pruned_log_verifies(command: Command, days: Path, tmp_path: Path) -> None:
    file = tmp_path / "log.ndjson"
    left = SIZE
    for before, gone in (("2026-03-01", 0), ("2026-03-02", 10), ("2026-03-04", 526)):
        status, done = command.json("receipts", "prune", "--before", before)
        assert (status, done["deleted"]) == (0, gone)
        left += bool(gone) - gone
        assert days_of(days) - {date.today().isoformat()} == {day for day, _ in DAYS if day >= before}
        status, done = command.json("receipts", "verify")
        assert (status, done["valid"]) == (0, True)
        assert command("receipts", "export", "--output", str(file))[0] == 0
        assert checked(command, file) == []
        assert len([line for line in lines_of(file) if "record" in line]) == left
    assert "The 536 before were pruned." in command("receipts", "verify")[1]
    for request_id in ("req_010d", "req_0134"):
        file.write_text(command("receipts", "prove", request_id)[1])
        assert checked(command, file) == []
    file.write_text(command("receipts", "consistency", "536")[1])
    assert checked(command, file) == [], "the log extends what it was when its last pruned record was the newest"
    assert command("receipts", "show", "req_0001")[0] == 1
    assert command("receipts", "consistency", "300") == (1, "")
    assert "pruned" in command.errors


def test_a_pruned_log_continues(command: Command, days: Path) -> None:
    async def append(log: ReceiptLog, request_id: str) -> None:
        await log.append(draft(request_id, policy=DEFAULT), "key_anna")
        log.check()
        assert (await log.verify(request_id, OPERATOR)).valid

    with opened(days) as running:
        assert command("receipts", "prune", "--before", "2026-03-03")[0] == 0
        running.check()
        asyncio.run(append(running, "req_0a01"))
    with opened(days) as log:
        asyncio.run(append(log, "req_0a02"))
    assert command("keys", "rotate", "--signing")[0] == 0
    assert command("receipts", "prune", "--before", "2026-03-05")[0] == 0
    with opened(days) as log:
        asyncio.run(append(log, "req_0a03"))
    assert command.json("receipts", "verify")[1]["valid"]


def test_a_request_that_has_not_ended_is_not_pruned(
    command: Command, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stream may begin before midnight and end after it."""

    async def begin(log: ReceiptLog) -> None:
        for request_id, operation in (("req_0001", "protect"), ("req_0002", "chat"), ("req_0003", "protect")):
            await log.append(draft(request_id, operation=operation, policy=DEFAULT), "key_anna")

    async def end(log: ReceiptLog) -> str:
        log.append_outcome("req_0002", OutcomeDraft("answered", 200, (5, 7)), "key_anna")
        return str((await log.get("req_0002", OPERATOR)).as_dict()["outcome"]["outcome"])

    with opened(data_dir) as running:
        monkeypatch.setattr(records, "_now", lambda: "2026-03-01T23:59:59.000Z")
        asyncio.run(begin(running))
        monkeypatch.setattr(records, "_now", lambda: "2026-03-02T00:00:09.000Z")
        status, done = command.json("receipts", "prune", "--before", "2026-03-02")
        assert (status, done["deleted"], done["held_up"]) == (0, 1, True)
        assert "until the oldest request among them ends" in command("receipts", "prune", "--before", "2026-03-02")[1]
        assert asyncio.run(end(running)) == "answered"
    monkeypatch.setattr(records, "_now", lambda: "2026-03-03T12:00:00.000Z")
    done = command.json("receipts", "prune", "--before", "2026-03-03")[1]
    assert (done["deleted"], done["held_up"]) == (4, False)
    assert command.json("receipts", "verify")[1]["valid"]


def test_a_request_is_pruned_whole_or_not_at_all() -> None:
    rows = [(number, "receipt" if number % 2 else "outcome", number - 1 + number % 2) for number in range(1, 11)]
    assert boundary(rows) == 10
    # The outcome of the receipt at 3 comes last.
    late = [(n, kind, of) for n, kind, of in rows if n != 4]
    late = [(at, kind, of) for at, (_, kind, of) in enumerate(late, start=1)]
    assert boundary([*late, (10, "outcome", 3)]) == 10
    assert boundary(late, elsewhere={3}) == 2
    assert boundary([(1, "receipt", 1)], elsewhere={1}) is None


def boundary(rows: list[tuple[int, str, int]], elsewhere: frozenset[int] | set[int] = frozenset()) -> int | None:
    from gateway.store.rows import StoredRecord

    class Receipts:
        def filed(self, request_id: str) -> dict[str, tuple[str, str]]:
            return {"outcome": ("", "")} if int(request_id) in elsewhere else {}

    stored = [StoredRecord(number, kind.encode(), b"%d" % of, None, None, None) for number, kind, of in rows]
    return pruning._without_halves(Receipts(), stored)  # type: ignore[arg-type]


ATTACKS = {
    "the record of it removed": "DELETE FROM receipts WHERE kind = 'pruning'",
    "one more record deleted": "DELETE FROM receipts WHERE sequence = (SELECT min(sequence) FROM receipts)",
    "another size": "UPDATE receipts SET body = replace(body, '\"size\":10', '\"size\":11') WHERE kind = 'pruning'",
    "one more record deleted, and said so": "DELETE FROM receipts WHERE sequence = 11;"
    "UPDATE receipts SET body = replace(body, '\"size\":10', '\"size\":11') WHERE kind = 'pruning'",
    "a leaf changed": "UPDATE receipts_tree SET hash = zeroblob(32) WHERE level = 0 AND number = 9",
    "the leaves removed": "DELETE FROM receipts_tree WHERE level = 0",
    "a record copied before the first": "INSERT INTO receipts "
    "SELECT 3, kind, 'req_copied', owner, body, hash, signature FROM receipts WHERE sequence = 11",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_on_a_pruned_log_is_named(name: str, command: Command, days: Path, tmp_path: Path) -> None:
    assert command("receipts", "prune", "--before", "2026-03-02")[0] == 0
    with closing(sqlite3.connect(days / "gateway.db")) as db:
        db.executescript(ATTACKS[name])
    status, done = command.json("receipts", "verify")
    assert (status, done["valid"]) == (1, False)
    # Leaves that were deleted count for proofs alone.
    if "lea" not in name:
        with opened(days) as log, pytest.raises(Unavailable, match="broken"):
            log.check()


def test_changed_records_are_not_pruned(command: Command, days: Path) -> None:
    sql(days, "UPDATE receipts SET body = replace(body, '120', '121') WHERE sequence = 3")
    assert command("receipts", "prune", "--before", "2026-03-02") == (1, "")
    assert "records before that day were changed" in command.errors
    assert "2026-03-01" in days_of(days)


def test_records_cut_from_an_export_are_missed(command: Command, days: Path, tmp_path: Path) -> None:
    """An attacker who cuts the first records off needs a record that says so, signed with the key."""
    file, cut = tmp_path / "log.ndjson", tmp_path / "cut.ndjson"
    assert command("receipts", "export", "--by-day", str(tmp_path / "days"))[0] == 0
    assert command("receipts", "export", "--output", str(file))[0] == 0
    whole, second = lines_of(file), lines_of(tmp_path / "days" / "2026" / "03" / "2026-03-02.ndjson")
    cut.write_text("".join(json.dumps(line) + "\n" for line in [whole[0], second[1], *whole[11:]]))
    assert checked(command, cut) == ["start"]


def test_each_day_is_verified_alone(command: Command, days: Path, tmp_path: Path) -> None:
    folder = tmp_path / "days"
    status, done = command.json("receipts", "export", "--by-day", str(folder))
    assert (status, done["records"]) == (0, SIZE)
    files = [folder / "2026" / "03" / f"{day}.ndjson" for day, _ in DAYS]
    assert [entry["file"] for entry in done["files"]] == [str(file) for file in files]
    assert [entry["records"] for entry in done["files"]] == [2 * number for _, number in DAYS]
    for file in files:
        assert checked(command, file) == []
        assert file.stat().st_mode & 0o077 == 0
    for one, other in pairwise(map(lines_of, files)):
        assert (one[-1]["size"], one[-1]["hash"]) == (other[1]["size"], other[1]["hash"]), "no record lies between them"
    key = load_signer(days).public_bytes.hex()
    said = command("receipts", "verify", str(files[2]), "--key", key)[1]
    assert "Valid: records 531 to 536 of the log." in said


DAY_ATTACKS = {
    "another-day": lambda lines: lines[0].update(day="2026-03-01"),
    "no-day": lambda lines: lines[0].pop("day"),
    "no-start": lambda lines: lines.pop(1),
    "another-start": lambda lines: lines[1].update(size=529),
    "another-hash-before": lambda lines: lines[1].update(hash="c3" * 32),
    "another-frontier": lambda lines: lines[1]["frontier"].__setitem__(0, "c3" * 32),
    "a-shorter-frontier": lambda lines: lines[1]["frontier"].pop(),
    "a-frontier-of-numbers": lambda lines: lines[1].update(frontier=[1, 2]),
    "a-negative-start": lambda lines: lines[1].update(size=-1, frontier=[]),
    "a-note-beside-the-start": lambda lines: lines[1].update(note="audited"),
    "a-start-in-the-middle": lambda lines: lines.insert(3, lines[1]),
    "first-record-dropped": lambda lines: lines.pop(2),
    "first-record-dropped-and-the-start-moved": lambda lines: (
        lines[1].update(size=531, hash=lines[2]["record"]["hash"]),
        lines.pop(2),
    ),
    "last-record-dropped": lambda lines: lines.pop(-2),
    "a-record-changed": lambda lines: lines[2]["record"].update(route="direct"),
}


@pytest.mark.parametrize("name", DAY_ATTACKS)
def test_a_changed_day_is_refused(name: str, command: Command, days: Path, tmp_path: Path) -> None:
    assert command("receipts", "export", "--by-day", str(tmp_path))[0] == 0
    file = tmp_path / "2026" / "03" / "2026-03-03.ndjson"
    lines = lines_of(file)
    DAY_ATTACKS[name](lines)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert checked(command, file)


def test_a_file_keeps_what_was_pruned_since(command: Command, days: Path, tmp_path: Path) -> None:
    assert command("receipts", "export", "--by-day", str(tmp_path))[0] == 0
    first, second = (tmp_path / "2026" / "03" / f"2026-03-0{day}.ndjson" for day in (1, 2))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pruning, "_is_before", lambda row, before: row.sequence <= 100)
        assert command("receipts", "prune", "--before", "2026-03-02")[0] == 0
    before = first.read_bytes(), second.read_bytes()
    assert command("receipts", "export", "--by-day", str(tmp_path))[0] == 0
    assert (first.read_bytes(), second.read_bytes()) == before
    assert checked(command, second) == []
    second.unlink()
    assert command("receipts", "export", "--by-day", str(tmp_path))[0] == 0
    assert lines_of(second)[1]["size"] == 100
    assert checked(command, second) == []


def test_a_file_keeps_what_the_log_lost(
    command: Command, days: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "_now", lambda: "2026-03-05T12:00:00.000Z")

    def fill(*ids: str) -> None:
        with opened(days) as log:
            for request_id in ids:
                asyncio.run(log.append(draft(request_id, policy=DEFAULT), "key_anna"))

    backup = shutil.copytree(days, tmp_path / "backup")
    folder = tmp_path / "days"
    fill("req_a1", "req_a2")
    assert command("receipts", "export", "--by-day", str(folder))[0] == 0
    file = folder / "2026" / "03" / "2026-03-05.ndjson"
    archived = file.read_bytes()
    shutil.rmtree(days)
    shutil.copytree(backup, days)
    for later in ((), ("req_b1", "req_b2", "req_b3")):
        fill(*later)
        assert command("receipts", "export", "--by-day", str(folder)) == (1, "")
        assert f"{file} has records that the log does not have. Move it away" in command.errors
        assert file.read_bytes() == archived
    file.rename(tmp_path / "kept.ndjson")
    assert command("receipts", "export", "--by-day", str(folder))[0] == 0
    assert checked(command, file) == []


def test_a_day_in_another_form_is_explained(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command("receipts", "prune", "--before", "yesterday")
    assert "write a day as YYYY-MM-DD" in capsys.readouterr().err


def test_a_folder_without_a_log_stays_as_it_is(command: Command, data_dir: Path) -> None:
    assert command("receipts", "prune", "--before", "2026-03-02") == (2, "")
    assert list(data_dir.iterdir()) == []
    with pytest.raises(SystemExit):
        command("receipts", "prune", "--before", "2999-01-01")
