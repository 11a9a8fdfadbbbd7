"""`receipts prune`: what is left of a log still verifies, and continues."""

import asyncio
import json
import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest

from gateway.errors import Unavailable
from gateway.receipt_log import pruning
from gateway.receipt_log.log import ReceiptLog
from gateway.receipts import records
from gateway.receipts.drafts import OutcomeDraft
from tests.conftest import vectors
from tests.gateway.cli.support import DEFAULT, Command, checked
from tests.gateway.receipt_log.support import DAYS, OPERATOR, draft, lines_of, opened, sql

pytestmark = pytest.mark.slow


SIZE = 2 * sum(number for _, number in DAYS)


def days_of(data_dir: Path) -> set[str]:
    return {json.loads(body)["created_at"][:10] for (body,) in sql(data_dir, "SELECT body FROM receipts")}


def test_the_rest_of_a_pruned_log_verifies(command: Command, days: Path, tmp_path: Path) -> None:
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


def test_a_day_may_be_given_as_an_age(command: Command, days: Path) -> None:
    age = date.today() - date(2026, 3, 3)
    done = command.json("receipts", "prune", "--before", f"{age.days}d")[1]
    assert (done["before"], done["deleted"]) == ("2026-03-03", 530)
    assert command.json("receipts", "prune", "--before", "0d")[1]["deleted"] == SIZE - 530


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


ATTACKS = vectors("receipt_logs/pruned")


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


def test_a_folder_without_a_log_stays_as_it_is(
    command: Command, data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("receipts", "prune", "--before", "2026-03-02") == (2, "")
    wrong = "write a day as YYYY-MM-DD, or how long ago it is"
    for day, said in (
        ("2999-01-01", "must not be in the future"),
        ("yesterday", wrong),
        ("30h", wrong),
        ("9999w", wrong),
    ):
        with pytest.raises(SystemExit):
            command("receipts", "prune", "--before", day)
        assert said in capsys.readouterr().err
    assert list(data_dir.iterdir()) == []
