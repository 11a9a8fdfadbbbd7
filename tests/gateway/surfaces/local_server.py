"""A provider on loopback that says exactly what a test scripts, byte for byte, and keeps what it was sent."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

type Say = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Request:
    """One request as it arrived; header names in lower case."""

    line: str
    headers: list[tuple[str, str]]
    body: bytes

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]


@dataclass
class Server:
    scheme: str
    port: int
    requests: list[Request] = field(default_factory=list)
    connections: int = 0

    @property
    def base_url(self) -> str:
        return f"{self.scheme}://localhost:{self.port}/v1"


def reply(body: bytes, status: str = "200 OK", **headers: str) -> Say:
    """A whole answer with its length."""
    fields = {"content-type": "application/json", "content-length": str(len(body))}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return raw(f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body)


def raw(data: bytes) -> Say:
    async def say(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()

    return say


async def silence(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(30)


async def drip(writer: asyncio.StreamWriter) -> None:
    """An answer that never stops and never pauses long enough for a read time-out."""
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)


@contextlib.asynccontextmanager
async def serving(say: Say, tls: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    """Answers every request by `say`; a connection stays open unless the answer asks otherwise."""
    tasks: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        server.connections += 1
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                pairs = [line.partition(":") for line in head[1:] if line]
                fields = [(name.lower(), value.strip()) for name, _, value in pairs]
                length = int(dict(fields).get("content-length", "0"))
                server.requests.append(Request(head[0], fields, await reader.readexactly(length)))
                await say(writer)
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    listener = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=tls)
    server = Server("https" if tls else "http", listener.sockets[0].getsockname()[1])
    try:
        yield server
    finally:
        listener.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await listener.wait_closed()
