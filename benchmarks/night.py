"""A night with everything that goes wrong in one, and whether log, metrics and receipts agree about it.

    python -m benchmarks.night [--minutes 30] [--rate 8] [--clients 6] [--seed 1] [--keep FOLDER]

The traffic and the commands are those of `benchmarks.soak`, with tunnels, refused hosts, calls without a key and calls
that the policy blocks. Meanwhile the settings, the certificate and the log file change with SIGHUP, the upstream fails,
the disk is full for a while (a file system in memory, which needs root), a request is held in mitmweb, and both
processes are killed. If Prometheus is installed and there are at least 30 minutes, it watches with the rules of
`packaging/prometheus-alerts.yml`: the alerts that should fire do, and no others.

Before the kill and at the end the clients pause, and everything they did has to be in the log, in the metrics and in
the receipts, each by its request id, and nothing private in any (`benchmarks/night_checks.py`). Linux only.
"""

import argparse
import asyncio
import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import orjson
import trustme

from benchmarks.crash import Gateway, Launch, launch
from benchmarks.crash_checks import broken_promises, until, verified_log
from benchmarks.mixed_calls import Answer, Call, Client, native, sentence, wire_call
from benchmarks.mixed_upstream import MixedUpstream
from benchmarks.night_alerts import Prometheus
from benchmarks.night_checks import Sent, disagreements, lines_of, miscounted, private
from benchmarks.proxy import KEY, free_port
from benchmarks.soak import Soak, excessive, growth, traffic_options, write_old_receipts

_DISK_MB = 1400
# The alert for a disk that fills up fires below a gigabyte, which this one has, and where a day would fill it.
_SCRAPED = 20.0
_HELD = orjson.dumps({"model": "gpt-5", "messages": [{"role": "user", "content": sentence(random.Random(0))}]})
_TELLING_MINUTES = 20.0


class CountedClient(Client):
    """Notes each call in `sent`, and waits while the night is quiet."""

    def __init__(self, night: "Night", port: int, key: str, origin: str) -> None:
        super().__init__(port, key, origin)
        self._night = night
        self._listener = "proxy" if origin else "gateway"

    async def send(
        self, call: Call, *, vanish: float | None = None, answered: Callable[[Answer], object] = lambda _: None
    ) -> Answer:
        async with self._night.sending():
            answer = await super().send(call, vanish=vanish, answered=answered)
            self._night.sent.append(Sent(self._listener, answer.headers.get("x-svc-request-id"), answer.status))
            return answer


class Night(Soak):
    """The traffic of a soak, each call of which is noted."""

    def __init__(self, gateway: Gateway, upstream: MixedUpstream, options: argparse.Namespace) -> None:
        super().__init__(gateway, options)
        self.gateway = gateway
        self.upstream = upstream
        self.clients: list[Client] = []
        self.sent: list[Sent] = []
        self.events: Counter[str] = Counter()
        self._awake = asyncio.Event()
        self._awake.set()
        self._under_way = 0
        self.commanding = asyncio.Lock()
        """Held while a command runs."""
        self.disturbed = False
        """While calls are expected to fail."""

    def work(self) -> list[Coroutine[Any, Any, None]]:
        return [*super().work(), self._send_odd_calls()]

    def fault(self, text: str) -> None:
        if not self.disturbed:
            super().fault(text)

    async def use_commands(self) -> None:
        async with self.commanding:
            await super().use_commands()

    def client(self, port: int, key: str, origin: str = "") -> Client:
        self.clients.append(CountedClient(self, port, key, origin))
        return self.clients[-1]

    @contextlib.asynccontextmanager
    async def sending(self) -> AsyncIterator[None]:
        await self._awake.wait()
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    @contextlib.asynccontextmanager
    async def quiet(self) -> AsyncIterator[None]:
        """Lets the clients pause. Begins when every call has ended and has its line in the log."""
        self._awake.clear()
        await until(lambda: not self._under_way, 90)
        await asyncio.sleep(2)
        try:
            yield
        finally:
            self._awake.set()

    async def _send_odd_calls(self) -> None:
        """Sends, every second or so, what the traffic does not have: refusals and tunnels."""
        rng = random.Random(f"{self._options.seed} odd")
        gateway = self._gateway
        stranger = self.client(gateway.port, "svck_nobody-" + "x" * 30)
        client = self.client(gateway.port, KEY)
        while True:
            await asyncio.sleep(rng.uniform(0.5, 1.5))
            match rng.randrange(6):
                case 0:
                    await stranger.send(wire_call(rng))
                case 1:
                    blocked = {"text": sentence(rng), "policy_id": "night-block"}
                    await client.send(native("protect", blocked))
                case 2:
                    await client.send(Call("unknown", "/v1/no-such-call", b"{}", ""))
                case 3:
                    await self._connect(f"localhost:{self.upstream.port + 1}")
                case 4:
                    await self._connect(f"127.0.0.1:{self.upstream.port + 1}")
                case _:
                    await self._connect("chatgpt.com:443")

    async def _connect(self, target: str) -> None:
        """Asks the proxy for a tunnel: to a host that it refuses, or to a port that is closed."""
        async with self.sending():
            said = b""
            with contextlib.suppress(OSError, EOFError, TimeoutError):
                reader, writer = await asyncio.open_connection("127.0.0.1", self.gateway.proxy_port)
                with contextlib.closing(writer):
                    writer.write(f"CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n\r\n".encode())
                    said = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
            self.sent.append(Sent("proxy", None, int(said.split(b" ", 2)[1]) if said else 0))


class Course:
    """The events of the night, and the checks after them."""

    def __init__(self, night: Night, folder: Path, options: argparse.Namespace, prometheus: Prometheus) -> None:
        self._night = night
        self._gateway = night.gateway
        self._folder = folder
        self._seconds = options.minutes * 60
        self._operations = options.operations_port
        self._web = options.web_port
        self._prometheus = prometheus
        self._since_start = self._first_line = self._first_sent = 0
        self.faults: list[str] = []
        self.grown: dict[str, dict[str, float]] = {}

    async def run(self) -> None:
        """Takes `--minutes`, in parts of a thirtieth."""
        night, part, alerts = self._night, self._seconds / 30, self._prometheus
        self._first_line = len(lines_of(self._folder))
        client = night.client(self._gateway.port, KEY)
        block = {"id": "night-block", "title": "Block", "rules": {"CREDIT_CARD": {"action": "block"}}}
        night.promises.created(await client.send(native("policies", block)))
        await asyncio.sleep(2 * part)
        with alerts.expecting("CertificateExpires", "CertificateExpiresSoon", after=_SCRAPED):
            await self._reload(ends=timedelta(days=1))
            await asyncio.sleep(2 * part)
            await self._reload(ends=timedelta(days=200))
        with alerts.expecting("HeldTooLong", after=_SCRAPED):
            held = await self._hold()
            with alerts.expecting("UpstreamFailing", after=7 * 60):
                night.upstream.faults = 0.9
                await asyncio.sleep(7 * part)
                night.upstream.faults = 0.05
            await asyncio.sleep(part)
            with alerts.expecting("NotReady", after=_SCRAPED), alerts.expecting("Faults", after=9 * 60):
                await self._fill_disk(3 * part)
            await self._release(held)
        await asyncio.sleep(5 * part)
        async with night.quiet():
            await self._compare("before the kill")
        self.grown = growth(night.samples)
        await asyncio.sleep(part / 2)
        with alerts.expecting("Down", after=60):
            await self._kill(3 * part)
        await asyncio.sleep(6 * part)
        async with night.quiet():
            await self._compare("at the end")

    async def _reload(self, ends: timedelta) -> None:
        """Gives the listeners another certificate and the log another file, changes a setting, and sends SIGHUP."""
        write_certificate(self._folder, ends)
        number = self._night.events["reload"] = self._night.events["reload"] + 1
        config = self._gateway.config
        config.write_text(re.sub(r"(rate_limit_per_minute = ).*", rf"\g<1>{100_000 + number}", config.read_text()))
        log = self._folder / "night.log"
        log.rename(self._folder / f"night.{number}.log")
        os.kill(self._gateway.pid, signal.SIGHUP)
        said = b"changed settings: rate_limit_per_minute"
        if not await until(lambda: log.exists() and said in log.read_bytes(), 20):
            self.faults.append("SIGHUP did not reload")

    @contextlib.asynccontextmanager
    async def _mitmweb(self) -> AsyncIterator[httpx.AsyncClient]:
        async with httpx.AsyncClient(base_url=f"https://127.0.0.1:{self._web}", verify=False) as web:
            token = (self._gateway.data / "mitmweb.url").read_text().rpartition("token=")[2].strip()
            await web.get("/", params={"token": token})
            web.cookies.set("_mitmproxy_xsrf", "night")
            web.headers["x-xsrftoken"] = "night"
            yield web

    async def _hold(self) -> asyncio.Task[Answer]:
        """Has mitmweb hold one chat. Returns its call."""
        call = Call("chat/completions", "/v1/chat/completions", _HELD, "")
        client = self._night.client(self._gateway.port, KEY)
        async with self._night.quiet(), self._mitmweb() as web:
            await web.put("/options", json={"intercept": "~u chat", "intercept_active": True})
            # The quiet night holds it back otherwise.
            held = asyncio.create_task(Client.send(client, call, vanish=3600))
            for _ in range(100):
                if await self._held(web):
                    break
                await asyncio.sleep(0.1)
            else:
                self.faults.append("the request was not held")
            await web.put("/options", json={"intercept": "", "intercept_active": False})
        return held

    async def _held(self, web: httpx.AsyncClient) -> list[str]:
        return [flow["id"] for flow in (await web.get("/flows")).json() if flow.get("intercepted")]

    async def _release(self, call: asyncio.Task[Answer]) -> None:
        # The upstream answers every call for as long, so that the held one shows what the gateway does.
        faults, self._night.upstream.faults = self._night.upstream.faults, 0
        async with self._mitmweb() as web:
            for each in await self._held(web):
                await web.post(f"/flows/{each}/resume")
        answer = await asyncio.wait_for(call, 60)
        self._night.upstream.faults = faults
        self._night.sent.append(Sent("gateway", answer.headers.get("x-svc-request-id"), answer.status))
        if b"Anna Canary" not in answer.body:
            self.faults.append(f"the held request was not answered ({answer.status})")
        self._night.events["held"] += 1

    async def _fill_disk(self, seconds: float) -> None:
        """Leaves no room on the disk of the database for a while."""
        if not self._gateway.data.is_mount():
            print("the disk is not filled: that needs root")
            return
        async with self._night.commanding:
            await self._without_room(seconds)

    async def _without_room(self, seconds: float) -> None:
        filler = self._gateway.data / "filler"
        with contextlib.suppress(OSError), filler.open("wb") as file:
            while True:
                file.write(b"\0" * 65536)
                file.flush()
        self._night.events["disk full"] += 1
        self._night.disturbed = True
        await asyncio.sleep(seconds)
        filler.unlink()
        await asyncio.sleep(10)
        self._night.disturbed = False

    async def _kill(self, seconds: float) -> None:
        """Kills both processes under load, and starts the gateway again after a while."""
        night = self._night
        async with night.commanding:
            await self._gateway.kill("both")
            night.events["kill"] += 1
            async with night.quiet():
                await asyncio.sleep(seconds)
                # Calls that were under way at the kill have no line.
                self._since_start = len(lines_of(self._folder))
                self._gateway.start()
                await self._gateway.ready()
                await asyncio.sleep(1)
                self._first_line, self._first_sent = len(lines_of(self._folder)), len(night.sent)

    async def _compare(self, when: str) -> None:
        every = lines_of(self._folder)
        lines = every[self._first_line :]
        async with httpx.AsyncClient() as client:
            metrics = (await client.get(f"http://127.0.0.1:{self._operations}/metrics")).text
        sent = self._night.sent[self._first_sent :]
        found = [*disagreements(sent, lines, self._gateway.data), *miscounted(every[self._since_start :], metrics)]
        self.faults += [f"{when}: {each}" for each in found]
        self.faults += [f"{when}: {each}" for each in private(metrics.encode(), self._folder)]
        statuses = Counter(f"{line['outcome']} {line.get('code', '')}".strip() for line in lines)
        print(f"{when}: {len(sent)} calls, {len(lines)} lines: {dict(statuses.most_common())}", flush=True)


def write_certificate(folder: Path, ends: timedelta) -> tuple[Path, Path]:
    """Writes a certificate of the listeners and its key, and returns their paths."""
    made = trustme.CA().issue_cert("127.0.0.1", not_after=datetime.now(UTC) + ends)
    certificate, key = folder / "listener.pem", folder / "listener.key"
    certificate.write_bytes(b"".join(each.bytes() for each in made.cert_chain_pems))
    key.touch(mode=0o600)
    key.write_bytes(made.private_key_pem.bytes())
    return certificate, key


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Mounts a file system in memory as the folder, if that is permitted."""
    folder.mkdir(mode=0o700)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_DISK_MB}m,mode=700", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, check=False, stderr=subprocess.DEVNULL).returncode == 0
    try:
        yield
    finally:
        if mounted:
            # Keep its files, which end with the file system.
            shutil.copytree(folder, folder.with_name("data-left"), ignore=lambda *_: ["mitmweb.url"])
            subprocess.run(["umount", str(folder)], check=True)


async def run(options: argparse.Namespace, folder: Path, start: Launch = launch) -> list[str]:
    """Returns what was wrong."""
    certificate, key = write_certificate(folder, timedelta(days=200))
    options.operations_port, options.web_port = free_port(), free_port()
    more = (
        f'log_json = true\nlog_file = "{folder / "night.log"}"\n'
        f'tls_certificate = "{certificate}"\ntls_key = "{key}"\ntls_listeners = ["web"]\n'
        f"operations_port = {options.operations_port}\nrate_limit_per_minute = 100000\n"
    )
    arguments = ("--web", "--web-port", str(options.web_port))
    async with MixedUpstream(options.seed).running() as upstream:
        gateway = Gateway(folder, upstream.port, start, more, arguments)
        with small_disk(gateway.data), Prometheus(folder, options.operations_port, options.minutes) as prometheus:
            await asyncio.to_thread(write_old_receipts, gateway.data)
            gateway.start()
            night = Night(gateway, upstream, options)
            try:
                await gateway.ready()
                course = Course(night, folder, options, prometheus)
                await night.run(course.run())
                faults = [*night.faults, *course.faults, *await prometheus.faults()]
                faults += await broken_promises(gateway.data, gateway.port, night.promises, upstream)
            finally:
                for each in night.clients:
                    each.close()
                await gateway.stop()
            faults += verified_log(gateway.data)
    grown = course.grown
    if options.minutes >= _TELLING_MINUTES:
        faults += excessive(grown)
    print({name: {part: round(figure, 2) for part, figure in each.items()} for name, each in grown.items()})
    print(f"events: {dict(night.events)}; commands: {dict(night.commands)}")
    return faults


def main(arguments: Sequence[str] | None = None, start: Launch = launch) -> int:
    parser = traffic_options(__doc__, rate=8)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="an empty folder to leave the log and the rest in")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as made:
        faults = asyncio.run(run(options, options.keep or Path(made), start))
    for fault, count in Counter(faults).items():
        print(f"WRONG {fault}" + (f" ({count} times)" if count > 1 else ""))
    print(f"{'wrong' if faults else 'all agree'}, after {(time.monotonic() - began) / 60:.1f} minutes")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
