"""The two ends of a measurement: an echoing upstream, and clients that each keep one connection busy.

Both speak just enough HTTP/1.1 and do it the same way for every target, so that ratios between targets hold.
"""

import asyncio
import re
import ssl
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

import orjson

from gateway.workers.event_loop import run

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class _Echo(asyncio.Protocol):
    """Answers each request with the content of its last message. A protocol costs less than streams."""

    def __init__(self) -> None:
        self._received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            found = _LENGTH.search(self._received, 0, end)
            last = end + 4 + (int(found[1]) if found else 0)
            if len(self._received) < last:
                return
            self._transport.write(_echoed(bytes(self._received[end + 4 : last])))
            del self._received[:last]


def _echoed(request: bytes) -> bytes:
    content = orjson.loads(request)["messages"][-1]["content"]
    message = {"role": "assistant", "content": content}
    body = orjson.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "echo",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
    )
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)


async def upstream(port: int, certificate: str | None = None) -> None:
    """Serves until it is ended."""
    context = None
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
    server = await asyncio.get_running_loop().create_server(_Echo, "127.0.0.1", port, ssl=context)
    await server.serve_forever()


@dataclass(frozen=True)
class Target:
    """Where requests go. `tunnel` is host:port to CONNECT to, through which TLS is spoken with `ca`."""

    name: str
    port: int
    path: str = "/v1/chat/completions"
    key: str = "none"
    tunnel: str | None = None
    ca: str | None = None
    pid: int | None = None


@dataclass
class Served:
    """The measurements of a target: the time of each request in milliseconds. `total` counts the warm-up, too."""

    times: list[float] = field(default_factory=list)
    seconds: float = 0
    errors: int = 0
    total: int = 0

    def figures(self) -> dict[str, float]:
        """Requests per second, p50 and p99 in milliseconds, and how many there were."""
        times = sorted(self.times) or [0.0]
        return {
            "rate": len(self.times) / self.seconds,
            "p50": times[len(times) // 2],
            "p99": times[int(len(times) * 0.99)],
            "errors": self.errors,
            "total": self.total,
        }


def _request(target: Target, body: bytes) -> bytes:
    host = target.tunnel or f"127.0.0.1:{target.port}"
    return (
        f"POST {target.path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n"
        f"authorization: Bearer {target.key}\r\naccept: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    ).encode() + body


async def _connect(target: Target) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", target.port, limit=1 << 24)
    if target.tunnel:
        writer.write(f"CONNECT {target.tunnel} HTTP/1.1\r\nhost: {target.tunnel}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head.split(b"\r\n")[0]:
            raise ConnectionError("the proxy refused the tunnel")
        await writer.start_tls(ssl.create_default_context(cafile=target.ca), server_hostname="localhost")
    return reader, writer


async def _answer(reader: asyncio.StreamReader) -> bool:
    head = await reader.readuntil(b"\r\n\r\n")
    lowered = head.lower()
    if b"transfer-encoding: chunked" in lowered:
        while size := int(await reader.readline(), 16):
            await reader.readexactly(size + 2)
        await reader.readline()
    else:
        length = next(int(line.split(b":")[1]) for line in lowered.split(b"\r\n") if line.startswith(b"content-length"))
        await reader.readexactly(length)
    return head.startswith(b"HTTP/1.1 200")


async def measure(target: Target, bodies: Iterator[bytes], connections: int, seconds: float, served: Served) -> None:
    """Keeps `connections` busy for `seconds`, after a warm-up of a fifth of it; adds to `served`."""
    start = time.perf_counter() + seconds / 5
    end = start + seconds

    async def client() -> None:
        reader, writer = await _connect(target)
        while (now := time.perf_counter()) < end:
            writer.write(_request(target, next(bodies)))
            good = await _answer(reader)
            served.total += 1
            done = time.perf_counter()
            if now >= start:
                served.times.append((done - now) * 1000)
                served.errors += not good
        writer.close()

    await asyncio.gather(*(client() for _ in range(connections)))
    served.seconds += seconds


async def one_by_one(target: Target, bodies: Sequence[bytes]) -> list[float]:
    """The time of each request in milliseconds, one after the other on one connection."""
    reader, writer = await _connect(target)
    times = []
    for body in bodies:
        start = time.perf_counter()
        writer.write(_request(target, body))
        await _answer(reader)
        times.append((time.perf_counter() - start) * 1000)
    writer.close()
    return times


if __name__ == "__main__":
    run(lambda: upstream(int(sys.argv[1]), *sys.argv[2:3]))
