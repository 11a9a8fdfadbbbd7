"""Each day of a log is exported to a file that is verified alone, and that keeps what the log lost."""

import asyncio
import json
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from gateway.receipt_log import pruning
from gateway.receipt_log.signing_key import load_signer
from gateway.receipts import records
from tests.gateway.cli.support import DEFAULT, Command, checked
from tests.gateway.receipt_log.support import DAYS, draft, lines_of, opened

pytestmark = pytest.mark.slow


def test_each_day_is_verified_alone(command: Command, days: Path, tmp_path: Path) -> None:
    folder = tmp_path / "days"
    status, done = command.json("receipts", "export", "--by-day", str(folder))
    assert (status, done["records"]) == (0, 2 * sum(number for _, number in DAYS))
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


def test_records_cut_from_an_export_are_missed(command: Command, days: Path, tmp_path: Path) -> None:
    """An attacker who cuts the first records off needs a record that says so, signed with the key."""
    file, cut = tmp_path / "log.ndjson", tmp_path / "cut.ndjson"
    assert command("receipts", "export", "--by-day", str(tmp_path / "days"))[0] == 0
    assert command("receipts", "export", "--output", str(file))[0] == 0
    whole, second = lines_of(file), lines_of(tmp_path / "days" / "2026" / "03" / "2026-03-02.ndjson")
    cut.write_text("".join(json.dumps(line) + "\n" for line in [whole[0], second[1], *whole[11:]]))
    assert checked(command, cut) == ["start"]


def test_a_file_keeps_what_was_pruned_since(command: Command, days: Path, tmp_path: Path) -> None:
    assert command("receipts", "export", "--by-day", str(tmp_path))[0] == 0
    first, second = (tmp_path / "2026" / "03" / f"2026-03-0{day}.ndjson" for day in (1, 2))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pruning, "count_before", lambda rows, before: sum(row.sequence <= 100 for row in rows))
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
