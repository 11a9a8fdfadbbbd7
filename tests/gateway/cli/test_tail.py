"""`tail` follows the log while it grows, with the filters of lists, and shows each change in one line."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from gateway.auth.api_keys import KeyRing
from gateway.cli import tail
from gateway.cli.tail import Follower
from gateway.errors import Unavailable
from gateway.models import PolicyRef, Scope
from gateway.receipt_log.log import ReceiptLog
from gateway.receipts.drafts import OutcomeDraft
from gateway.store import FILE, StoreError, open_store
from gateway.store.rows import ALL_RECEIPTS, ReceiptFilter
from tests.conftest import ROOT
from tests.gateway.cli.support import Command
from tests.gateway.receipt_log.support import OPERATOR, draft, opened

pytestmark = pytest.mark.slow


async def begin(log: ReceiptLog, request_id: str, **changes: Any) -> None:
    await log.append(draft(request_id, parties={"api_key_id": "key_anna"}, **changes), "key_anna")


async def end(log: ReceiptLog, request_id: str, outcome: OutcomeDraft) -> None:
    log.append_outcome(request_id, outcome, "key_anna")
    await log.list(OPERATOR, 1, 0)  # Waits until it is written.


def seen(follower: Follower) -> list[tuple[str, str | None]]:
    return [(shown["request_id"], shown.get("outcome", {}).get("outcome")) for shown in follower.look()]


async def test_what_is_new_is_shown_once_in_the_order_of_the_log(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail, "_MOST_RECORDS", 2)
    refused = ReceiptFilter(outcomes=("refused",))
    with opened(data_dir) as log:
        for number in range(3):
            await begin(log, f"req_a{number}")
        every, last, filtered = (
            Follower(data_dir, sought, lines) for sought, lines in ((ALL_RECEIPTS, 0), (ALL_RECEIPTS, 2), (refused, 9))
        )
        assert (seen(every), seen(last), seen(filtered)) == ([], [("req_a1", None), ("req_a2", None)], [])
        assert seen(every) == []
        for number in range(4):
            await begin(log, f"req_b{number}")
        for request_id in ("req_b1", "req_a0", "req_b2"):
            await end(log, request_id, OutcomeDraft("refused" if request_id == "req_a0" else "answered"))
    with opened(data_dir) as log:  # The gateway was started again.
        log.rotate(log._chain._signer)  # A record that is of no request.
        changed = [
            ("req_b0", None),
            ("req_b1", "answered"),
            ("req_b2", "answered"),
            ("req_b3", None),
            ("req_a0", "refused"),
        ]
        assert seen(every) == changed
        assert seen(filtered) == [("req_a0", "refused")]
        await end(log, "req_b0", OutcomeDraft("refused"))
        assert (seen(every), seen(filtered)) == ([("req_b0", "refused")], [("req_b0", "refused")])
        assert (seen(every), seen(filtered)) == ([], [])


async def test_a_database_that_is_away_for_a_while_is_awaited(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail, "_MOST_FAILURES", 2)
    with opened(data_dir) as log:
        await begin(log, "req_a")
    follower, moved = Follower(data_dir, ALL_RECEIPTS, 9), data_dir / "moved.db"
    assert seen(follower) == [("req_a", None)]
    for _ in range(2):
        (data_dir / FILE).rename(moved)
        assert (seen(follower), seen(follower)) == ([], [])
        moved.rename(data_dir / FILE)
        assert seen(follower) == []
    (data_dir / FILE).rename(moved)
    with pytest.raises((StoreError, Unavailable)):
        for _ in range(3):
            follower.look()
    with pytest.raises(StoreError):
        Follower(data_dir, ALL_RECEIPTS, 9).look()


async def test_a_line_with_long_names_fits_the_terminal(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = open_store(data_dir)
    _, key = await KeyRing(store).create("l" * 30 + "-" + "k" * 30, Scope.CLIENT)
    store.close()
    parties = {"api_key_id": key.key_id, "model": "m" * 128, "wire": "anthropic-messages"}
    with opened(data_dir) as log:
        policy = PolicyRef("p" * 64, 1, "a1" * 32)
        await log.append(draft("req_" + "a" * 32, parties=parties, policy=policy), key.key_id)
        await begin(log, "req_b", operation="protect")
        outcome = OutcomeDraft("refused", code="blocked_by_policy", milliseconds=(5, 1234))
        log.append_outcome("req_" + "a" * 32, outcome, key.key_id)
    shown = Follower(data_dir, ALL_RECEIPTS, 9).look()
    for columns in (80, 81, 100, 300):
        lines = [tail._line(tail._cells(each), tail._widths(columns)) for each in shown]
        assert max(map(len, lines)) <= columns
        assert lines[0].split()[1:] == ["aaaaaaaa", *lines[0].split()[2:6], "3", "1234", "blocked_by_policy"]
        assert lines[1].split()[1:] == ["b", *lines[1].split()[2:3], "protect", "default", "-", "3", "-", "protected"]
    whole = tail._line(tail._cells(shown[0]), tail._widths(0))
    assert whole.split()[1:] == [
        "a" * 32,
        key.label,
        parties["wire"],
        policy.id,
        parties["model"],
        "3",
        "1234",
        outcome.code,
    ]


# The tests may have been started with the signal ignored, which is inherited.
HEEDING = (
    "import signal, sys; from run_proxy import main; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "sys.exit(main())"
)


@contextmanager
def started(command: Command, *words: str) -> Iterator[tuple["subprocess.Popen[str]", IO[str]]]:
    """The command in a process of its own, and what it prints."""
    run = [sys.executable, "-c", HEEDING, "tail", *command.folders, "--lines", "1", *words]
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    pipe = subprocess.PIPE
    with subprocess.Popen(run, stdout=pipe, stderr=pipe, text=True, env=environment, cwd=ROOT) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout
        finally:
            process.kill()


def test_the_command_follows_and_ends_when_it_is_interrupted(command: Command, ids: list[str]) -> None:
    with (
        started(command, "--operation", "playground", "--operation", "chat") as (one, text),
        started(command, "--json") as (other, lines),
    ):
        assert text.readline().split()[:3] == ["TIME", "REQUEST", "KEY"]
        assert ids[2].removeprefix("req_") in text.readline()
        assert json.loads(lines.readline())["request_id"] == ids[2]
        with opened(command.data_dir) as log:
            asyncio.run(begin(log, "req_bb", operation="protect"))
            asyncio.run(begin(log, "req_cc"))
        assert text.readline().endswith(" cc key_anna chat default - 3 - …\n")
        assert [json.loads(lines.readline())["request_id"] for _ in range(2)] == ["req_bb", "req_cc"]
        for process in (one, other):
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 128 + signal.SIGINT
            assert process.stderr is not None and process.stderr.read() == ""


def test_filters_that_cannot_be(command: Command, ids: list[str]) -> None:
    status, reply = command.json("tail", "--operation", "SHOE")
    assert (status, reply["error"]["param"]) == (2, "operation")
