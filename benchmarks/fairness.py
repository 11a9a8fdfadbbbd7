"""Measures how one client fares while others ask for far more than their share, and the memory that takes.

    python -m benchmarks.fairness [--detection full] [--large 64] [--small 300] [--stalled 20] [--other ../before]

One key posts `large` chats of 1 MB at once, a second `small` chats of 1 KB over 16 connections, a third `stalled` chats
whose upstream never answers. Meanwhile a fourth sends chats of 1 KB one after the other, and `/healthz` is asked every
20 ms. All texts are new. Memory is that of all processes, what they share counted once: before, after two large chats
have filled tables and caches; at most; and a minute after the last answer.
"""

import argparse
import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median, quantiles

import orjson
from rich.console import Console
from rich.table import Table

from benchmarks.proxy import ROOT, free_port, resident, started
from benchmarks.texts import chats

_CLIENTS = ("large", "small", "stalled", "fourth")
_LARGE, _SMALL = 1 << 20, 1024


async def _upstream(port: int) -> None:
    """Answers at once, but never a chat with the model `stall`."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
                asked = orjson.loads(await reader.readexactly(length))
                if asked["model"] == "stall":
                    await asyncio.sleep(3600)
                message = {"role": "assistant", "content": "Yes."}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                body = orjson.dumps({"id": "c", "object": "chat.completion", "created": 1, "choices": [choice]})
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
                writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", port, limit=1 << 25, backlog=1024) as server:
        await server.serve_forever()


class _Client:
    """One key: how long its answers took, and with which status they came."""

    def __init__(self, port: int, key: str) -> None:
        self._port = port
        self._key = key
        self.seconds: list[float] = []
        self.statuses: Counter[str] = Counter()

    async def ask(self, body: bytes) -> None:
        began = time.perf_counter()
        try:
            self.statuses[await self._ask(body)] += 1
        except (OSError, asyncio.IncompleteReadError) as error:
            self.statuses[type(error).__name__] += 1
        else:
            self.seconds.append(time.perf_counter() - began)

    async def _ask(self, body: bytes) -> str:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 25)
        try:
            head = "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            head += f"Authorization: Bearer {self._key}\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            answered = await reader.readuntil(b"\r\n\r\n")
            length = int(answered.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            await reader.readexactly(length)
            return answered.split(b" ")[1].decode()
        finally:
            writer.close()


async def _healthy(port: int, seconds: list[float]) -> None:
    while True:
        began = time.perf_counter()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        await reader.read()
        writer.close()
        seconds.append(time.perf_counter() - began)
        await asyncio.sleep(0.02)


async def _measure(
    port: int, keys: dict[str, str], memory: "_Memory", options: argparse.Namespace
) -> dict[str, object]:
    clients = {name: _Client(port, keys[name]) for name in _CLIENTS}
    large = chats(_LARGE, options.large, "echo", seed=1)
    small = iter(chats(_SMALL, options.small, "echo", seed=2))
    stalled = chats(_SMALL, options.stalled, "stall", seed=3)
    own = iter(chats(_SMALL, 20_000, "echo", seed=4))
    health: list[float] = []
    for _ in range(20):
        await clients["fourth"].ask(next(own))
    calm = median(clients["fourth"].seconds)
    clients["fourth"].seconds.clear()
    for body in chats(_LARGE, 2, "echo", seed=5):
        await clients["fourth"].ask(body)
    clients["fourth"].seconds.clear()
    memory.start()

    async def several() -> None:
        for body in small:
            await clients["small"].ask(body)

    async def one_by_one() -> None:
        while True:
            await clients["fourth"].ask(next(own))
            await asyncio.sleep(0.01)

    beside = [asyncio.create_task(one_by_one()), asyncio.create_task(_healthy(port, health))]
    beside += [asyncio.create_task(clients["stalled"].ask(body)) for body in stalled]
    began = time.perf_counter()
    await asyncio.gather(*(clients["large"].ask(body) for body in large), *(several() for _ in range(16)))
    took = time.perf_counter() - began
    for task in beside:
        task.cancel()
    await asyncio.gather(*beside, return_exceptions=True)
    await asyncio.sleep(options.wait)
    return {
        "seconds": took,
        "calm ms": calm * 1000,
        "fourth p50, p95 ms": [median(clients["fourth"].seconds) * 1000, _p95(clients["fourth"].seconds)],
        "small p95 ms": _p95(clients["small"].seconds),
        "healthz p95 ms": _p95(health),
        "statuses": {name: dict(client.statuses) for name, client in clients.items()},
        "MB before, peak, after": memory.stop(),
    }


def _p95(seconds: list[float]) -> float:
    return quantiles(seconds, n=20)[-1] * 1000


class _Memory:
    """The memory of a program, looked at four times a second."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def start(self) -> None:
        self._before = self._peak = resident(self._process)
        self._watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        while True:
            self._peak = max(self._peak, await asyncio.to_thread(resident, self._process))
            await asyncio.sleep(0.25)

    def stop(self) -> list[float]:
        self._watching.cancel()
        return [self._before, self._peak, resident(self._process)]


def _run(checkout: Path, options: argparse.Namespace) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        upstream, gateway, proxy = (free_port() for _ in range(3))
        serving = (sys.executable, "-m", "benchmarks.fairness", "--upstream", str(upstream))
        stack.enter_context(started(*serving, ports=[upstream], log=folder / "upstream.log"))
        folders = ("--data-dir", str(folder / "data"), "--certs-dir", str(folder / "certs"))
        process = stack.enter_context(
            started(
                *(sys.executable, "run_proxy.py", "serve", "--no-web", *folders),
                *("--gateway-port", str(gateway), "--proxy-port", str(proxy)),
                *("--upstream", f"http://127.0.0.1:{upstream}/v1"),
                ports=[gateway, proxy],
                log=folder / "gateway.log",
                folder=checkout,
                detection=options.detection,
                default_upstream="configured-upstream",
            )
        )
        keys = {}
        for client in _CLIENTS:
            made = (sys.executable, "run_proxy.py", "keys", "create", client, "--json", *folders)
            keys[client] = json.loads(subprocess.check_output(made, cwd=checkout))["key"]
        return asyncio.run(_measure(gateway, keys, _Memory(process), options))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--detection", default="full")
    parser.add_argument("--large", type=int, default=64, help="chats of 1 MB, all at once")
    parser.add_argument("--small", type=int, default=300, help="chats of 1 KB over 16 connections")
    parser.add_argument("--stalled", type=int, default=20, help="chats whose upstream never answers")
    parser.add_argument("--wait", type=float, default=60, help="seconds after which memory is looked at again")
    parser.add_argument("--other", type=Path, help="another checkout, measured after this one")
    parser.add_argument("--upstream", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.upstream:
        asyncio.run(_upstream(options.upstream))
        return
    table = Table("figure")
    found = {}
    for name, checkout in {"gateway": ROOT, "other checkout": options.other}.items():
        if checkout is not None:
            found[name] = _run(checkout.resolve(), options)
            table.add_column(name)
    for figure in next(iter(found.values())):
        table.add_row(figure, *(_shown(each[figure]) for each in found.values()))
    Console().print(table)
    print(f"{os.cpu_count()} cores")


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.0f}"
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return json.dumps(value)


if __name__ == "__main__":
    main()
