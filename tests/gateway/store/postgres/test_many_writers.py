"""Several processes write one log while one of them is killed and the server crashes: no durable receipt is lost."""

import signal
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import SecretStr

from gateway.config.database_url import Database
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.signing_key import load_signer
from gateway.receipts.signing import new_key
from gateway.store import open_store
from tests import postgres
from tests.conftest import ROOT
from tests.gateway.receipt_log.support import OPERATOR

# Appends receipts, a few at a time, and says which are durable, until its input ends.
WRITER = """
import asyncio, sys, threading
from pathlib import Path
from pydantic import SecretStr
from gateway.config.database_url import Database
from gateway.errors import Unavailable
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.signing_key import load_signer
from gateway.store import open_store
from tests.gateway.receipt_log.support import draft

folder, ended = Path(sys.argv[1]), threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
store = open_store(folder, Database(sys.argv[2]))
log = ReceiptLog(store, load_signer(folder, SecretStr(sys.argv[3])), folder)

async def append():
    while not ended.is_set():
        try:
            print((await log.append(draft(), "key_anna")).request_id, flush=True)
        except Unavailable:
            await asyncio.sleep(0.05)

async def main():
    await asyncio.gather(*(append() for _ in range(4)))

asyncio.run(main())
store.close()
"""


class Writer:
    """A process, and the receipts of which it said that they are durable."""

    def __init__(self, folder: Path, database: Database, key: str) -> None:
        folder.mkdir(mode=0o700)
        command = [sys.executable, "-c", WRITER, str(folder), database.url, key]
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.said: list[str] = []
        self._grew = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._grew:
                self.said.append(line.strip())
                self._grew.notify_all()

    def wait_for(self, more: int) -> None:
        with self._grew:
            least = len(self.said) + more
            assert self._grew.wait_for(lambda: len(self.said) >= least, 120)

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(60) == 0

    def close(self) -> None:
        self.process.kill()
        # Closes the pipes, whose end the reader has seen by then.
        with self.process:
            self._reader.join()


@pytest.mark.slow
async def test_a_killed_writer_and_a_crash_of_the_server_lose_no_durable_receipt(tmp_path: Path) -> None:
    if (reason := postgres.missing()) is not None:
        pytest.skip(reason)
    folder, key = postgres.new_folder(), new_key().decode()
    server = postgres.start(folder)
    database = Database(server.url("postgres"))
    open_store(tmp_path, database).close()
    writers = [Writer(tmp_path / f"writer-{number}", database, key) for number in range(3)]
    try:
        for each in writers:
            each.wait_for(20)
        killed, *rest = writers
        killed.process.kill()
        for each in rest:
            each.wait_for(20)
        server.stop(signal.SIGQUIT)
        server = postgres.start(folder)
        for each in rest:
            each.wait_for(20)
            each.end()
        killed.process.wait(60)
        with closing(open_store(tmp_path, database)) as store:
            (tmp_path / "reader").mkdir(mode=0o700)
            log = ReceiptLog(store, load_signer(tmp_path / "reader", SecretStr(key)), tmp_path / "reader")
            log.check()
            said = {request_id for each in writers for request_id in each.said}
            stored = {receipt.request_id for receipt in (await log.list(OPERATOR, 10_000, 0))[0]}
            assert len(said) >= 120
            assert said <= stored
            assert (await log.verify(min(said), OPERATOR)).valid
            assert store.read_now(lambda stored: stored.receipts.bounds()) == (1, len(stored))
    finally:
        for each in writers:
            each.close()
        server.stop(signal.SIGQUIT)
