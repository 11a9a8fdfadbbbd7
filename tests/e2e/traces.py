"""The traces that requests leave: lines of the log, metrics, receipts and the audit of keys, and whether they agree."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families

from gateway.receipts.drafts import EXCHANGES, OPERATIONS
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


_WITHOUT_OUTCOME = OPERATIONS - EXCHANGES


def disagreements(lines: Iterable[Trace], receipts: Iterable[Trace]) -> list[str]:
    """Compares the lines of all requests with all receipts, and says where they differ."""
    found: list[str] = []
    by_id: dict[str, list[Trace]] = {}
    for line in lines:
        by_id.setdefault(line.get("request_id", ""), []).append(line)
    by_id.pop("", None)
    known = {receipt["request_id"]: receipt for receipt in receipts if receipt["operation"] != "edit"}
    found += [f"{request_id} has {len(each)} lines" for request_id, each in by_id.items() if len(each) > 1]
    found += [f"{request_id} has a receipt and no line" for request_id in known.keys() - by_id.keys()]
    for request_id, (line, *_) in by_id.items():
        receipt = known.get(request_id)
        if receipt is None:
            found += [f"{request_id} has no receipt {line['receipt']}"] if "receipt" in line else []
        else:
            found += [f"{request_id}: {problem}" for problem in _differences(line, receipt)]
    return found


def _differences(line: Trace, receipt: Trace) -> Iterator[str]:
    # A client that leaves during protection has its line before the receipt is written.
    if line.get("receipt") != receipt["sequence"] and line["outcome"] != "cancelled":
        yield f"line of receipt {line.get('receipt')}, and receipt {receipt['sequence']}"
    pairs = {"key_id": "api_key_id", "credential": "credential", "wire": "wire", "model": "model"}
    for name, member in pairs.items():
        if "receipt" in line and line.get(name) != receipt.get(member):
            yield f"{name} {line.get(name)} and {receipt.get(member)}"
    outcome = receipt.get("outcome")
    if receipt["operation"] in _WITHOUT_OUTCOME and line["outcome"] == "answered":
        return
    if outcome is None:
        yield f"{line['outcome']} without an outcome"
    elif (line["outcome"], line.get("code")) != (outcome["outcome"], outcome.get("code")):
        yield f"{line['outcome']} {line.get('code')} and {outcome['outcome']} {outcome.get('code')}"
