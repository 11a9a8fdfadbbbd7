"""Metrics that are read when Prometheus asks for them, and those of the gateway's process."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from prometheus_client import CollectorRegistry, Gauge, generate_latest

METRICS_PATH = "/metrics"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

# Each name with its description and where its value comes from.
type Readings = Mapping[str, tuple[str, Callable[[], float]]]


def add_reading(registry: CollectorRegistry, name: str, description: str, read: Callable[[], float]) -> None:
    """Adds a value that is read whenever it is asked for."""
    Gauge(f"privacy_gateway_{name}", description, registry=registry).set_function(read)


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
