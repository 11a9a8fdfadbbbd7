"""Receipts survive the end of a process, and several processes keep one log."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gateway.receipt_log.checkpoint_file import read_checkpoint
from gateway.receipt_log.signing_key import load_signer
from tests.conftest import ROOT
from tests.gateway.receipt_log.support import OPERATOR, draft, opened, raw_rows, reference_check

pytestmark = pytest.mark.slow

# Appends receipts with an outcome each, several at a time, and says which are durable.
WRITER = """
import asyncio, sys
from pathlib import Path
from gateway.receipts.drafts import OutcomeDraft
from tests.gateway.receipt_log.support import draft, opened

async def client(log, count):
    for _ in range(count):
        receipt = await log.append(draft(), "key_anna")
        print(receipt.request_id, flush=True)
        log.append_outcome(receipt.request_id, OutcomeDraft("answered", 200, (1, 2)), "key_anna")

async def main():
    with opened(Path(sys.argv[1])) as log:
        print("ready", flush=True)
        await asyncio.gather(*(client(log, int(sys.argv[2])) for _ in range(4)))

asyncio.run(main())
"""


@contextmanager
def writer(data_dir: Path, count: int) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(data_dir), str(count)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    with process:
        yield process


async def test_acknowledged_receipts_survive_sigkill(data_dir: Path) -> None:
    with writer(data_dir, 100_000) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline().strip() for _ in range(200)]
        process.send_signal(signal.SIGKILL)
        # Lines between the last one read and the signal count as well.
        lines += process.stdout.read().split()
        assert process.wait(30) == -signal.SIGKILL
    acknowledged = {line for line in lines if len(line) == len("req_") + 32}
    assert len(acknowledged) >= 190
    path = data_dir / "gateway.db"
    size = reference_check(path, load_signer(data_dir).public_key)
    remembered = read_checkpoint(data_dir)
    assert remembered is None or remembered.size <= size, "it is never ahead of the log"
    assert acknowledged <= {request_id for _, kind, request_id, *_ in raw_rows(path) if kind == "receipt"}
    with opened(data_dir) as log:
        receipt = await log.append(draft(), "key_anna")
        assert receipt.sequence == size + 1
        assert (await log.verify(receipt.request_id, OPERATOR)).valid


async def test_two_processes_keep_one_linear_chain(data_dir: Path) -> None:
    with writer(data_dir, 25) as first, writer(data_dir, 25) as second, opened(data_dir) as log:
        # A third one, while both are writing.
        for _ in range(20):
            await log.append(draft(), "key_bert")
            await asyncio.sleep(0.005)
        said = [await asyncio.to_thread(process.communicate) for process in (first, second)]
        assert (first.returncode, second.returncode) == (0, 0)
        size = 2 * 2 * 4 * 25 + 20
        rows, total = await log.list(OPERATOR, 1, 0)
        assert total == 2 * 4 * 25 + 20
        verification = await log.verify(rows[0].request_id, OPERATOR)
        assert verification.valid
        assert verification.log.size == size
    assert all(len(out.split()) == 1 + 4 * 25 for out, _ in said)
    assert reference_check(data_dir / "gateway.db", load_signer(data_dir).public_key) == size


async def test_a_writer_stuck_elsewhere_is_waited_for(data_dir: Path) -> None:
    code = (
        "import sqlite3, sys, time\n"
        "conn = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "conn.execute('BEGIN IMMEDIATE'); print('held', flush=True); time.sleep(0.3); conn.execute('COMMIT')\n"
    )
    with opened(data_dir) as log:
        command = [sys.executable, "-c", code, str(data_dir / "gateway.db")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:  # noqa: ASYNC220
            assert other.stdout is not None
            assert other.stdout.readline() == "held\n"
            assert await log.append(draft(), "key_anna")
        assert other.returncode == 0
