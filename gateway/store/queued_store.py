"""A store whose writes are queued for one thread: the part that all backends share. See `interfaces.Store`."""

import asyncio
import concurrent.futures
from collections.abc import Callable
from typing import Any, Protocol

from gateway.errors import Unavailable
from gateway.store.group_commit import SUBMIT_LIMIT, WRITE_LIMIT, GroupCommit, Operation
from gateway.store.interfaces import Repositories


class Readers(Protocol):
    """Runs work that reads, each on one consistent snapshot."""

    async def run[T](self, work: Callable[[Repositories], T]) -> T:
        """Runs `work` on a thread of its own. Raises Unavailable when the database cannot be read."""

    def run_now[T](self, work: Callable[[Repositories], T]) -> T:
        """Runs `work` on the calling thread."""

    def close(self) -> None:
        """Waits for work in progress, then closes the connections."""


class QueuedStore:
    """Joins a writer and its readers."""

    def __init__(self, writer: GroupCommit, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers
        self._on_close: list[Callable[[], None]] = []
        self.on_close = self._on_close.append
        self.before_commit = writer.before_commit.append
        self.after_commit = writer.after_commit.append
        self.after_transaction = writer.after_transaction.append
        self.erase_deleted_soon = writer.do_chore_soon
        self._trial: concurrent.futures.Future[None] | None = None

    def close(self) -> None:
        self._readers.close()
        self._writer.close()
        for work in self._on_close:
            work()

    async def write[T](self, work: Callable[[Repositories], T], *, collects: bool = False, about: str = "") -> T:
        waiter: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._writer.put(Operation(work, waiter, collects, about), WRITE_LIMIT)
        result: T = await waiter
        return result

    def submit[T](
        self, work: Callable[[Repositories], T], *, collects: bool = False, about: str = ""
    ) -> concurrent.futures.Future[T]:
        waiter: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._writer.put(Operation(work, waiter, collects, about), SUBMIT_LIMIT)
        return waiter

    async def read[T](self, work: Callable[[Repositories], T]) -> T:
        if not self._writer.idle:
            barrier: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._writer.put(Operation(None, barrier), SUBMIT_LIMIT)
            await barrier
        return await self._readers.run(work)

    def read_now[T](self, work: Callable[[Repositories], T]) -> T:
        return self._readers.run_now(work)

    @property
    def lag(self) -> float:
        return self._writer.lag

    def check(self) -> None:
        if self._writer.failed:
            # Requests are refused while this fails, so the check itself tries to write, for the next call.
            if self._trial is None or self._trial.done():
                self._trial = self.submit(lambda _: self._write_nothing_new())
            raise Unavailable("The database could not be written to when it was last tried.")
        # Reads what is committed. Waiting for the writer would measure its load, not whether it works.
        self.read_now(lambda repositories: repositories.receipts.bounds())

    def _write_nothing_new(self) -> None:
        """Writes within a transaction of the writer, and changes nothing."""
        raise NotImplementedError
