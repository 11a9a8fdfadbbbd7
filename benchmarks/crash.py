"""Kills the gateway at random moments under load, starts it again, and checks that nothing it promised is lost.

    python -m benchmarks.crash [--kills 200] [--seed 1] [--clients 8] [--keep FOLDER]

Clients send calls of every wire, streamed and not, through both listeners, and use sessions and policies meanwhile.
Then SIGKILL ends the gateway: both processes or one of the two, sometimes while it still starts. After each start,
`benchmarks/crash_checks.py` looks for what is missing.

The seed repeats the calls and the moments, though not how the machine schedules them. Linux only.
"""

import argparse
import asyncio
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from rich.console import Console
from rich.table import Table

from benchmarks.crash_checks import Promises, broken_promises, until, verified_log
from benchmarks.mixed_calls import Call, Client, native, text, wire_call
from benchmarks.mixed_upstream import MixedUpstream
from benchmarks.proxy import KEY, ROOT, free_port, processes

_LONGEST_LOAD = 1.0
_LONGEST_START = 1.5
_IN_START = 0.1


class Program(Protocol):
    """The part of `subprocess.Popen` that is used here."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...


type Launch = Callable[[Sequence[str], Mapping[str, str], Path], Program]
"""Starts `run_proxy.py` with arguments, an environment and a file for its output."""


def launch(arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> Program:
    with log.open("ab") as output:
        command = [sys.executable, str(ROOT / "run_proxy.py"), *arguments]
        return subprocess.Popen(command, stdout=output, stderr=output, env=environment)


class Gateway:
    """A gateway on one folder and the same ports, which is started again and again.

    `more` are further settings in TOML, and `arguments` further options of `serve`.
    """

    def __init__(
        self, folder: Path, upstream: int, start: Launch, more: str = "", arguments: Sequence[str] = ("--no-web",)
    ) -> None:
        self.data = folder / "data"
        self.port, self.proxy_port = free_port(), free_port()
        self.origin = f"http://127.0.0.1:{upstream}"
        self._log = folder / "gateway.log"
        self._start = start
        self.config = config = folder / "gateway.toml"
        config.write_text(
            f'{more}detection = "patterns"\nstreaming = true\nsearch_processes = 0\n'
            f'[upstreams.gpt]\nbase_url = "{self.origin}/v1"\n'
            f'[upstreams.claude]\nwire = "anthropic"\nbase_url = "{self.origin}"\n'
            f'[upstreams.google]\nwire = "gemini"\nbase_url = "{self.origin}"\n'
        )
        self.folders = ("--data-dir", str(self.data), "--certs-dir", str(folder / "certs"))
        given = ["serve", *arguments, "--config", str(config), *self.folders]
        given += ["--intercept", f"127.0.0.1:{upstream}"]
        self._arguments = [*given, "--gateway-port", str(self.port), "--proxy-port", str(self.proxy_port)]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
        self._environment = clean | {"SVC_API_KEY": KEY}
        self._process: Program | None = None

    def start(self) -> Program:
        self._log.touch()
        self._process = self._start(self._arguments, self._environment, self._log)
        return self._process

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def _has_ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    async def ready(self) -> None:
        """Waits until it serves. Raises RuntimeError if it ends before."""
        client, deadline = Client(self.port, KEY), time.monotonic() + 120
        while (await client.send(Call("healthz", "/healthz", b"", "", method="GET"))).status != 200:
            if self._has_ended or time.monotonic() > deadline:
                raise RuntimeError(f"the gateway does not serve:\n{self._log.read_text()[-2000:]}")
            await asyncio.sleep(0.02)
        client.close()

    async def kill(self, which: str) -> None:
        """Ends `both` of its processes, the `listeners` or the `gateway`, and waits until none is left."""
        pid, *below = processes(self.pid)
        for target in {"both": [pid, *below], "listeners": [pid], "gateway": below or [pid]}[which]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(target, signal.SIGKILL)
        # The other one of the two finishes its writes and ends by itself.
        if not await until(lambda: self._has_ended and not any(map(_is_running, below)), 30):
            raise RuntimeError(f"a process outlived the {which} by 30 seconds")

    async def stop(self) -> None:
        """Stops it as a supervisor does."""
        assert self._process is not None
        if self._process.poll() is None:
            os.kill(self._process.pid, signal.SIGTERM)
        await until(lambda: self._has_ended, 60)


def _is_running(pid: int) -> bool:
    """Whether a process exists. A zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def load(gateway: Gateway, promises: Promises, seed: str) -> None:
    """Sends calls until it is cancelled."""
    rng = random.Random(seed)
    client = Client(gateway.port, KEY)
    proxied = Client(gateway.proxy_port, "key-of-the-provider", gateway.origin)
    try:
        while True:
            if rng.random() < 0.7:
                call = wire_call(rng)
                through = proxied if rng.random() < 0.3 else client
                vanish = rng.uniform(0, 0.1) if rng.random() < 0.1 else None
                answer = await through.send(call, vanish=vanish, answered=promises.told)
                promises.check_answer(call, answer)
            else:
                await _use_natively(client, rng, promises)
            await asyncio.sleep(0.002)
    finally:
        client.close()
        proxied.close()


async def _use_natively(client: Client, rng: random.Random, promises: Promises) -> None:
    _, source = text(rng)
    known = promises.sessions[-1] if promises.sessions and rng.random() < 0.3 else None
    session = {"session": known.credentials} if known else {}
    protected = await client.send(native("protect", {"text": source, **session}), answered=promises.told)
    promises.granted(source, protected, known)
    if rng.random() < 0.1:
        policy = {"id": f"crash-{rng.randrange(50)}", "title": "Crash", "rules": {"EMAIL_ADDRESS": {"action": "mask"}}}
        promises.created(await client.send(native("policies", policy)))


async def run(options: argparse.Namespace, folder: Path, start: Launch = launch) -> list[str]:
    """Returns what was broken after any of the starts."""
    rng, promises, faults = random.Random(options.seed), Promises(), list[str]()
    async with MixedUpstream(options.seed).running() as upstream:
        gateway = Gateway(folder, upstream.port, start)
        for number in range(1, options.kills + 1):
            gateway.start()
            which = rng.choice(("both", "both", "listeners", "gateway"))
            seconds = rng.random()
            if number > 1 and rng.random() < _IN_START:
                await asyncio.sleep(seconds * _LONGEST_START)
                which, clients = "both", []
                promises.kills["while it starts"] += 1
            else:
                await gateway.ready()
                found = await broken_promises(gateway.data, gateway.port, promises, upstream)
                faults += [f"after kill {number - 1}: {each}" for each in found]
                seeds = (f"{options.seed} {number} {client}" for client in range(options.clients))
                clients = [asyncio.create_task(load(gateway, promises, seed)) for seed in seeds]
                await asyncio.sleep(seconds * _LONGEST_LOAD)
                promises.kills[which] += 1
            await gateway.kill(which)
            await _ended(clients)
            if faults:
                break
        gateway.start()
        await gateway.ready()
        found = await broken_promises(gateway.data, gateway.port, promises, upstream)
        await gateway.stop()
        faults += [f"at the end: {each}" for each in (*found, *verified_log(gateway.data))]
    show(promises, upstream)
    return faults


async def _ended(clients: Sequence["asyncio.Task[None]"]) -> None:
    """Ends the clients. Raises what one of them raised before."""
    for client in clients:
        client.cancel()
    for result in await asyncio.gather(*clients, return_exceptions=True):
        if isinstance(result, Exception):
            raise result


def show(promises: Promises, upstream: MixedUpstream) -> None:
    """Prints what happened."""
    table = Table("calls", "complete", "cut off", "refused")
    for kind, statuses in sorted(promises.answers.items()):
        refused = sum(count for status, count in statuses.items() if status >= 400)
        table.add_row(kind, *(str(each) for each in (statuses.total() - statuses[0] - refused, statuses[0], refused)))
    Console().print(table)
    print(f"{promises.kills.total()} kills: {', '.join(f'{n} {which}' for which, n in promises.kills.items())}")
    print(f"{promises.records} records, {promises.interrupted} of them of interrupted exchanges")
    print(f"{len(promises.receipts)} receipts told, {upstream.crossed.total()} bodies crossed")
    print(f"{promises.unrestored} answers passed on with their placeholders, as the gateway had just gone")
    print(f"{len(promises.sessions)} sessions, {len(promises.policies)} policies")


def main(arguments: Sequence[str] | None = None, start: Launch = launch) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="an empty folder to leave the database in")
    options = parser.parse_args(arguments)
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as made:
        faults = asyncio.run(run(options, options.keep or Path(made), start))
    for fault in faults:
        print(f"BROKEN {fault}")
    print("broken" if faults else "nothing is lost")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
