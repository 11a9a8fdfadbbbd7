"""The only thread that writes. All queued operations share one transaction and one fsync.

Each operation runs in its own savepoint, so that one that fails undoes nothing else.
"""

import asyncio
import concurrent.futures
import logging
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gateway.errors import Unavailable
from gateway.store.errors import ConstraintViolation
from gateway.store.repeated_failures import RepeatedFailures
from gateway.store.sqlite.connection import BUSY_SECONDS, error_name
from gateway.store.sqlite.database_files import DatabaseFiles
from gateway.store.sqlite.repositories import Repositories

type Work = Callable[[Repositories], Any]

_log = logging.getLogger(__name__)

WRITE_LIMIT = 4096
# Work that follows from an accepted request, such as an outcome, still finds room when new requests do not.
SUBMIT_LIMIT = 2 * WRITE_LIMIT
_BATCH = 512
# How long work that no request waits for may stay queued, to share a transaction with work that one waits for.
_PATIENCE_SECONDS = 0.004
_BUSY_MS = int(BUSY_SECONDS * 1000)
# After a transaction that could not begin, since all that is queued would wait for the same lock, one after the other.
_BUSY_AGAIN_MS = 500
_EMPTYING_WAIT_MS = 50
_EMPTYING_SECONDS = 1.0


@dataclass(slots=True)
class Operation:
    """Work, and the future of its result. Without work it is a barrier, which only waits its turn.

    An operation that `collects` writes nothing itself; a `before_commit` hook writes what it collected.
    """

    work: Work | None
    waiter: "asyncio.Future[Any] | concurrent.futures.Future[Any]"
    collects: bool = False
    result: Any = None
    error: BaseException | None = None


class Writer:
    """Owns the writing connection and its thread."""

    def __init__(self, repositories: Repositories, files: DatabaseFiles) -> None:
        self._repositories = repositories
        self._files = files
        self._conn = repositories.db.conn
        self._queue: deque[Operation] = deque()
        # Whether requests wait for what is queued, and the event loop that is about to say so.
        self._urgent = False
        # When the queue was last empty.
        self._waits_since: float | None = None
        self._hurrying: asyncio.AbstractEventLoop | None = None
        self._changed = threading.Condition()
        self._busy = False
        self._failed = False
        self._failures = RepeatedFailures("the store could not commit: %s", "the store writes again")
        self._wal_failures = RepeatedFailures(
            "the store could not empty its write-ahead log: %s", "the write-ahead log is empty again", logging.WARNING
        )
        # Whether another process held the lock in the last transaction, and how long the connection waits for it.
        self._locked = False
        self._waits_ms = _BUSY_MS
        self._closing = False
        self._wal_to_empty = False
        self._next_attempt = float("-inf")
        # The hooks of `Store`.
        self.before_commit: list[Callable[[Repositories], None]] = []
        self.after_commit: list[Callable[[], None]] = []
        self.after_transaction: list[Callable[[], None]] = []
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    @property
    def idle(self) -> bool:
        """Whether every operation is done."""
        with self._changed:
            return not self._queue and not self._busy

    @property
    def lag(self) -> float:
        """For how many seconds operations have been waiting."""
        since = self._waits_since
        return time.monotonic() - since if since is not None else 0.0

    @property
    def failed(self) -> bool:
        """Whether the database failed in the last transaction, because the disk is full, say."""
        return self._failed

    def put(self, operation: Operation, limit: int) -> None:
        """Queues an operation. Raises Unavailable (`overloaded`, or after `close`)."""
        with self._changed:
            if self._closing:
                raise Unavailable("The store is closed.")
            if len(self._queue) >= limit:
                message = "Too many requests are waiting for the store. Try again shortly."
                raise Unavailable(message, code="overloaded", retry_after=1)
            if not self._queue:
                self._waits_since = time.monotonic()
            self._queue.append(operation)
            # The first operation starts the wait; further ones need not wake the thread.
            if len(self._queue) in {1, _BATCH}:
                self._changed.notify()
            waiter = operation.waiter
            if isinstance(waiter, asyncio.Future) and self._hurrying is not waiter.get_loop():
                # Ends the wait once all callbacks have run that are ready now, since they may have more to write.
                self._hurrying = waiter.get_loop()
                self._hurrying.call_soon(self._hurry)

    def _hurry(self) -> None:
        with self._changed:
            self._hurrying = None
            if self._queue and not self._urgent:
                self._urgent = True
                self._changed.notify()

    def empty_wal_soon(self) -> None:
        """Empties the write-ahead log as soon as no reader needs it, so that no file holds deleted rows."""
        with self._changed:
            self._wal_to_empty = True
            self._changed.notify()

    def close(self) -> None:
        """Completes what is queued, then closes the connection."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while (batch := self._take()) is not None:
            if batch:
                self._do(batch)
                _settle(batch)
                del batch
            if self._wal_to_empty and time.monotonic() >= self._next_attempt:
                self._empty_wal()
            with self._changed:
                self._busy = False
        self._close()

    def _take(self) -> list[Operation] | None:
        """Returns the next batch, an empty one if only the write-ahead log is to be emptied, None at the end."""
        with self._changed:
            # Emptying the log is retried after a while if readers were in the way.
            while not (self._queue or self._closing):
                if not self._changed.wait(_EMPTYING_SECONDS if self._wal_to_empty else None) or self._wal_to_empty:
                    break
            if not self._queue and self._closing:
                return None
            if self._queue and not self._urgent and not self._closing and not self._wal_to_empty:
                self._changed.wait_for(lambda: self._urgent or self._closing, _PATIENCE_SECONDS)
            self._busy = True
            batch = [self._queue.popleft() for _ in range(min(len(self._queue), _BATCH))]
            self._urgent = bool(self._queue)
            if not self._queue:
                self._waits_since = None
            return batch

    def _do(self, batch: list[Operation]) -> None:
        batch[:] = [operation for operation in batch if _still_wanted(operation)]
        if all(operation.work is None for operation in batch):
            return
        conn = self._conn
        try:
            self._wait_for_locks(_BUSY_AGAIN_MS if self._locked else _BUSY_MS)
            self._locked = False
            conn.execute("BEGIN IMMEDIATE")
            for operation in batch:
                if operation.work is not None:
                    self._do_one(operation, operation.work)
            for work in self.before_commit:
                work(self._repositories)
            # The commit may move the log into the database, which another process with a new log does not expect.
            self._files.check()
            conn.execute("COMMIT")
            # A commit to a file that was deleted succeeds, and does not last.
            self._files.check()
        except Exception as error:  # noqa: BLE001 - the thread must survive every failure; the waiters are told
            reason = error.message if isinstance(error, Unavailable) else error_name(error)
            self._failures.add(reason)
            self._locked = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
            self._roll_back()
            if isinstance(error, Unavailable):
                # The contents of a deleted log would be lost with this process.
                self._empty_wal()
            for operation in batch:
                # A barrier only waits for everything before it, so it succeeds.
                if operation.work is not None and operation.error is None:
                    operation.error = Unavailable("The store cannot write at the moment. Try again shortly.")
        else:
            for hook in self.after_commit:
                hook()
        finally:
            self._failed = any(_is_of_store(operation.error) for operation in batch)
            if not self._failed:
                self._failures.end()
            for clear in self.after_transaction:
                clear()

    def _do_one(self, operation: Operation, work: Work) -> None:
        conn = self._conn
        if not operation.collects:
            conn.execute("SAVEPOINT operation")
        try:
            operation.result = work(self._repositories)
        except BaseException as error:  # noqa: BLE001 - passed to the waiter; a stray CancelledError must not end the thread
            # Passed on unchanged, these would end something else: a task, a generator, the process.
            if isinstance(error, Exception) and not isinstance(error, StopIteration):
                operation.error = translated(error)
                if operation.error is not error and isinstance(operation.error, Unavailable):
                    self._failures.add(error_name(error))
            else:
                operation.error = RuntimeError(f"the work was ended by {error_name(error)}")
            # Some errors, such as a full disk, end the whole transaction. Then this raises, and the batch fails.
            if not operation.collects:
                conn.execute("ROLLBACK TO operation")
        if not operation.collects:
            conn.execute("RELEASE operation")

    def _roll_back(self) -> None:
        try:
            if self._conn.in_transaction:
                self._conn.execute("ROLLBACK")
        except sqlite3.Error as error:
            _log.error("the store could not roll back: %s", error_name(error))

    def _close(self) -> None:
        self._empty_wal()
        try:
            self._files.check()
        except Unavailable:
            # Deletes nothing, because the files in these places are not those of this connection.
            self._conn.setconfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE)
        self._repositories.db.close()

    def _empty_wal(self) -> None:
        """Moves the write-ahead log into the database, or retries later if readers are in the way.

        Does nothing once another process has a log of its own: it does not expect these pages to change.
        """
        if self._files.have_a_new_log():
            self._wal_to_empty = False
            return
        conn = self._conn
        self._wal_to_empty = True
        try:
            self._wait_for_locks(_EMPTYING_WAIT_MS)
            busy, _, _ = conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            self._wal_to_empty = bool(busy)
            self._wal_failures.end()
        except sqlite3.Error as error:
            self._wal_failures.add(error_name(error))
        finally:
            self._next_attempt = time.monotonic() + _EMPTYING_SECONDS

    def _wait_for_locks(self, milliseconds: int) -> None:
        if milliseconds != self._waits_ms:
            self._conn.execute(f"PRAGMA busy_timeout = {milliseconds}")
            self._waits_ms = milliseconds


def translated(error: Exception) -> Exception:
    """Translates an error for callers. A full, locked or damaged database is not their mistake."""
    if isinstance(error, sqlite3.IntegrityError):
        return ConstraintViolation(error_name(error))
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.ProgrammingError):
        return Unavailable("The store cannot be used at the moment. Try again shortly.")
    return error


def _is_of_store(error: BaseException | None) -> bool:
    """Whether the database failed, and not what a work found in it, such as a broken log."""
    return isinstance(error, Unavailable) and error.code == Unavailable.default_code


def _still_wanted(operation: Operation) -> bool:
    waiter = operation.waiter
    return not isinstance(waiter, concurrent.futures.Future) or waiter.set_running_or_notify_cancel()


def _settle(batch: list[Operation]) -> None:
    """Completes all futures, with one wake-up for each event loop."""
    loops: dict[asyncio.AbstractEventLoop, list[Operation]] = {}
    for operation in batch:
        if isinstance(operation.waiter, asyncio.Future):
            loops.setdefault(operation.waiter.get_loop(), []).append(operation)
        else:
            _settle_one(operation)
    for loop, operations in loops.items():
        try:
            loop.call_soon_threadsafe(_settle_on_loop, operations)
        except RuntimeError:
            # The loop and all its waiters are gone.
            _log.debug("an event loop was closed before its %d writes were done", len(operations))


def _settle_on_loop(operations: list[Operation]) -> None:
    for operation in operations:
        if not operation.waiter.done():
            _settle_one(operation)


def _settle_one(operation: Operation) -> None:
    if operation.error is not None:
        operation.waiter.set_exception(operation.error)
    else:
        operation.waiter.set_result(operation.result)
