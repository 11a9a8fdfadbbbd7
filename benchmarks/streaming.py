"""Measures the cost of streamed answers next to bare mitmproxy that streams, in one run on this machine.

    python -m benchmarks.streaming [--requests 200] [--streams 200] [--chunks 500]

Three figures: the time to the first event, with requests in turns whose order changes, since caches are colder for the
target that comes second, and after as many that are not counted, since the automata of the recognizers grow with the
first texts of a process; the processor time of an event, from the answers of one client at a time; and the memory while
many clients stream at once. Detection is by patterns, so that the time is that of streaming, and every request holds a
new text with private values, which the answer repeats.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

from rich.console import Console
from rich.table import Table

from benchmarks.proxy import BARE, KEY, cpu_seconds, free_port, resident, started
from benchmarks.texts import prose
from benchmarks.traffic import Target

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_WORDS = "The report is in the mail to you and all figures of the quarter are as expected so far".split()


def _event(text: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    data = b"data: " + json.dumps(chunk).encode() + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


async def _serve(port: int) -> None:
    """Answers with as many events as the request's `max_tokens` says, one every `temperature` milliseconds."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
                asked = json.loads(await reader.readexactly(length))
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                )
                said = asked["messages"][0]["content"].split()
                for number in range(asked["max_tokens"]):
                    word = said[number % len(said)] if number % 50 == 25 else _WORDS[number % len(_WORDS)]
                    writer.write(_event(f" {word}" if number % 20 else f" {word}.\n"))
                    if asked["temperature"]:
                        await writer.drain()
                        await asyncio.sleep(asked["temperature"] / 1000)
                    elif number % 64 == 0:
                        await writer.drain()
                done = b"data: [DONE]\n\n"
                writer.write(_event("", "stop") + b"%x\r\n%s\r\n0\r\n\r\n" % (len(done), done))
                await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", port, backlog=1024) as server:
        await server.serve_forever()


async def _stream(target: Target, number: int, chunks: int, pause: float) -> tuple[float, int]:
    """Returns the seconds to the first event, and how many events came."""
    said = prose(200, random.Random(f"{target.name} {number}"))
    asked = {"model": "m", "stream": True, "max_tokens": chunks, "temperature": pause}
    body = json.dumps({**asked, "messages": [{"role": "user", "content": said}]}).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
    head = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    head += f"Authorization: Bearer {target.key}\r\nContent-Length: {len(body)}\r\n\r\n"
    begin = time.perf_counter()
    writer.write(head.encode() + body)
    answered = await reader.readuntil(b"\r\n\r\n")
    if b" 200 " not in answered:
        raise RuntimeError(f"{target.name}: {answered[:200]!r} {await reader.read(500)!r}")
    await reader.readuntil(b"data: ")
    first, events = time.perf_counter() - begin, 1
    rest = b""
    while not rest.endswith(b"\r\n0\r\n\r\n"):
        piece = await reader.read(1 << 16)
        if not piece:
            raise RuntimeError(f"{target.name}: the answer broke off")
        rest += piece
    writer.close()
    events += rest.count(b"data: ")
    return first, events


async def _measure(
    targets: list[Target], programs: dict[str, subprocess.Popen[bytes]], options: argparse.Namespace
) -> None:
    firsts: dict[str, list[float]] = {target.name: [] for target in targets}
    order = random.Random(1)
    for number in range(2 * options.requests):
        for target in order.sample(targets, len(targets)):
            # With pauses, as models have them, so that the first event does not come with all others.
            first, _ = await _stream(target, number, 3, 5)
            if number >= options.requests:
                firsts[target.name].append(first * 1000)
    costs = {}
    for target in targets:
        used, events = cpu_seconds(programs[target.name].pid), 0
        for number in range(10):
            events += (await _stream(target, 10_000 + number, 5 * options.chunks, 0))[1]
        costs[target.name] = (cpu_seconds(programs[target.name].pid) - used) / events * 1e6
    memory = {}
    for target in targets:
        before = resident(programs[target.name])
        peak = before
        rounds = []
        for turn in range(2):
            jobs = [
                asyncio.create_task(_stream(target, 20_000 + turn * options.streams + number, options.chunks, 20))
                for number in range(options.streams)
            ]
            while not all(job.done() for job in jobs):
                await asyncio.sleep(0.5)
                peak = max(peak, resident(programs[target.name]))
            rounds.append(resident(programs[target.name]))
            assert {(await job)[1] for job in jobs} == {options.chunks + 2}
        memory[target.name] = (before, peak, *rounds)
    table = Table("target", "first event p50 ms", "p95 ms", "CPU us an event", "MB before, peak, after, after again")
    for target in targets:
        times = firsts[target.name]
        table.add_row(
            target.name,
            f"{median(times):.2f}",
            f"{quantiles(times, n=20)[-1]:.2f}",
            f"{costs[target.name]:.0f}",
            ", ".join(f"{size:.0f}" for size in memory[target.name]),
        )
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=200, help="requests timed, after as many that are not")
    parser.add_argument("--streams", type=int, default=200, help="streams at once")
    parser.add_argument("--chunks", type=int, default=500, help="events of each")
    parser.add_argument("--upstream", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.upstream:
        asyncio.run(_serve(options.upstream))
        return
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        upstream, bare, gateway, proxy = (free_port() for _ in range(4))
        command = (sys.executable, "-m", "benchmarks.streaming", "--upstream", str(upstream))
        stack.enter_context(started(*command, ports=[upstream], log=folder / "upstream.log"))
        mitm = (str(Path(sys.executable).parent / "mitmdump"), "-q", "--set", "stream_large_bodies=1")
        mitm += ("--mode", f"reverse:http://127.0.0.1:{upstream}@{bare}", "--set", f"confdir={folder / 'bare'}")
        plain = stack.enter_context(started(*mitm, ports=[bare], log=folder / "bare.log"))
        serve = (sys.executable, "run_proxy.py", "serve", "--no-web", "--upstream", f"http://127.0.0.1:{upstream}/v1")
        serve += ("--gateway-port", str(gateway), "--proxy-port", str(proxy))
        serve += ("--data-dir", str(folder / "data"), "--certs-dir", str(folder / "certs"))
        settings = {"detection": "patterns", "streaming": "true", "default_upstream": "configured-upstream"}
        ours = stack.enter_context(started(*serve, ports=[gateway, proxy], log=folder / "gateway.log", **settings))
        targets = [Target(BARE, bare), Target("gateway", gateway, key=KEY)]
        asyncio.run(_measure(targets, {BARE: plain, "gateway": ours}, options))
        print(f"{os.cpu_count()} cores")


if __name__ == "__main__":
    main()
