"""Remote procedure calls between two processes over a private socket pair.

A frame is four bytes of length and a pickle: `(number, name, arguments)` for a call, `(number, done, value)` for its
reply. A negative number expects no reply; an empty name cancels the call of that number. Unpickling is safe here
because both ends are the same program and no other process has the socket.
"""

import asyncio
import pickle
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from itertools import count
from threading import Event, Lock, Thread
from typing import Any, Self, cast

_LENGTH = 4
_PING = "ping"
_PING_SECONDS, SILENCE_SECONDS = 5.0, 30.0
"""Interval at which one end pings the other, and the longest wait for a reply: far longer than any text takes."""

type Take = Callable[[bool, Any], object]
"""Is given whether a call was done, and its result or its exception."""
type Told = Callable[[BaseException], Exception]
"""Returns the exception that the other end gets."""


class NoReply(Exception):
    """There is no reply to a call: the other end is gone, or does not answer (`is_silent`)."""

    def __init__(self, *, is_silent: bool) -> None:
        super().__init__()
        self.is_silent = is_silent


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
    """The calling end. `lost` is done once the other end is gone. Calls then raise NoReply.

    So they do as long as `silences` finds that the other end does not answer: it hangs, or was stopped.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.lost: asyncio.Future[None] = self._loop.create_future()
        self._numbers = count(1)
        self._waiting: dict[int, Take] = {}
        self._is_silent = False
        self._frames = _Frames(self._take, self._gone)

    @classmethod
    async def open(cls, end: socket.socket) -> Self:
        link = cls()
        await link._frames.connect(end)
        return link

    @property
    def answers(self) -> bool:
        """Whether the other end is there and, as far as is known, answers."""
        return not (self._is_silent or self.lost.done())

    @property
    def waiting(self) -> int:
        """How many calls wait for their replies."""
        return len(self._waiting)

    async def call(self, name: str, *arguments: object) -> Any:
        """Calls a function at the other end and returns or raises its result. Cancelling it cancels it there, too."""
        number, waiter = next(self._numbers), self._loop.create_future()
        self._send(number, _frame(number, name, arguments), partial(_settle, waiter))
        try:
            return await waiter
        except asyncio.CancelledError:
            self._cancel(number)
            raise

    def submit(self, take: Take, name: str, *arguments: object) -> None:
        """Calls a function from another thread. `take` is called on the event loop."""
        number = next(self._numbers)
        self._loop.call_soon_threadsafe(self._send, number, _frame(number, name, arguments), take)

    def tell(self, name: str, *arguments: object) -> None:
        """Calls a function without waiting for a result."""
        if not self.lost.done():
            self._frames.transport.write(_frame(-next(self._numbers), name, arguments))

    async def silences(self, seconds: float) -> AsyncIterator[bool]:
        """Watches whether the other end answers. Yields True once it has been silent for `seconds`, and False once it
        answers again. Ends when it is gone.
        """
        while not (await asyncio.wait([self.lost], timeout=_PING_SECONDS))[0]:
            number, answered = next(self._numbers), self._loop.create_future()
            self._send(number, _frame(number, _PING, ()), partial(_settle, answered))
            answered.add_done_callback(asyncio.Future.exception)  # it may be lost
            if (await asyncio.wait([answered], timeout=seconds))[0]:
                continue
            self._is_silent = True
            ping = self._waiting.pop(number)
            self._fail_waiting(is_silent=True)
            self._waiting[number] = ping
            yield True
            await asyncio.wait([answered])
            self._is_silent = False
            if not self.lost.done():
                yield False

    def close(self) -> None:
        self._frames.transport.close()

    def _send(self, number: int, frame: bytes, take: Take) -> None:
        if self.answers:
            self._waiting[number] = take
            self._frames.transport.write(frame)
        else:
            take(False, NoReply(is_silent=self._is_silent))

    def _cancel(self, number: int) -> None:
        """Tells the other end that no one waits for a reply any more."""
        if self._waiting.pop(number, None) is not None:
            self._frames.transport.write(_frame(number, "", ()))

    def _take(self, frame: tuple[int, bool, Any]) -> None:
        number, done, value = frame
        if (take := self._waiting.pop(number, None)) is not None:
            take(done, value)

    def _gone(self) -> None:
        if not self.lost.done():
            self.lost.set_result(None)
        self._fail_waiting(is_silent=False)

    def _fail_waiting(self, *, is_silent: bool) -> None:
        """Fails the calls that wait. A variable of `silences` would keep the last one alive, and its request."""
        for number, take in [*self._waiting.items()]:
            if is_silent:
                self._cancel(number)
            take(False, NoReply(is_silent=is_silent))
        self._waiting.clear()


def _settle(waiter: asyncio.Future[Any], done: bool, value: Any) -> None:
    if waiter.done():  # it was cancelled
        return
    if done:
        waiter.set_result(value)
    else:
        waiter.set_exception(value)


async def answer(end: socket.socket, calls: Mapping[str, Callable[..., Any]], told: Told) -> None:
    """Answers calls by name until the other end is gone."""
    loop = asyncio.get_running_loop()
    lost = loop.create_future()
    tasks: dict[int, asyncio.Task[None]] = {}

    async def do(number: int, name: str, arguments: tuple[Any, ...]) -> None:
        try:
            value = None if name == _PING else calls[name](*arguments)
            reply = _frame(number, True, await value if isinstance(value, Awaitable) else value)
        except Exception as error:  # noqa: BLE001 - fails closed at the process boundary
            reply = _frame(number, False, told(error))
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

    frames = _Frames(take, partial(_settle, lost, True, None))
    await frames.connect(end)
    await lost
    unfinished = [*tasks.values()]
    for task in unfinished:
        task.cancel()
    await asyncio.gather(*unfinished, return_exceptions=True)


def answer_in_threads(end: socket.socket, calls: Mapping[str, Callable[..., Any]], told: Told, threads: int) -> None:
    """Answers calls by name until the other end is gone, each in one of so many threads. Cancels none."""
    reading, writing, gone = Lock(), Lock(), Event()

    def serve() -> None:
        with suppress(OSError, EOFError):
            while True:
                with reading:
                    length = int.from_bytes(_received(end, _LENGTH))
                    number, name, arguments = pickle.loads(_received(end, length))  # noqa: S301 - as above  # nosec B301
                if not name:
                    continue
                try:
                    reply = _frame(number, True, calls[name](*arguments))
                except BaseException as error:  # noqa: BLE001 - a thread would print it
                    reply = _frame(number, False, told(error))
                with writing:
                    end.sendall(reply)
                del reply, arguments
        gone.set()

    for _ in range(threads):
        Thread(target=serve, daemon=True).start()
    gone.wait()


def _received(end: socket.socket, length: int) -> bytes:
    data = end.recv(length, socket.MSG_WAITALL)
    if len(data) < length:
        raise EOFError
    return data
