"""Outcomes that the store could not take when they came: a disk that is full is not full for ever."""

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
# Few enough that who writes beside them does not wait for long.
_AT_ONCE = 64


class RetryQueue:
    """What is still to be written, in order. Each attempt follows a transaction of somebody else, so that none is made
    in vain again and again; whether a store that failed is well again, its own check tries.
    """

    def __init__(self, store: Store, durable: Callable[[Record], None]) -> None:
        self._store = store
        self._durable = durable
        # Added to by whoever's loop hears of a failure first; tried from the store's thread.
        self._lock = threading.Lock()
        self._waiting: deque[Write] = deque()
        self._trying = False
        store.after_transaction(self._try)

    def add(self, write: Write) -> bool:
        """Whether there is room to keep it."""
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
