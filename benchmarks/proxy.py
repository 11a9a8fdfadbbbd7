"""Requests per second and latency of the gateway, side by side with bare mitmproxy, in one run on this machine.

    python -m benchmarks.proxy [--seconds 6] [--connections 1,16] [--sizes 1,10,100] [--json FILE]
    python -m benchmarks.proxy --only gateway --other ../before --one-process    # two checkouts, and one process
    python -m benchmarks.proxy --only gateway --without-log    # what the log and the metrics cost

The client is wrk. Every request holds a new text, so nothing is answered from memory; receipts are durable before
anything is sent. The ratio to bare mitmproxy in reverse mode is the figure to compare: it cancels out the machine. The
targets take turns of two seconds, so that a machine whose speed swings does so for all of them.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.texts import conversation, prose
from benchmarks.traffic import Target, one_by_one
from benchmarks.wrk import Measured, check_wrk, measure, with_nonces, write_bodies

ROOT = Path(__file__).parents[1]
KEY = "svck_" + "benchmark-only-" * 3
RESTS = 4.0
"""Seconds after which a gateway without work has returned its free memory."""
_SLICE = 2
"""Seconds for which a target is measured before the next one."""
BARE, OTHER, ONE_PROCESS = "bare mitmproxy", "other checkout", "gateway in one process"
WITHOUT_LOG = "gateway without log and metrics"
# Where a process cannot be forked, `serve` runs everything in one.
_WITHOUT_FORK = "import os, sys; del os.fork; from run_proxy import main; sys.exit(main(sys.argv[1:]))"

# In the process of the listeners, which is the parent of the other.
_LOGLESS = """
import os, sys
from importlib import import_module
def omit():
    import_module("addons.request_log").RequestLog._write = lambda *_: None
os.register_at_fork(after_in_parent=omit)
from run_proxy import main
sys.exit(main(sys.argv[1:]))
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def started(
    *command: str, ports: list[int], log: Path, folder: Path = ROOT, **settings: str
) -> Iterator[subprocess.Popen[bytes]]:
    environment = os.environ | {"SVC_API_KEY": KEY} | {f"SVC_{name.upper()}": value for name, value in settings.items()}
    with log.open("ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, cwd=folder, env=environment)
    try:
        for port in ports:
            _await(port, process, log)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def _await(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise RuntimeError(f"{process.args!r} did not start:\n{log.read_text()[-2000:]}")


def processes(pid: int) -> list[int]:
    """A process and those it started (Linux)."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    return [pid, *(each for child in children.read_text().split() for each in processes(int(child)))]


def resident(process: subprocess.Popen[bytes]) -> float:
    """Resident memory in MB of a program, what its processes share counted once (Linux)."""
    with contextlib.suppress(OSError, StopIteration):
        return sum(map(proportional, processes(process.pid))) / 1024
    return float("nan")


def proportional(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("Pss:")))


def cpu_seconds(pid: int | None) -> float:
    """Processor time that a program's processes have used (Linux)."""
    if pid is None:
        return float("nan")
    with contextlib.suppress(OSError):
        return sum(map(_used, processes(pid)))
    return float("nan")


def _used(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _bodies(target: Target, kilobytes: int) -> list[bytes]:
    """Returns the bodies that a target gets in turns, each time with other words in it."""
    rng = random.Random(f"{target.name} {kilobytes}")
    texts = [with_nonces(prose(kilobytes * 1024, rng)) for _ in range(2048 // (8 + kilobytes))]
    if target.path in {"/v1/protect", "/v1/analyze"}:
        return [json.dumps({"text": text}).encode() for text in texts]
    model = "svc-demo" if target.name == "svc-demo" else "echo"
    return [json.dumps({"model": model, "messages": [{"role": "user", "content": text}]}).encode() for text in texts]


async def _run(options: argparse.Namespace) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        plain, bare, gateway, proxy = (free_port() for _ in range(4))
        start = [sys.executable, "-m", "benchmarks.traffic"]
        stack.enter_context(started(*start, str(plain), ports=[plain], log=folder / "plain.log"))
        mitm = stack.enter_context(
            started(
                str(Path(sys.executable).parent / "mitmdump"),
                "-q",
                *("--mode", f"reverse:http://127.0.0.1:{plain}@{bare}"),
                *("--set", f"confdir={folder / 'bare'}"),
                ports=[bare],
                log=folder / "bare.log",
            )
        )

        def serve(name: str, *command: str, ports: tuple[int, int], checkout: Path = ROOT) -> subprocess.Popen[bytes]:
            return stack.enter_context(
                started(
                    *(sys.executable, *command, "serve", "--no-web"),
                    *("--gateway-port", str(ports[0]), "--proxy-port", str(ports[1])),
                    *("--data-dir", str(folder / f"{name}-data"), "--certs-dir", str(folder / f"{name}-certs")),
                    *("--upstream", f"http://127.0.0.1:{plain}/v1", "--intercept", "localhost"),
                    ports=[*ports],
                    log=folder / f"{name}.log",
                    folder=checkout,
                    detection=options.detection,
                )
            )

        ours = serve("gateway", "run_proxy.py", ports=(gateway, proxy))
        targets = [
            Target("upstream itself", plain),
            Target(BARE, bare, pid=mitm.pid),
            Target("gateway", gateway, key=KEY, pid=ours.pid),
            Target("proxy", proxy, f"http://localhost:{plain}/v1/chat/completions", pid=ours.pid),
            Target("svc-demo", gateway, key=KEY, pid=ours.pid),
            Target("/v1/protect", gateway, "/v1/protect", key=KEY, pid=ours.pid),
            Target("/v1/analyze", gateway, "/v1/analyze", key=KEY, pid=ours.pid),
        ]
        wanted = [t for t in targets if not options.only or t.name in {BARE, *options.only}]
        programs = {BARE: mitm, "gateway": ours}
        if options.other:
            ports = (free_port(), free_port())
            programs[OTHER] = serve("other", "run_proxy.py", ports=ports, checkout=options.other)
            wanted.append(Target(OTHER, ports[0], key=KEY, pid=programs[OTHER].pid))
        for variant, asked, code in (
            (ONE_PROCESS, options.one_process, _WITHOUT_FORK),
            (WITHOUT_LOG, options.without_log, _LOGLESS),
        ):
            if asked:
                ports = (free_port(), free_port())
                programs[variant] = serve(variant.replace(" ", "-"), "-c", code, ports=ports)
                wanted.append(Target(variant, ports[0], key=KEY, pid=programs[variant].pid))
        cells = await _table(wanted, options, folder)
        turns = await _turns(targets[2], options)
        await asyncio.sleep(RESTS)
        memory = {name: resident(program) for name, program in programs.items()}
    return {"cells": cells, "turns": turns, "memory_mb": memory, "cores": os.cpu_count()}


async def _table(targets: list[Target], options: argparse.Namespace, folder: Path) -> list[dict[str, object]]:
    cells: list[dict[str, object]] = []
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("measuring", total=len(options.sizes) * len(options.connections) * len(targets))
        for size in options.sizes:
            files = [write_bodies(_bodies(target, size), folder) for target in targets]
            for connections in options.connections:
                measured = [Measured() for _ in targets]
                used = [0.0 for _ in targets]
                for target, file in zip(targets, files, strict=True):
                    await measure(target, file, connections, 1, Measured())
                for _ in range(max(1, round(options.seconds / _SLICE))):
                    for number, target in enumerate(targets):
                        before = cpu_seconds(target.pid)
                        await measure(target, files[number], connections, _SLICE, measured[number])
                        used[number] += cpu_seconds(target.pid) - before
                for number, target in enumerate(targets):
                    cell = {"target": target.name, "kb": size, "connections": connections, **measured[number].figures()}
                    cell["cpu_ms"] = used[number] * 1000 / max(1, measured[number].total)
                    cells.append(cell)
                    progress.advance(task)
    return cells


async def _turns(target: Target, options: argparse.Namespace) -> dict[str, float]:
    """A conversation's first turn and its twentieth, when the nineteen before have been served."""
    rng = random.Random(20)
    talks = [conversation(20, 512, "echo", rng) for _ in range(40)]
    await one_by_one(target, [conversation(1, 512, "echo", rng)[0] for _ in range(10)])
    first = median(await one_by_one(target, [talk[0] for talk in talks]))
    await one_by_one(target, [talk[18] for talk in talks])
    last = median(await one_by_one(target, [talk[19] for talk in talks]))
    return {"turn_1_ms": first, "turn_20_ms": last, "ratio": last / first}


def _print(result: dict[str, object]) -> None:
    console = Console()
    cells: list[dict[str, object]] = result["cells"]  # type: ignore[assignment]
    table = Table("KB", "connections", "target", "requests/s", "of bare", "p50 ms", "p99 ms", "CPU ms", "errors")
    for cell in cells:
        same = [c for c in cells if (c["kb"], c["connections"]) == (cell["kb"], cell["connections"])]
        bare = next(float(c["rate"]) for c in same if c["target"] == BARE)  # type: ignore[arg-type]
        rate = float(cell["rate"])  # type: ignore[arg-type]
        table.add_row(
            str(cell["kb"]),
            str(cell["connections"]),
            str(cell["target"]),
            f"{rate:.0f}",
            f"{rate / bare:.2f}" if bare else "",
            f"{cell['p50']:.2f}",
            f"{cell['p99']:.2f}",
            f"{cell['cpu_ms']:.2f}",
            str(cell["errors"]),
        )
    console.print(table)
    console.print("turns", result["turns"], "memory (MB)", result["memory_mb"])


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=6.0, help="time of each cell")
    parser.add_argument("--connections", type=_numbers, default=[1, 16])
    parser.add_argument("--sizes", type=_numbers, default=[1, 10, 100], help="sizes of the chats in KB")
    parser.add_argument("--only", action="append", metavar="TARGET", help="this target (repeatable) and the bare one")
    parser.add_argument(
        "--detection", choices=["patterns", "full"], default="patterns", help="full: with the model of names"
    )
    parser.add_argument("--other", type=Path, metavar="FOLDER", help="another checkout of the gateway, measured beside")
    parser.add_argument("--one-process", action="store_true", help="the gateway without its second process, as well")
    parser.add_argument("--without-log", action="store_true", help="the gateway without log lines and metrics, as well")
    parser.add_argument("--json", type=Path, help="write the figures there, too")
    options = parser.parse_args()
    check_wrk()
    result = asyncio.run(_run(options))
    _print(result)
    if options.json:
        options.json.write_text(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
