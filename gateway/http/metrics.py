"""Metrics that are read when Prometheus asks for them, and those of the gateway's process."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from gateway.errors import GatewayError

METRICS_PATH = "/metrics"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

# Each name with its description and where its value comes from.
type Readings = Mapping[str, tuple[str, Callable[[], float]]]


class _Reading(Collector):
    """Has no sample while the value cannot be read, because the database is missing, say: the others are still told."""

    def __init__(self, name: str, description: str, read: Callable[[], float]) -> None:
        self._kind = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
        self._told = f"privacy_gateway_{name}", description
        self._read = read

    def collect(self) -> Iterator[Metric]:
        family = self._kind(*self._told)
        with suppress(GatewayError, OSError):
            family.add_metric([], self._read())
        yield family


def add_reading(registry: CollectorRegistry, name: str, description: str, read: Callable[[], float]) -> None:
    """Adds a value that is read whenever it is asked for. One whose name ends with `_total` only grows."""
    registry.register(_Reading(name, description, read))


def health(ready: Callable[[], bool]) -> Readings:
    """Returns the metrics of the health of the gateway's process."""
    return {
        "up": ("1 if the gateway's process answers.", lambda: 1),
        "ready": ("1 if requests can be served, as `/readyz` says.", ready),
    }


# In place of the metrics of the gateway's process while that does not answer.
MISSING: Readings = {name: (description, lambda: 0) for name, (description, _) in health(bool).items()}


def exposition(readings: Readings) -> bytes:
    """Returns the readings in Prometheus' text format."""
    registry = CollectorRegistry()
    for name, (description, read) in readings.items():
        add_reading(registry, name, description, read)
    return generate_latest(registry)


def resident_bytes() -> int:
    """Returns the resident memory of this process; 0 where the system does not tell (other than Linux)."""
    try:
        fields = Path("/proc/self/statm").read_text(encoding="ascii").split()
    except OSError:
        return 0
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")
