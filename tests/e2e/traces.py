"""The traces that requests leave: lines of the log, metrics, receipts and the audit of keys, and whether they agree."""

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.e2e.mitmweb import wait_for
from tests.e2e.server import Running

type Trace = dict[str, Any]

LABELS = ("listener", "wire", "operation", "outcome", "code")


def lines_of(running: Running, after: int = 0) -> list[Trace]:
    """Returns the lines of requests in a log in JSON, without the first ones."""
    lines = [json.loads(line) for line in running.output().splitlines() if line.startswith("{")]
    return [line for line in lines if line["logger"] == "gateway.requests"][after:]


def next_lines(running: Running, before: int, number: int = 1) -> list[Trace]:
    """Returns the lines that followed the first ones; waits for so many of them."""
    return wait_for(lambda: found if len(found := lines_of(running, before)) >= number else None, 10)


def line_of(running: Running, request_id: str) -> Trace:
    """Returns the only line of a request; waits for it."""
    (line,) = wait_for(lambda: [line for line in lines_of(running) if line.get("request_id") == request_id], 10)
    return line


def counted(client: httpx.Client) -> Counter[tuple[str, ...]]:
    """Returns how many requests the metrics count, by their labels. That of an operator is not counted yet."""
    families = text_string_to_metric_families(client.get("/metrics").text)
    samples = next(family for family in families if family.name == "privacy_gateway_requests").samples
    return Counter({tuple(sample.labels[name] for name in LABELS): int(sample.value) for sample in samples})


def count_lines(lines: Iterable[Trace]) -> Counter[tuple[str, ...]]:
    """Returns how often lines have the labels of the metrics."""
    return Counter(tuple(line.get(name, "") for name in LABELS) for line in lines)


def pages(client: httpx.Client, path: str) -> list[Trace]:
    """Returns all entries of a list, newest first."""
    found: list[Trace] = []
    while True:
        page = client.get(path, params={"limit": 500, "offset": len(found)}).json()
        found += page["data"]
        if not page["data"] or len(found) >= page["total"]:
            return found
