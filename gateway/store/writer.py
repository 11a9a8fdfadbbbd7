"""The one thread that writes. Everything queued goes into one transaction: one fsync for all who wait.

Each piece of work stands in a savepoint of its own, so that a failing one takes nothing else with it.
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

import sqlite_utils

from gateway.errors import Unavailable
from gateway.store.connection import BUSY_SECONDS

type Work = Callable[[sqlite_utils.Database], Any]

_log = logging.getLogger(__name__)

WRITE_LIMIT = 4096
# Work that follows from what was already let in, such as outcomes, still finds room when new requests do not.
SUBMIT_LIMIT = 2 * WRITE_LIMIT
_BATCH = 512
# Work nobody waits for keeps this long for a transaction that is made anyway; it spares the disk one of its own.
_PATIENCE_SECONDS = 0.025
_CHECKPOINT_WAIT_MS = 50
_CHECKPOINT_SECONDS = 1.0


@dataclass(slots=True)
class Operation:
    """A piece of work and the one who waits for it. Without work it is a barrier: it only waits its turn.

    One that `collects` writes nothing itself, but hands what is to be written to one who writes it before the commit.
    """

    work: Work | None
    waiter: "asyncio.Future[Any] | concurrent.futures.Future[Any]"
    collects: bool = False
    result: Any = None
    error: BaseException | None = None

    @property
    def urgent(self) -> bool:
        """Whether a request waits for it."""
        return isinstance(self.waiter, asyncio.Future)


class Writer:
    """Owns the writing connection and its thread."""

    def __init__(self, db: sqlite_utils.Database) -> None:
        self._db = db
        self._queue: deque[Operation] = deque()
        self._urgent = False
        self._changed = threading.Condition()
        self._busy = False
        self._failed = False
        self._closing = False
        self._checkpoint = False
        self._next_checkpoint = float("-inf")
        self._before_commit: list[Callable[[sqlite_utils.Database], None]] = []
        self._after_commit: list[Callable[[], None]] = []
        self._afterwards: list[Callable[[], None]] = []
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    @property
    def idle(self) -> bool:
        """Whether everything put in is done."""
        with self._changed:
            return not self._queue and not self._busy

    @property
    def failed(self) -> bool:
        """Whether the last transaction, or the database in it, failed: the disk is full, say."""
        return self._failed

    def put(self, operation: Operation, limit: int) -> None:
        """Queues an operation. Raises Unavailable (`overloaded`, or after `close`)."""
        with self._changed:
            if self._closing:
                raise Unavailable("The store is closed.")
            if len(self._queue) >= limit:
                message = "Too many requests are waiting for the store. Try again shortly."
                raise Unavailable(message, code="overloaded", retry_after=1)
            self._queue.append(operation)
            if operation.urgent:
                self._urgent = True
            # Later patient work need not wake the thread: the first of it has set the clock.
            if operation.urgent or len(self._queue) in {1, _BATCH}:
                self._changed.notify()

    def before_commit(self, work: Callable[[sqlite_utils.Database], None]) -> None:
        """Runs `work` at the end of every transaction, inside it. If it fails, the transaction fails."""
        self._before_commit.append(work)

    def after_commit(self, work: Callable[[], None]) -> None:
        """Runs `work` after every transaction that is durable."""
        self._after_commit.append(work)

    def afterwards(self, work: Callable[[], None]) -> None:
        """Runs `work` after every transaction, committed or not."""
        self._afterwards.append(work)

    def checkpoint_soon(self) -> None:
        """Asks that the write-ahead log be emptied, so that deleted rows are in no file any more."""
        with self._changed:
            self._checkpoint = True
            self._changed.notify()

    def close(self) -> None:
        """Finishes what is queued, then closes the connection."""
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
            if self._checkpoint and time.monotonic() >= self._next_checkpoint:
                self._empty_wal()
            with self._changed:
                self._busy = False
        self._empty_wal()
        self._db.close()

    def _take(self) -> list[Operation] | None:
        """The next batch; empty when only a checkpoint is wanted, None at the end."""
        with self._changed:
            # A checkpoint that found readers in its way is tried again after a while.
            while not (self._queue or self._closing):
                if not self._changed.wait(_CHECKPOINT_SECONDS if self._checkpoint else None) or self._checkpoint:
                    break
            if not self._queue and self._closing:
                return None
            if self._queue and not self._urgent and not self._closing and not self._checkpoint:
                self._changed.wait_for(lambda: self._urgent or self._closing, _PATIENCE_SECONDS)
            self._busy = True
            batch = [self._queue.popleft() for _ in range(min(len(self._queue), _BATCH))]
            self._urgent = bool(self._queue)
            return batch

    def _do(self, batch: list[Operation]) -> None:
        batch[:] = [operation for operation in batch if _still_wanted(operation)]
        if all(operation.work is None for operation in batch):
            return
        conn = self._db.conn
        try:
            conn.execute("BEGIN IMMEDIATE")
            for operation in batch:
                if operation.work is not None:
                    self._do_one(operation, operation.work)
            for work in self._before_commit:
                work(self._db)
            conn.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - the thread must outlive every failure; the waiters are told
            _log.error("the store could not commit: %s", _name(error))
            self._roll_back()
            for operation in batch:
                # A barrier only says that what came before it is decided, and it is.
                if operation.work is not None and operation.error is None:
                    operation.error = Unavailable("The store cannot write at the moment. Try again shortly.")
        else:
            for hook in self._after_commit:
                hook()
        finally:
            self._failed = any(isinstance(operation.error, Unavailable) for operation in batch)
            for clear in self._afterwards:
                clear()

    def _do_one(self, operation: Operation, work: Work) -> None:
        conn = self._db.conn
        if not operation.collects:
            conn.execute("SAVEPOINT operation")
        try:
            operation.result = work(self._db)
        except BaseException as error:  # noqa: BLE001 - it belongs to who waits; a stray CancelledError ends no thread
            # Handed on as they are, these would end something else there: a task, a generator, the process.
            if isinstance(error, Exception) and not isinstance(error, StopIteration):
                operation.error = readable(error)
            else:
                operation.error = RuntimeError(f"the work was ended by {_name(error)}")
            # Out of space and the like end the whole transaction by themselves; then the batch fails.
            if not operation.collects:
                conn.execute("ROLLBACK TO operation")
        if not operation.collects:
            conn.execute("RELEASE operation")

    def _roll_back(self) -> None:
        try:
            if self._db.conn.in_transaction:
                self._db.conn.execute("ROLLBACK")
        except sqlite3.Error as error:
            _log.error("the store could not roll back: %s", _name(error))

    def _empty_wal(self) -> None:
        """Readers are not to hold up the writer for long; what is not done now is done later."""
        conn = self._db.conn
        self._checkpoint = True
        try:
            conn.execute(f"PRAGMA busy_timeout = {_CHECKPOINT_WAIT_MS}")
            busy, _, _ = conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            self._checkpoint = bool(busy)
        except sqlite3.Error as error:
            _log.warning("the store could not empty its write-ahead log: %s", _name(error))
        finally:
            self._next_checkpoint = time.monotonic() + _CHECKPOINT_SECONDS
            conn.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")


def readable(error: Exception) -> Exception:
    """What the caller is told. A database that is full, locked or damaged is no fault of the caller's."""
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(
        error, sqlite3.IntegrityError | sqlite3.ProgrammingError
    ):
        _log.error("the store failed: %s", _name(error))
        return Unavailable("The store cannot be used at the moment. Try again shortly.")
    return error


def _name(error: BaseException) -> str:
    """Never the message of an error: it could quote a value."""
    return getattr(error, "sqlite_errorname", None) or type(error).__name__


def _still_wanted(operation: Operation) -> bool:
    waiter = operation.waiter
    return not isinstance(waiter, concurrent.futures.Future) or waiter.set_running_or_notify_cancel()


def _settle(batch: list[Operation]) -> None:
    """Wakes everybody who waits: one wake-up for each event loop."""
    loops: dict[asyncio.AbstractEventLoop, list[Operation]] = {}
    for operation in batch:
        if isinstance(operation.waiter, asyncio.Future):
            loops.setdefault(operation.waiter.get_loop(), []).append(operation)
        else:
            _tell(operation)
    for loop, operations in loops.items():
        try:
            loop.call_soon_threadsafe(_tell_all, operations)
        except RuntimeError:
            # The loop was closed meanwhile; nobody waits any more.
            _log.debug("an event loop went away before its %d writes were done", len(operations))


def _tell_all(operations: list[Operation]) -> None:
    for operation in operations:
        if not operation.waiter.done():
            _tell(operation)


def _tell(operation: Operation) -> None:
    if operation.error is not None:
        operation.waiter.set_exception(operation.error)
    else:
        operation.waiter.set_result(operation.result)
