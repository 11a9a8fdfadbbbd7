"""The metrics of the gateway's process, read when Prometheus asks for them."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric

METRICS_PATH = "/metrics"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

# Each name with its description and where its value comes from.
type Readings = dict[str, tuple[str, Callable[[], float]]]


class _Collector:
    def __init__(self, readings: Readings) -> None:
        self._readings = readings

    def collect(self) -> Iterator[Metric]:
        for name, (description, read) in self._readings.items():
            yield GaugeMetricFamily(f"privacy_gateway_{name}", description, value=read())
        memory = GaugeMetricFamily(
            "privacy_gateway_resident_memory_bytes", "Memory of each process.", labels=("process",)
        )
        for process, pid in (("gateway", os.getpid()), ("listeners", os.getppid())):
            size = resident_bytes(pid)
            if size is not None:
                memory.add_metric((process,), size)
        yield memory


def exposition(readings: Readings) -> bytes:
    """Returns the readings in Prometheus' text format."""
    registry = CollectorRegistry()
    registry.register(_Collector(readings))
    return generate_latest(registry)


def resident_bytes(pid: int) -> int | None:
    """Returns the resident memory of a process; None where the system does not tell (other than Linux)."""
    try:
        fields = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    except OSError:
        return None
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")
