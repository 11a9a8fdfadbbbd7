"""Exchanges of a process that was killed get an outcome when the next one starts, if no other is running."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.receipt_log.interrupted import FILE, Interrupted
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.signing_key import load_signer
from gateway.receipts.drafts import EXCHANGES, OPERATIONS, OutcomeDraft
from gateway.store import open_store
from tests.gateway.receipt_log.support import OPERATOR, draft, opened

HOLDER = """
import sys, time
from pathlib import Path
from gateway.receipt_log.interrupted import RunLock
RunLock(Path(sys.argv[1])).share()
print("held", flush=True)
sys.stdin.read()
"""


async def start(data_dir: Path) -> None:
    """Does what a start does with the exchanges that it finds."""
    store = open_store(data_dir)
    interrupted = Interrupted(store, ReceiptLog(store, load_signer(data_dir), data_dir), data_dir)
    await interrupted.close_all()
    store.close()
    interrupted.release()


def closed(data_dir: Path) -> object:
    return json.loads((data_dir / FILE).read_bytes() or b"null")


async def outcomes(data_dir: Path) -> dict[str, str | None]:
    with opened(data_dir) as log:
        found = [receipt.as_dict() for receipt in (await log.list(OPERATOR, 100, 0))[0]]
        assert (await log.verify(found[0]["request_id"], OPERATOR)).valid
        return {each["operation"]: each.get("outcome", {}).get("outcome") for each in found}


async def test_only_exchanges_without_an_outcome_are_closed(data_dir: Path) -> None:
    with opened(data_dir) as log:
        answered = await log.append(draft(operation="messages"), "key_anna")
        log.append_outcome(answered.request_id, OutcomeDraft("answered", 200, None), "key_anna")
        for operation in sorted(OPERATIONS - {"messages"}):
            await log.append(draft(operation=operation), "key_anna")
    await start(data_dir)
    expected = {operation: "interrupted" if operation in EXCHANGES else None for operation in OPERATIONS}
    assert await outcomes(data_dir) == expected | {"messages": "answered"}


async def test_closed_exchanges_are_not_looked_at_again(data_dir: Path) -> None:
    for operation in ("chat", "messages"):
        with opened(data_dir) as log:
            await log.append(draft(operation=operation), "key_anna")
    (data_dir / FILE).write_text('{"closed": 1}')
    await start(data_dir)
    assert await outcomes(data_dir) == {"chat": None, "messages": "interrupted"}
    assert closed(data_dir) == {"closed": 2}
    await start(data_dir)
    assert closed(data_dir) == {"closed": 3}, "the outcome is a record, too"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"closed": "7"}', b'{"closed": 1000}'])
async def test_a_file_that_cannot_be_right_is_ignored(data_dir: Path, content: bytes) -> None:
    with opened(data_dir) as log:
        await log.append(draft(), "key_anna")
    (data_dir / FILE).write_bytes(content)
    await start(data_dir)
    assert await outcomes(data_dir) == {"chat": "interrupted"}


@pytest.mark.slow
async def test_exchanges_of_other_processes_stay_open(data_dir: Path) -> None:
    with opened(data_dir) as log:
        await log.append(draft(), "key_anna")
    command = [sys.executable, "-c", HOLDER, str(data_dir)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:  # noqa: ASYNC220
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        await start(data_dir)
        assert await outcomes(data_dir) == {"chat": None}
        other.kill()
    await start(data_dir)
    assert await outcomes(data_dir) == {"chat": "interrupted"}


async def test_a_log_that_is_broken_is_left_alone(data_dir: Path) -> None:
    with opened(data_dir) as log:
        await log.append(draft(), "key_anna")
        await log.append(draft(), "key_anna")
    store = open_store(data_dir)
    store.submit(lambda stored: stored.receipts.set_head(1, "0" * 64, "nobody signed this")).result()
    store.close()
    await start(data_dir)
    assert closed(data_dir) is None
