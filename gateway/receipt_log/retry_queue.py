"""Keeps outcomes that could not be written, because the disk was full, say, and writes them later."""

import concurrent.futures
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice

from gateway.errors import NotFound, Unavailable
from gateway.receipts.records import Record
from gateway.store import Repositories, Store

type Write = Callable[[Repositories], Record | None]

_log = logging.getLogger(__name__)

_MOST = 10_000
# A small batch, so that other writes do not wait for long.
_AT_ONCE = 64


class RetryQueue:
    """Writes that are still to be made, in order.

    Each attempt follows another transaction, so that a failed store is not retried in a loop. The store's own check
    finds out when it works again.
    """

    def __init__(self, store: Store, durable: Callable[[Record], None]) -> None:
        self._store = store
        self._durable = durable
        # Event loops add to it; the store's thread takes from it.
        self._lock = threading.Lock()
        self._waiting: deque[Write] = deque()
        self._trying = False
        store.after_transaction(self._try)

    def add(self, write: Write) -> bool:
        """Queues a write. Returns False when the queue is full."""
        with self._lock:
            if len(self._waiting) >= _MOST:
                return False
            self._waiting.append(write)
            return True

    def _try(self) -> None:
        with self._lock:
            if self._trying or not self._waiting:
                return
            self._trying = True
            batch = list(islice(self._waiting, _AT_ONCE))
        try:
            attempt = self._store.submit(lambda repositories: _all(batch, repositories), collects=True)
        except Unavailable:
            self._end(0)
        else:
            attempt.add_done_callback(lambda done: self._tried(len(batch), done))

    def _tried(self, size: int, done: "concurrent.futures.Future[list[Record]]") -> None:
        error = done.exception()
        if isinstance(error, Unavailable):
            self._end(0)
            return
        self._end(size)
        if error is not None:
            _log.error("%d outcomes could not be recorded: %s", size, type(error).__name__)
            return
        for record in done.result():
            self._durable(record)
        self._try()

    def _end(self, done: int) -> None:
        with self._lock:
            self._trying = False
            for _ in range(done):
                self._waiting.popleft()


def _all(batch: Sequence[Write], repositories: Repositories) -> list[Record]:
    records = []
    for write in batch:
        try:
            record = write(repositories)
        except NotFound as error:
            _log.error("an outcome could not be recorded: %s", error.code)
        else:
            if record is not None:
                records.append(record)
    return records
