"""Prometheus beside a night: which alerts fired, and whether they should have."""

import asyncio
import contextlib
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import httpx

from benchmarks.proxy import ROOT, free_port

_RULES = ROOT / "packaging" / "prometheus-alerts.yml"
_SECONDS = 5
# Some alerts wait for ten minutes.
_TELLING_MINUTES = 30
# The disk of the night is small.
_ANY_TIME = {"PrivacyGatewayDiskFillsUp"}


class Prometheus:
    """The server, where it is installed, with our rules; without it nothing is checked."""

    def __init__(self, folder: Path, port: int, minutes: float) -> None:
        self._folder = folder
        self._target = port
        self._port = free_port()
        self._began = time.time()
        self._expected: list[tuple[str, float, float]] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._program = shutil.which("prometheus") if minutes >= _TELLING_MINUTES else None

    def __enter__(self) -> "Prometheus":
        if self._program is None:
            print("no alert is checked: that takes 30 minutes and Prometheus")
            return self
        config = self._folder / "prometheus.yml"
        config.write_text(
            f"global: {{scrape_interval: {_SECONDS}s, evaluation_interval: {_SECONDS}s}}\n"
            f"rule_files: ['{_RULES}']\n"
            "scrape_configs: [{job_name: privacy-gateway, static_configs: "
            f"[{{targets: ['127.0.0.1:{self._target}']}}]}}]\n"
        )
        with (self._folder / "prometheus.out").open("wb") as output:
            self._process = subprocess.Popen(
                [
                    self._program,
                    f"--config.file={config}",
                    f"--storage.tsdb.path={self._folder / 'prometheus'}",
                    f"--web.listen-address=127.0.0.1:{self._port}",
                ],
                stdout=output,
                stderr=output,
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(30)

    @contextlib.contextmanager
    def expecting(self, *alerts: str, after: float) -> Iterator[None]:
        """The alerts have to fire within the context, or so many seconds after it, and may at no other time."""
        began = time.time()
        try:
            yield
        finally:
            self._expected += [(f"PrivacyGateway{alert}", began, time.time() + after) for alert in alerts]

    async def faults(self) -> list[str]:
        """Returns the alerts that did not fire when they should have, and those that fired without a reason."""
        if self._process is None:
            return []
        query = {"query": 'ALERTS{alertstate="firing"}', "start": self._began, "end": time.time(), "step": _SECONDS}
        async with httpx.AsyncClient(trust_env=False) as client:
            for _ in range(20):
                with contextlib.suppress(httpx.TransportError):
                    answer = await client.get(f"http://127.0.0.1:{self._port}/api/v1/query_range", params=query)
                    break
                await asyncio.sleep(1)
            else:
                return ["Prometheus does not answer"]
        series = answer.json()["data"]["result"]
        fired = [(each["metric"]["alertname"], float(at)) for each in series for at, _ in each["values"]]
        times = {
            name: (min(at for n, at in fired if n == name), max(at for n, at in fired if n == name))
            for name, _ in fired
        }
        print("alerts, with the minutes at which they fired: ", end="")
        print({name: tuple(round((at - self._began) / 60, 1) for at in both) for name, both in times.items()})
        found = [
            f"the alert {alert} did not fire"
            for alert, began, end in self._expected
            if not any(name == alert and began <= at <= end for name, at in fired)
        ]
        for name in times.keys() - _ANY_TIME:
            spans = [(began, end) for alert, began, end in self._expected if alert == name]
            if wrong := [at for each, at in fired if each == name and not any(b <= at <= e for b, e in spans)]:
                found.append(f"the alert {name} fired without a reason, {(wrong[0] - self._began) / 60:.1f} minutes in")
        return found
