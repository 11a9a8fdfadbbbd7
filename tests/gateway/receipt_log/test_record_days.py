"""Records with a wrong clock: none keeps others from being deleted, has newer ones deleted, or is lost to an export."""

import asyncio
import json
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from gateway.receipt_log import pruning
from gateway.receipt_log.pruning import count_before
from gateway.receipt_log.record_days import in_order, runs_of, true_days
from gateway.receipts import records
from gateway.store.rows import StoredRecord
from tests.conftest import vectors
from tests.gateway.cli.support import DEFAULT, Command, checked
from tests.gateway.receipt_log.support import draft, lines_of, opened

CASES = vectors("receipt_logs/clocks")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_wrong_clock_neither_blocks_nor_loses(case: dict[str, Any]) -> None:
    days = [day for day, number in case["log"] for _ in range(number)]
    rows = [_row(number, day) for number, day in enumerate(days, start=1)]
    assert count_before(rows, date.fromisoformat(case["before"])) == case["deleted"]
    filed = [run.day for run in true_days(runs_of(days)) for _ in range(run.size)]
    assert [[day, len(list(same))] for day, same in groupby(filed)] == case["filed"]


def _row(number: int, day: str) -> StoredRecord:
    body = {"created_at": f"{day}T12:00:00.000Z"} if day else {}
    return StoredRecord(number, b"receipt", b"", json.dumps(body).encode(), b"", b"")


def test_of_as_good_choices_the_latest_days_are_taken() -> None:
    runs = runs_of(["2026-03-01", "2026-03-09", "2026-03-02"])
    assert in_order(runs, "2026-03-31") == [0, 1]
    assert in_order(runs, "2026-03-08") == [0, 2]
    assert (in_order([], "2026-03-31"), true_days([])) == ([], [])


@pytest.mark.slow
def test_a_log_with_a_wrong_clock_is_exported_and_pruned_whole(
    command: Command, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = ["2026-03-01", "2099-01-01", "2026-03-01", "2026-03-05", "1970-01-01", "2026-03-05"]

    async def fill() -> None:
        for day in times:
            monkeypatch.setattr(records, "_now", lambda day=day: f"{day}T12:00:00.000Z")
            await log.append(draft(policy=DEFAULT, operation="protect"), "key_anna")

    with opened(data_dir) as log:
        asyncio.run(fill())
    folder = tmp_path / "days"
    assert command("receipts", "export", "--by-day", folder)[0] == 0
    files = sorted(folder.rglob("*.ndjson"))
    assert [file.stem for file in files] == ["2026-03-01", "2026-03-05"]
    for file in files:
        assert checked(command, file) == []
        assert len(lines_of(file)) == 6, "header, start, three records and head"
    # A file that was written while its day was taken for right is no reason to leave out the day's own records.
    files[1].rename(files[1].with_name("2026-03-04.ndjson"))
    files[0].rename(files[1])
    assert command("receipts", "export", "--by-day", folder)[0] == 0
    assert (checked(command, files[1]), len(lines_of(files[1]))) == ([], 6)
    monkeypatch.setattr(records, "_now", lambda: "2026-03-05T13:00:00.000Z")
    assert command.json("receipts", "prune", "--before", "2026-03-05")[1]["deleted"] == 3
    status, done = command.json("receipts", "verify")
    assert (status, done["first"]) == (0, 4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "deleted"), [("2026-03-01", 0), ("2026-03-02", 45), ("2026-03-05", 45)], ids=["none", "some", "all"]
)
def test_any_number_of_records_from_the_future_is_pruned(
    command: Command, data_dir: Path, monkeypatch: pytest.MonkeyPatch, before: str, deleted: int
) -> None:
    """There are more of them than are deleted at once."""
    monkeypatch.setattr(pruning, "AT_ONCE", 4)
    times = ["2099-01-01"] * 40 + ["2026-03-01"] * 5 + ["2026-03-05"] * 3

    async def fill() -> None:
        for day in times:
            monkeypatch.setattr(records, "_now", lambda day=day: f"{day}T12:00:00.000Z")
            await log.append(draft(policy=DEFAULT, operation="protect"), "key_anna")

    with opened(data_dir) as log:
        asyncio.run(fill())
        held_up = log._store.read_now(lambda stored: pruning.is_held_up(stored.receipts, date.fromisoformat(before)))
        assert held_up is (deleted > 0)
    monkeypatch.setattr(records, "_now", lambda: "2026-03-05T13:00:00.000Z")
    done = command.json("receipts", "prune", "--before", before)[1]
    assert (done["deleted"], done["held_up"]) == (deleted, False)
    assert command.json("receipts", "verify")[1].get("first", 1) == deleted + 1
