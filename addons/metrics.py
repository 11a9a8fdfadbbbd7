"""Counts and times requests for Prometheus. No label comes from a client.

The gateway's process has metrics of its own (`gateway/http/metrics.py`); `/metrics` answers with both.
"""

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, get_args

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

from gateway import __version__
from gateway.guard.verdict import GuardAction, Kind
from gateway.http.metrics import add_reading

# The time at which each series began, which Prometheus does not need.
disable_created_metrics()

# The actions of the guard about findings.
_ACTIONS = [action for action in get_args(GuardAction.__value__) if action != "pass"]
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)


class Metrics:
    """The metrics of the listeners."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        Gauge("privacy_gateway_build_info", "1, with the version that runs.", ("version",), registry=registry).labels(
            __version__
        ).set(1)
        self._requests = Counter(
            "privacy_gateway_requests",
            "Requests and tunnels that have ended.",
            ("listener", "wire", "operation", "outcome", "code"),
            registry=registry,
        )
        self._stages = Histogram(
            "privacy_gateway_stage_seconds",
            "Time that requests spent in each stage; `overhead` is the total without receiving, holding and upstream.",
            ("listener", "stage"),
            buckets=_SECONDS,
            registry=registry,
        )
        self._bytes = Counter(
            "privacy_gateway_bytes", "Bytes of bodies, received and sent.", ("listener", "direction"), registry=registry
        )
        self._entities = Counter(
            "privacy_gateway_entities", "Private values that were found.", ("type",), registry=registry
        )
        self._actions = Counter(
            "privacy_gateway_actions", "Private values, by the policy's action.", ("action",), registry=registry
        )
        self._findings = Counter(
            "privacy_gateway_guard_findings",
            "Findings of the guard in answers, by what became of the answer.",
            ("kind", "action"),
            registry=registry,
        )
        # From the start, so that the increase of the first finding is seen.
        for kind, action in product(Kind, _ACTIONS):
            self._findings.labels(kind.value, action)

    def observe(self, line: Mapping[str, Any]) -> None:
        """Counts the line of a request (`addons/request_log.py`)."""
        listener = line["listener"]
        labels = (line.get(name) or "" for name in ("wire", "operation", "outcome", "code"))
        self._requests.labels(listener, *labels).inc()
        for stage, milliseconds in line.get("ms", {}).items():
            self._stages.labels(listener, stage).observe(milliseconds / 1000)
        for direction, size in line.get("bytes", {}).items():
            self._bytes.labels(listener, direction).inc(size)
        for type_, count in (line.get("entities") or {}).items():
            self._entities.labels(type_).inc(count)
        for action, count in (line.get("actions") or {}).items():
            self._actions.labels(action).inc(count)
        guard = line.get("guard") or {}
        for kind, count in guard.get("findings", {}).items():
            self._findings.labels(kind, guard["action"]).inc(count)

    def read(self, name: str, description: str, reading: Callable[[], float]) -> None:
        """Adds a value that is read when it is asked for."""
        add_reading(self._registry, name, description, reading)

    def exposition(self) -> bytes:
        """Returns the metrics in Prometheus' text format."""
        return generate_latest(self._registry)
