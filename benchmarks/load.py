"""Whether the gateway stays answerable while new texts are searched: lag of its event loop, `/healthz`, memory.

    python -m benchmarks.load [--detection full] [--connections 16] [--kb 1] [--seconds 12] [--callbacks] [--json FILE]

Clients keep `connections` busy with chats whose texts are all new, an upstream on loopback echoes them, and one more
client asks `/healthz` every 20 ms. On each event loop (the listeners have one, the gateway's process another) a task
sleeps two milliseconds again and again and notes how much later it was woken, and how much processor time the thread of
the loop took meanwhile. The lag is what a client may feel, and counts what others on the machine take; the work is what
the gateway itself holds the loop up with, be it by one callback or by several that were due at once.

With `--callbacks` each callback is measured alone: what blocks a loop is the longest of them. That takes asyncio's own
loop, in which every callback can be seen, in place of uvloop, so the other figures are not the product's then.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import runpy
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.proxy import KEY, RESTS, ROOT, free_port, resident, started
from benchmarks.texts import chats
from benchmarks.traffic import Served, Target, measure

_BEAT = 0.002
_EVERY = 0.02
_RUNS_AS = "BENCHMARK_LAGS"
_CALLBACKS = "BENCHMARK_CALLBACKS"


def _watched() -> None:
    """Runs run_proxy.py with a task on each of its loops; at the end each writes its lags into the folder asked for."""
    from gateway.workers import event_loop as loop

    plain = loop.run
    each = os.environ.get(_CALLBACKS) == "1"
    if each:
        loop.Loop = None  # type: ignore[misc]

    def run_watched[T](main: Callable[[], Coroutine[Any, Any, T]]) -> T:
        lags: list[tuple[float, float, float]] = []

        async def beat() -> None:
            while True:
                due, used = time.perf_counter() + _BEAT, time.thread_time()
                await asyncio.sleep(_BEAT)
                lags.append((due, time.perf_counter() - due, time.thread_time() - used))

        async def inside() -> T:
            if each:
                _time_callbacks(lags)
            beating = asyncio.create_task(asyncio.sleep(0) if each else beat())
            try:
                return await main()
            finally:
                beating.cancel()
                role = "listeners" if os.getpid() == started_as else "gateway"
                (Path(os.environ[_RUNS_AS]) / f"{role}.json").write_text(json.dumps(lags))

        return plain(inside)

    started_as = os.getpid()
    loop.run = run_watched
    sys.argv[0] = str(ROOT / "run_proxy.py")
    runpy.run_path(sys.argv[0], run_name="__main__")


def _time_callbacks(times: list[tuple[float, float, float]]) -> None:
    """From now on each callback of the loop leaves when it began, and the time and the processor's time it took."""
    run = asyncio.Handle._run

    def timed(handle: asyncio.Handle) -> None:
        began, used = time.perf_counter(), time.thread_time()
        run(handle)
        times.append((began, time.perf_counter() - began, time.thread_time() - used))

    asyncio.Handle._run = timed  # type: ignore[method-assign]


async def _asked(port: int, times: list[tuple[float, float]]) -> None:
    """`/healthz` on one connection, again and again: when it was asked, and the seconds until the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        while True:
            began = time.perf_counter()
            writer.write(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            fields = [line for line in head.split(b"\r\n") if line.startswith(b"content-length")]
            await reader.readexactly(int(fields[0].split(b":")[1]))
            times.append((began, time.perf_counter() - began))
            await asyncio.sleep(_EVERY)
    finally:
        writer.close()


async def run(options: argparse.Namespace) -> dict[str, Any]:
    """One measurement, as a JSON document. Times in milliseconds, memory in MB."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        upstream, gateway, proxy = (free_port() for _ in range(3))
        echo = [sys.executable, "-m", "benchmarks.traffic", str(upstream)]
        stack.enter_context(started(*echo, ports=[upstream], log=folder / "upstream.log"))
        with contextlib.ExitStack() as ours:
            lags = folder / "lags"
            lags.mkdir()
            os.environ[_RUNS_AS] = str(lags)
            os.environ[_CALLBACKS] = str(int(options.callbacks))
            ours.callback(os.environ.pop, _RUNS_AS)
            process = ours.enter_context(
                started(
                    *(sys.executable, "-m", "benchmarks.load", "serve", "--no-web"),
                    *("--gateway-port", str(gateway), "--proxy-port", str(proxy)),
                    *("--data-dir", str(folder / "data"), "--certs-dir", str(folder / "certs")),
                    *("--upstream", f"http://127.0.0.1:{upstream}/v1"),
                    ports=[gateway, proxy],
                    log=folder / "gateway.log",
                    detection=options.detection,
                )
            )
            bodies = chats(options.kb * 1024, int(400 * options.seconds), "echo", seed=options.seed)
            asked: list[tuple[float, float]] = []
            asking = asyncio.create_task(_asked(gateway, asked))
            began = time.perf_counter() + options.seconds / 5
            target = Target("gateway", gateway, key=KEY, pid=process.pid)
            served = Served()
            await measure(target, itertools.cycle(bodies), options.connections, options.seconds, served)
            ended = time.perf_counter()
            asking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asking
            await asyncio.sleep(RESTS)
            memory = resident(process)
        lagged = {file.stem: json.loads(file.read_text()) for file in sorted(lags.glob("*.json"))}
    return {
        "detection": options.detection,
        "kb": options.kb,
        "connections": options.connections,
        "of": "callback" if options.callbacks else "beat",
        "requests": served.figures(),
        "loop_lag_ms": {
            role: _spread([lag for at, lag, _ in some if began <= at <= ended]) for role, some in lagged.items()
        },
        "loop_work_ms": {
            role: _spread([work for at, _, work in some if began <= at <= ended]) for role, some in lagged.items()
        },
        "healthz_ms": _spread([took for at, took in asked if began <= at <= ended]),
        "memory_mb": memory,
    }


def _spread(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    shares = {"p50": 0.5, "p99": 0.99, "p999": 0.999, "max": 1.0}
    return {name: ordered[min(int(len(ordered) * share), len(ordered) - 1)] * 1000 for name, share in shares.items()}


def show(result: dict[str, Any], console: Console) -> None:
    """The table."""
    requests = result["requests"]
    table = Table("ms", "p50", "p99", "p99.9", "max")
    table.add_row("request", f"{requests['p50']:.1f}", f"{requests['p99']:.1f}", "", "")
    spreads = {"/healthz": result["healthz_ms"]}
    lag, work = ("a callback", "its work") if result["of"] == "callback" else ("lag of the loop", "work on the loop")
    spreads |= {f"{lag}, {role}": spread for role, spread in result["loop_lag_ms"].items()}
    spreads |= {f"{work}, {role}": spread for role, spread in result["loop_work_ms"].items()}
    for title, spread in spreads.items():
        table.add_row(title, *(f"{value:.1f}" for value in spread.values()))
    console.print(table)
    console.print(
        f"{result['connections']} connections, new messages of {result['kb']} KB, detection {result['detection']}: "
        f"{requests['rate']:.0f} requests/s, {requests['errors']} errors, {result['memory_mb']:.0f} MB",
        highlight=False,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--detection", choices=["patterns", "full"], default="full")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--kb", type=int, default=1, help="size of the messages")
    parser.add_argument("--seconds", type=float, default=12.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--callbacks", action="store_true", help="measure each callback of the loops alone")
    parser.add_argument("--json", type=Path, help="write the figures there, too")
    options = parser.parse_args(arguments)
    result = asyncio.run(run(options))
    show(result, Console())
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if _RUNS_AS in os.environ:
        _watched()
    else:
        main()
