"""Remote procedure calls between two processes over a private socket pair.

A frame is four bytes of length and a pickle: `(number, name, arguments)` for a call, `(number, done, value)` for its
reply. A negative number expects no reply; an empty name cancels the call of that number. Unpickling is safe here
because both ends are the same program and no other process has the socket.
"""

import asyncio
import logging
import pickle
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from itertools import count
from typing import Any, Self, cast

from gateway.errors import GatewayError, InternalError, Unavailable

_log = logging.getLogger(__name__)

_LENGTH = 4
_PING = "ping"
_PING_SECONDS, _SILENCE_SECONDS = 5.0, 30.0
"""How often one end asks whether the other answers, and how long that may take: far longer than any text does."""


class _Frames(asyncio.Protocol):
    """Splits the stream into frames and passes each to `take`; calls `gone` when the connection is lost.

    `transport` is set before the first frame arrives, which may be as soon as the connection is made.
    """

    transport: asyncio.WriteTransport

    def __init__(self, take: Callable[[Any], None], gone: Callable[[], None]) -> None:
        self._take = take
        self._gone = gone
        self._buffer = bytearray()

    async def connect(self, end: socket.socket) -> None:
        end.setblocking(False)
        await asyncio.get_running_loop().create_connection(lambda: self, sock=end)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.WriteTransport, transport)
        self.transport.set_write_buffer_limits(high=1 << 30)

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer
        buffer += data
        start = 0
        while len(buffer) - start >= _LENGTH:
            end = start + _LENGTH + int.from_bytes(buffer[start : start + _LENGTH])
            if len(buffer) < end:
                break
            with memoryview(buffer) as view:
                frame = pickle.loads(view[start + _LENGTH : end])  # noqa: S301 - see the module's docstring  # nosec B301
            start = end
            self._take(frame)
        del buffer[:start]

    def connection_lost(self, error: Exception | None) -> None:
        self._gone()


def _frame(*content: object) -> bytes:
    data = pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
    return len(data).to_bytes(_LENGTH) + data


class Link:
    """The calling end. `lost` is done once the other end is gone, and every later call fails.

    While `watch` runs, calls fail as well as long as the other end does not answer: it hangs, or was stopped.
    """

    def __init__(self) -> None:
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._transport: asyncio.WriteTransport | None = None
        self._is_silent = False

    @classmethod
    async def open(cls, end: socket.socket) -> Self:
        link = cls()
        frames = _Frames(link._take, link._gone)
        await frames.connect(end)
        link._transport = frames.transport
        return link

    async def call(self, name: str, *arguments: object) -> Any:
        """Calls a function at the other end and returns or raises its result.

        Raises Unavailable (`gateway_unavailable`) when the other end is gone or does not answer.
        """
        if self._transport is None or self.lost.done():
            raise _gone()
        if self._is_silent:
            raise _silent()
        number = next(self._numbers)
        waiter = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._transport.write(_frame(number, name, arguments))
        try:
            return await waiter
        except asyncio.CancelledError:
            self._transport.write(_frame(number, "", ()))
            raise
        finally:
            self._waiting.pop(number, None)

    def tell(self, name: str, *arguments: object) -> None:
        """Calls a function without waiting for a result."""
        if self._transport is not None and not self.lost.done():
            self._transport.write(_frame(-next(self._numbers), name, arguments))

    async def watch(self) -> None:
        """Asks again and again whether the other end still answers."""
        while True:
            await asyncio.sleep(_PING_SECONDS)
            if self._transport is None or self.lost.done():
                return
            number = next(self._numbers)
            answered = self._waiting[number] = asyncio.get_running_loop().create_future()
            self._transport.write(_frame(number, _PING, ()))
            if not (await asyncio.wait([answered], timeout=_SILENCE_SECONDS))[0]:
                self._is_silent = True
                _log.error("the gateway's process does not answer; requests are refused until it does")
                for waiting, waiter in self._waiting.items():
                    if waiter is not answered and not waiter.done():
                        waiter.set_exception(_silent())
                        # Nobody waits for what it may still do once it goes on.
                        self._transport.write(_frame(waiting, "", ()))
            with suppress(GatewayError):
                await answered
            del self._waiting[number]
            if self._is_silent and not self.lost.done():
                self._is_silent = False
                _log.warning("the gateway's process answers again")

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def _take(self, frame: tuple[int, bool, Any]) -> None:
        number, done, value = frame
        waiter = self._waiting.get(number)
        if waiter is None or waiter.done():
            return
        if done:
            waiter.set_result(value)
        else:
            waiter.set_exception(value)

    def _gone(self) -> None:
        if not self.lost.done():
            self.lost.set_result(None)
        for waiter in self._waiting.values():
            if not waiter.done():
                waiter.set_exception(_gone())


async def answer(
    end: socket.socket, calls: Mapping[str, Callable[..., Any]], *, known: tuple[type[Exception], ...] = (GatewayError,)
) -> None:
    """Answers calls by name until the other end is gone. Exceptions of `known` types are passed back unchanged."""
    loop = asyncio.get_running_loop()
    lost = loop.create_future()
    tasks: dict[int, asyncio.Task[None]] = {}

    async def do(number: int, name: str, arguments: tuple[Any, ...]) -> None:
        try:
            value = None if name == _PING else calls[name](*arguments)
            reply = _frame(number, True, await value if isinstance(value, Awaitable) else value)
        except known as error:
            reply = _frame(number, False, error)
        except Exception as error:  # noqa: BLE001 - fails closed at the process boundary
            # Its message may hold private text.
            _log.error("a call failed: %s", type(error).__name__)
            failed = InternalError("The gateway failed to handle this request; nothing was sent.")
            reply = _frame(number, False, failed)
        if number > 0:
            frames.transport.write(reply)

    def take(frame: tuple[int, str, tuple[Any, ...]]) -> None:
        number, name, arguments = frame
        if not name:
            if number in tasks:
                tasks[number].cancel()
            return
        task = asyncio.Task(do(number, name, arguments), loop=loop, eager_start=True)
        if not task.done():
            tasks[number] = task
            task.add_done_callback(lambda _: tasks.pop(number, None))

    def gone() -> None:
        if not lost.done():
            lost.set_result(None)

    frames = _Frames(take, gone)
    await frames.connect(end)
    await lost
    unfinished = [*tasks.values()]
    for task in unfinished:
        task.cancel()
    await asyncio.gather(*unfinished, return_exceptions=True)


def _silent() -> GatewayError:
    message = "The gateway's process does not answer; try again."
    return Unavailable(message, code="gateway_unavailable", retry_after=5)


def _gone() -> GatewayError:
    message = "The gateway's process has stopped; try again once it has restarted."
    return Unavailable(message, code="gateway_unavailable", retry_after=5)
