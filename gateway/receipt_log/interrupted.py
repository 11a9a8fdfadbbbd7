"""Closes the exchanges of a gateway that was killed: they have a receipt, and nothing else writes their outcome.

    gateway.lock   {"closed": 1234}

Each process that appends to the log holds a shared lock on this file. One that gets it exclusively when it starts runs
alone, so no exchange in the log is under way. All exchanges among the first `closed` records have an outcome.
"""

import logging
import os
import sys
from pathlib import Path

import orjson

from gateway.errors import Unavailable
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.pruning import open_exchanges
from gateway.receipts.drafts import OutcomeDraft
from gateway.receipts.records import decoded
from gateway.store import Store
from gateway.store.rows import OpenReceipt

if sys.platform != "win32":
    import fcntl

FILE = "gateway.lock"
OUTCOME = "interrupted"

_CHUNK = 10_000

_log = logging.getLogger(__name__)


class RunLock:
    """Marks the process as one that appends to the log in `folder`, until it ends or calls `close`."""

    def __init__(self, folder: Path) -> None:
        """Raises OSError."""
        self._file = os.open(folder / FILE, os.O_RDWR | os.O_CREAT, 0o600)
        self.alone = _lock_alone(self._file)
        """Whether no other process had the lock. None can get it until `share`."""

    @property
    def closed(self) -> int:
        """The number of records among which every exchange has an outcome."""
        try:
            closed = orjson.loads(os.pread(self._file, 100, 0))["closed"]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            return 0
        return closed if isinstance(closed, int) else 0

    @closed.setter
    def closed(self, size: int) -> None:
        content = orjson.dumps({"closed": size})
        os.pwrite(self._file, content, 0)
        os.ftruncate(self._file, len(content))

    def share(self) -> None:
        """Lets other processes start."""
        if sys.platform != "win32":
            fcntl.flock(self._file, fcntl.LOCK_SH)

    def close(self) -> None:
        os.close(self._file)


class Interrupted:
    """The exchanges that were under way when the last process was killed. Nothing to do where others still run."""

    def __init__(self, store: Store, log: ReceiptLog, folder: Path) -> None:
        """Takes the lock, and notes where the log ends before this process appends to it. Raises OSError."""
        self._store = store
        self._log = log
        self._lock = RunLock(folder)
        head = store.read_now(lambda stored: stored.receipts.head())
        self._size = head.size if head is not None and self._lock.alone else 0
        if not self._lock.alone:
            _log.info("another process appends to the receipt log in data_dir, too")
        self._lock.share()

    async def close_all(self) -> None:
        """Records the outcome of each, in the background of a start. The next start does what this one could not."""
        if not self._size:
            return
        closed = self._lock.closed
        first = closed + 1 if closed <= self._size else 1
        try:
            self._log.check()
            for start in range(first, self._size + 1, _CHUNK):
                await self._close_some(start, min(start + _CHUNK - 1, self._size))
        except Unavailable as error:
            _log.warning("interrupted requests are not closed: %s", error.code)
        else:
            self._lock.closed = self._size

    def release(self) -> None:
        self._lock.close()

    async def _close_some(self, first: int, last: int) -> None:
        async def find() -> list[OpenReceipt]:
            return await self._store.read(lambda stored: open_exchanges(stored.receipts, first, last))

        if not (found := await find()):
            return
        for row in found:
            self._log.append_outcome(decoded(row.request_id), OutcomeDraft(OUTCOME, None, None), row.owner)
        if await find():
            raise Unavailable("Outcomes could not be written.")
        _log.warning("closed %d requests that were under way when the gateway was killed", len(found))


def _lock_alone(file: int) -> bool:
    """Locks a file exclusively, unless another process has locked it. Never does so on Windows."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
