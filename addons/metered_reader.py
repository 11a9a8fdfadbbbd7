"""Reads from a client: pauses while it is held back, and notices when it closes its connection."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Protocol

# Bytes still read while a client is held back: enough to notice that it has disconnected.
_SPARE_BYTES = 128 * 1024


class ClientGone(Exception):
    """The client has closed its connection, so no answer is needed."""


class _Reader(Protocol):
    async def read(self, n: int) -> bytes: ...


class MeteredReader:
    """Reads from a client, records the time of the last read, and pauses while the client is held back."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader
        self._holds = 0
        self._spare = 0
        self._released = asyncio.Event()
        self._ended = False
        self._working: asyncio.Task[object] | None = None
        self.read_at = monotonic()

    async def read(self, n: int) -> bytes:
        try:
            if self._holds and self._spare <= 0:
                await self._released.wait()
            data = await self._reader.read(n)
        except BaseException:
            self._end()
            raise
        if not data:
            self._end()
        self._spare -= len(data)
        self.read_at = monotonic()
        return data

    def _end(self) -> None:
        self._ended = True
        if self._working is not None:
            self._working.cancel()

    @contextmanager
    def until_closed(self) -> Iterator[None]:
        """Cancels what the current task awaits in this context when the client closes, and raises ClientGone."""
        if self._ended:
            raise ClientGone
        task = self._working = asyncio.current_task()
        try:
            yield
        except asyncio.CancelledError:
            if task is None or not self._ended or task.uncancel():
                raise
            raise ClientGone from None
        finally:
            self._working = None

    def hold(self) -> None:
        if not self._holds:
            self._spare = _SPARE_BYTES
            self._released.clear()
        self._holds += 1

    def release(self) -> None:
        self._holds = max(0, self._holds - 1)
        if not self._holds:
            self._released.set()
