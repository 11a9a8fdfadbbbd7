"""Mixed traffic for a long time: memory and handles stay flat, the log stays valid, and nothing private crosses.

    python -m benchmarks.soak [--minutes 30] [--rate 10] [--clients 6] [--seed 1] [--json FILE]

Clients send calls of every wire and of the native API, streamed and not, through both listeners. Some vanish, some send
what is malformed, and some use keys that were revoked. Meanwhile policies change, sessions expire and are purged,
and commands make, rotate and revoke keys beside the gateway, replace the signing key, and delete the oldest receipts.

Memory (what processes share counted once), open files and threads are looked at every second. The first third warms up;
the averages of the last third are compared with those of the second. Linux only.
"""

import argparse
import asyncio
import contextlib
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Coroutine, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple
from unittest import mock

from rich.console import Console
from rich.table import Table

from benchmarks.crash import Gateway, Launch, launch
from benchmarks.crash_checks import Promises, broken_promises, verified_log
from benchmarks.mixed_calls import Call, Client, native, sentence, text, wire_call
from benchmarks.mixed_upstream import MixedUpstream
from benchmarks.proxy import KEY, ROOT, processes, proportional
from benchmarks.receipts import fill
from gateway.config.installation_key import installation_key
from gateway.config.settings import Settings
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.signing_key import load_signer
from gateway.store import open_store

_MOST_GROWTH = {"memory_mb": 1.1, "files": 1.2, "threads": 1.1}
# A run that is shorter than that says nothing about growth.
_TELLING_MINUTES = 5.0
PROVIDER_KEY = "key-of-the-provider"
_COMMANDS_SECONDS = 20.0
_OLD_RECEIPTS = 20_000
# Processes look for changes of the keys every second.
_NOTICED_SECONDS = 2.0


class Sample(NamedTuple):
    """The resources that all processes of a gateway use together."""

    memory_mb: float
    files: int
    threads: int


def sample(pid: int) -> Sample | None:
    """Looks at a program. None if one of its processes has just ended."""
    with contextlib.suppress(OSError, StopIteration):
        all_of_it = processes(pid)
        files = sum(_entries(f"/proc/{each}/fd") for each in all_of_it)
        threads = sum(_entries(f"/proc/{each}/task") for each in all_of_it)
        return Sample(sum(map(proportional, all_of_it)) / 1024, files, threads)
    return None


def _entries(folder: str) -> int:
    return sum(1 for _ in Path(folder).iterdir())


class Soak:
    """One run, and what was seen in it."""

    def __init__(self, gateway: Gateway, options: argparse.Namespace) -> None:
        self._gateway = gateway
        self._options = options
        self._rng = random.Random(options.seed)
        self.promises = Promises()
        self.malformed: Counter[int] = Counter()
        self.commands: Counter[str] = Counter()
        self.faults: list[str] = []
        self.samples: list[Sample] = []
        self._old = _OLD_RECEIPTS

    def client(self, port: int, key: str, origin: str = "") -> Client:
        """Makes a client of a listener."""
        return Client(port, key, origin)

    async def run(self, course: Coroutine[Any, Any, None] | None = None) -> None:
        """Sends traffic for as long as asked, or until the `course` of events has ended."""
        end = asyncio.create_task(course or asyncio.sleep(self._options.minutes * 60))
        tasks = [end, *map(asyncio.create_task, self.work())]
        done, _ = await asyncio.wait(tasks, return_when="FIRST_COMPLETED")
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for task in done:
            task.result()

    def work(self) -> list[Coroutine[Any, Any, None]]:
        """Returns what runs all the time."""
        loads = (self._load(f"{self._options.seed} {number}") for number in range(self._options.clients))
        return [*loads, self._command(), self._watch()]

    def fault(self, text: str) -> None:
        """Notes something that was wrong."""
        self.faults.append(text)

    async def _watch(self) -> None:
        while True:
            found = await asyncio.to_thread(sample, self._gateway.pid)
            if found is not None:
                self.samples.append(found)
            await asyncio.sleep(1)

    async def _load(self, seed: str) -> None:
        rng, gateway = random.Random(seed), self._gateway
        client = self.client(gateway.port, KEY)
        proxied = self.client(gateway.proxy_port, PROVIDER_KEY, gateway.origin)
        pause = self._options.clients / self._options.rate
        try:
            while True:
                due = time.monotonic() + pause * rng.uniform(0.5, 1.5)
                through = proxied if rng.random() < 0.3 else client
                if (kind := rng.random()) < 0.6:
                    call = wire_call(rng)
                    vanish = rng.uniform(0, 0.3) if rng.random() < 0.2 else None
                    self.promises.check_answer(
                        call, await through.send(call, vanish=vanish, answered=self.promises.told)
                    )
                elif kind < 0.8:
                    await self._use_natively(client, rng)
                else:
                    answer = await through.send(malformed(rng))
                    self.malformed[answer.status] += 1
                    if answer.complete and not 400 <= answer.status < 500:
                        self.fault(f"a malformed request was answered with {answer.status}")
                await asyncio.sleep(max(0.0, due - time.monotonic()))
        finally:
            client.close()
            proxied.close()

    async def _use_natively(self, client: Client, rng: random.Random) -> None:
        _, source = text(rng)
        # They expire during the run, and their values are purged.
        protected = await client.send(native("protect", {"text": source, "session_ttl_seconds": 60}))
        if protected.status == 200:
            session = self.promises.noted(protected)
            again = native("reconstruct", {"text": protected.json["protected_text"], "session": session})
            opened = await client.send(again)
            if opened.status == 200 and opened.json["text"] != source:
                self.fault("a session does not give back its text")
        elif protected.complete:
            self.fault(f"/v1/protect was answered with {protected.status}")
        if rng.random() < 0.05:
            rules = {"PERSON": {"action": rng.choice(("mask", "placeholder", "redact"))}}
            policy = {"id": f"soak-{rng.randrange(5)}", "title": "Soak", "rules": rules}
            self.promises.created(await client.send(native("policies", policy)))

    async def _command(self) -> None:
        while True:
            await asyncio.sleep(min(_COMMANDS_SECONDS, self._options.minutes * 20))
            await self.use_commands()

    async def use_commands(self) -> None:
        """Has commands work beside the gateway, and tries what they did to a key."""
        made = json.loads(await self._proxy("keys", "create", "soak", "--json"))
        statuses = [await self._status(made["key"])]
        turned = json.loads(await self._proxy("keys", "rotate", made["key_id"], "--overlap", "0h", "--json"))
        await asyncio.sleep(_NOTICED_SECONDS)
        statuses += [await self._status(made["key"]), await self._status(turned["key"])]
        await self._proxy("keys", "revoke", made["key_id"])
        await asyncio.sleep(_NOTICED_SECONDS)
        statuses.append(await self._status(turned["key"]))
        if statuses != [200, 401, 200, 401]:
            self.fault(f"a key that was made, rotated and revoked gave {statuses}")
        await self._proxy("keys", "rotate", "--signing", "--json")
        today = datetime.now(UTC).date().isoformat()
        pruned = json.loads(await self._proxy("receipts", "prune", "--before", today, "--json"))
        if pruned["deleted"] != self._old:
            self.fault(f"{pruned['deleted']} receipts of {self._old} were deleted")
        self._old = 0

    async def _status(self, key: str) -> int:
        client = self.client(self._gateway.port, key)
        answer = await client.send(native("analyze", {"text": sentence(self._rng)}))
        client.close()
        return answer.status

    async def _proxy(self, *arguments: str) -> bytes:
        command = [sys.executable, str(ROOT / "run_proxy.py"), *arguments, *self._gateway.folders]
        # In a thread, which the end of the run waits for.
        done = await asyncio.to_thread(subprocess.run, command, stdout=subprocess.PIPE, check=False)
        self.commands[f"{' '.join(arguments[:2])}: {done.returncode}"] += 1
        return done.stdout


def write_old_receipts(data: Path) -> None:
    """Writes receipts of yesterday, to delete while the gateway runs."""
    settings = Settings(data_dir=data)
    settings.make_data_dir()
    installation_key(settings)
    yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    store = open_store(data)
    try:
        with mock.patch("gateway.receipts.records._now", return_value=yesterday):
            asyncio.run(fill(ReceiptLog(store, load_signer(data), data), _OLD_RECEIPTS, operation="protect"))
    finally:
        store.close()


def malformed(rng: random.Random) -> Call:
    """A request that has to be refused."""
    call = wire_call(rng)
    body = json.loads(call.body)
    match rng.randrange(6):
        case 0:
            content = call.body[: rng.randrange(len(call.body))]
        case 1:
            content = call.body[:-1] + b',"model":"gpt-5","model":"gpt-5"}'
        case 2:
            content = b"[" * 200 + call.body + b"]" * 200
        case 3:
            content = call.body[:-1] + b',"number":1e999}'
        case 4:
            content = call.body.replace(b"canary", b"\xff\xfe", 1)
        case _:
            content = json.dumps([body]).encode()
    return Call(call.kind, call.path, content, "")


def growth(samples: Sequence[Sample]) -> dict[str, dict[str, float]]:
    """Returns the averages of the second and the last third, and their ratio."""
    third = len(samples) // 3
    parts = samples[third : 2 * third] or samples, samples[2 * third :] or samples
    found = {}
    for name in Sample._fields:
        second, last = (mean(getattr(each, name) for each in part) for part in parts)
        found[name] = {"second": second, "last": last, "ratio": last / second}
    return found


def excessive(grown: dict[str, dict[str, float]]) -> list[str]:
    """Returns what grew too much."""
    return [
        f"{name} grew to {grown[name]['ratio']:.2f} of what it was"
        for name, most in _MOST_GROWTH.items()
        if grown[name]["ratio"] > most
    ]


async def run(options: argparse.Namespace, folder: Path, start: Launch) -> list[str]:
    """Returns what was wrong."""
    async with MixedUpstream(options.seed).running() as upstream:
        gateway = Gateway(folder, upstream.port, start)
        await asyncio.to_thread(write_old_receipts, gateway.data)
        gateway.start()
        await gateway.ready()
        soak = Soak(gateway, options)
        await soak.run()
        faults = [*soak.faults, *await broken_promises(gateway.data, gateway.port, soak.promises, upstream)]
        await gateway.stop()
    faults += verified_log(gateway.data)
    if not any(statuses[200] for statuses in soak.promises.answers.values()):
        faults.append("no call was answered to its end")
    if soak.promises.unrestored:
        faults.append(f"{soak.promises.unrestored} answers were not restored")
    grown = growth(soak.samples)
    if options.minutes >= _TELLING_MINUTES:
        faults += excessive(grown)
    show(soak, grown, upstream)
    if options.json:
        answers = {kind: dict(statuses) for kind, statuses in soak.promises.answers.items()}
        report = {"growth": grown, "answers": answers, "malformed": dict(soak.malformed), "faults": faults}
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return faults


def show(soak: Soak, grown: dict[str, dict[str, float]], upstream: MixedUpstream) -> None:
    """Prints what happened."""
    table = Table("", "second third", "last third", "ratio")
    for name, figures in grown.items():
        table.add_row(name, f"{figures['second']:.1f}", f"{figures['last']:.1f}", f"{figures['ratio']:.3f}")
    Console().print(table)
    answered: Counter[str] = Counter()
    for kind, statuses in soak.promises.answers.items():
        answered[kind] = statuses.total()
    print(f"{answered.total()} calls: {', '.join(f'{count} {kind}' for kind, count in answered.most_common())}")
    print(f"malformed, by status: {dict(sorted(soak.malformed.items()))}")
    print(f"commands, with their status: {dict(soak.commands)}")
    print(f"{soak.promises.records} records, {upstream.crossed.total()} bodies crossed")


def traffic_options(description: str | None, rate: float) -> argparse.ArgumentParser:
    """Returns a parser of the options that say how much traffic there is."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--rate", type=float, default=rate, help="calls a second, of all clients")
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    return parser


def main(arguments: Sequence[str] | None = None, start: Launch = launch) -> int:
    parser = traffic_options(__doc__, rate=10)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        faults = asyncio.run(run(options, Path(folder), start))
    for fault, count in Counter(faults).items():
        print(f"WRONG {fault}" + (f" ({count} times)" if count > 1 else ""))
    print("wrong" if faults else "all is well")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
