"""The only thread that writes, for every backend. All queued operations share one transaction and one disk flush.

Each operation runs in its own savepoint, so that one that fails undoes nothing else.
"""

import asyncio
import concurrent.futures
import logging
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gateway.errors import Unavailable
from gateway.store.interfaces import Repositories
from gateway.store.repeated_failures import RepeatedFailures

type Work = Callable[[Repositories], Any]

_log = logging.getLogger(__name__)

WRITE_LIMIT = 4096
# Work that follows from an accepted request, such as an outcome, still finds room when new requests do not.
SUBMIT_LIMIT = 2 * WRITE_LIMIT
_BATCH = 512
# How long work that no request waits for may stay queued, to share a transaction with work that one waits for.
_PATIENCE_SECONDS = 0.004


@dataclass(slots=True)
class Operation:
    """Work, and the future of its result. Without work it is a barrier, which only waits its turn.

    An operation that `collects` writes nothing itself; a `before_commit` hook writes what it collected. Its work may
    ask for the records of the request `about`.
    """

    work: Work | None
    waiter: "asyncio.Future[Any] | concurrent.futures.Future[Any]"
    collects: bool = False
    about: str = ""
    result: Any = None
    error: BaseException | None = None


class GroupCommit(ABC):
    """Owns the thread that writes and its queue. A backend begins and ends the transactions."""

    chore_seconds = 1.0
    """Between two attempts at a chore."""

    def __init__(self) -> None:
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
        self._closing = False
        self._has_chore = False
        self._next_attempt = float("-inf")
        # The hooks of `Store`.
        self.before_commit: list[Callable[[Repositories], None]] = []
        self.after_commit: list[Callable[[], None]] = []
        self.after_transaction: list[Callable[[], None]] = []
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @abstractmethod
    def _begin(self, about: list[str]) -> Repositories:
        """Begins a transaction that no other overlaps, in any process, and looks up the records of requests."""

    @abstractmethod
    def _commit(self) -> None:
        """Makes the transaction durable, or raises."""

    @abstractmethod
    def _roll_back(self) -> None:
        """Undoes the transaction, if there is one."""

    @abstractmethod
    def _savepoint(self, statement: str) -> None:
        """Runs a statement about a savepoint."""

    @abstractmethod
    def _note_failure(self, error: Exception) -> None:
        """Learns why a transaction failed, after it was undone."""

    @abstractmethod
    def _do_chore(self) -> None:
        """Works on what `_has_chore` announces, between two transactions."""

    @abstractmethod
    def _close(self) -> None:
        """Closes the connection."""

    @abstractmethod
    def _translated(self, error: Exception) -> Exception:
        """Translates an error for callers."""

    @abstractmethod
    def _name(self, error: BaseException) -> str:
        """Names an error for logs and messages. Its own message could quote a value."""

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

    def do_chore_soon(self) -> None:
        """Has the backend erase what was deleted."""
        with self._changed:
            self._has_chore = True
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
            if self._has_chore and time.monotonic() >= self._next_attempt:
                self._attempt_chore()
            with self._changed:
                self._busy = False
        self._close()

    def _attempt_chore(self) -> None:
        try:
            self._do_chore()
        finally:
            self._next_attempt = time.monotonic() + self.chore_seconds

    def _take(self) -> list[Operation] | None:
        """Returns the next batch, an empty one if there is only a chore to do, None at the end."""
        with self._changed:
            # A chore is retried after a while if readers were in the way.
            while not (self._queue or self._closing):
                if not self._changed.wait(self.chore_seconds if self._has_chore else None) or self._has_chore:
                    break
            if not self._queue and self._closing:
                return None
            if self._queue and not self._urgent and not self._closing and not self._has_chore:
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
        try:
            repositories = self._begin([operation.about for operation in batch if operation.about])
            for operation in batch:
                if operation.work is not None:
                    self._do_one(operation, operation.work, repositories)
            for work in self.before_commit:
                work(repositories)
            self._commit()
        except Exception as error:  # noqa: BLE001 - the thread must survive every failure; the waiters are told
            self._failures.add(error.message if isinstance(error, Unavailable) else self._name(error))
            self._roll_back()
            self._note_failure(error)
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

    def _do_one(self, operation: Operation, work: Work, repositories: Repositories) -> None:
        if not operation.collects:
            self._savepoint("SAVEPOINT operation")
        try:
            operation.result = work(repositories)
        except BaseException as error:  # noqa: BLE001 - passed to the waiter; a stray CancelledError must not end the thread
            # Passed on unchanged, these would end something else: a task, a generator, the process.
            if isinstance(error, Exception) and not isinstance(error, StopIteration):
                operation.error = self._translated(error)
                if operation.error is not error and isinstance(operation.error, Unavailable):
                    self._failures.add(self._name(error))
            else:
                operation.error = RuntimeError(f"the work was ended by {self._name(error)}")
            # Some errors, such as a full disk, end the whole transaction. Then this raises, and the batch fails.
            if not operation.collects:
                self._savepoint("ROLLBACK TO operation")
        if not operation.collects:
            self._savepoint("RELEASE operation")


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
