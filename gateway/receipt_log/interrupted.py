"""Closes the exchanges of a gateway that was killed: they have a receipt, and nothing else writes their outcome.

    gateway.lock   {"closed": 1234}

Each process that appends to the log holds a shared lock on this file. One that gets it exclusively when it starts runs
alone, so no exchange in the log is under way. All exchanges among the first `closed` records have an outcome.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Sequence
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
_LOOK_SECONDS = 15.0

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

    def __init__(self, store: Store, log: ReceiptLog, folder: Path, *, shared: bool = False) -> None:
        """Takes the lock, and notes where the log ends before this process appends to it. Raises OSError.

        In a log that is `shared` with other machines, their store says which instances ended.
        """
        self._shared = shared
        self._store = store
        self._log = log
        self._lock = RunLock(folder)
        head = store.read_now(lambda stored: stored.receipts.head())
        self._size = head.size if head is not None and self._lock.alone and not shared else 0
        if not self._lock.alone:
            _log.info("another process appends to the receipt log in data_dir, too")
        self._lock.share()

    async def close_all(self) -> None:
        """Records the outcome of each, in the background of a start. The next start does what this one could not.

        In a shared log, does so whenever another instance ends, and runs until it is cancelled.
        """
        while self._shared:
            try:
                await self._close_ended()
            except Unavailable as error:
                _log.warning("interrupted requests of other instances are not closed: %s", error.code)
            await asyncio.sleep(_LOOK_SECONDS)
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

    async def _close_ended(self) -> None:
        ended = await self._store.read(lambda stored: stored.receipts.ended_instances())
        if not ended:
            return
        self._log.check()
        head = await self._store.read(lambda stored: stored.receipts.head())
        size = head.size if head is not None else 0
        for start in range(min(ended.values()), size + 1, _CHUNK):
            await self._close_some(start, min(start + _CHUNK - 1, size), [*ended])
        await self._store.write(lambda stored: stored.receipts.forget_instances([*ended]))

    async def _close_some(self, first: int, last: int, instances: Sequence[str] = ()) -> None:
        async def find() -> list[OpenReceipt]:
            return await self._store.read(lambda stored: open_exchanges(stored.receipts, first, last, instances))

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
