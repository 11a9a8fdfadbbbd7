"""Compares what clients did with the lines of the log, the metrics and the receipts, request by request."""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from prometheus_client.parser import text_string_to_metric_families

from addons.metrics import Metrics
from benchmarks.mixed_calls import PRIVATE
from benchmarks.proxy import KEY

type Line = Mapping[str, Any]

_COUNTED = ("requests", "stage_seconds", "bytes", "entities", "actions", "guard_findings")
_SHOWN = 3


class Sent(NamedTuple):
    """One call of a client. Without a status the client vanished, or the connection broke before the answer."""

    listener: str
    request_id: str | None
    status: int


def lines_of(folder: Path) -> list[Line]:
    """Returns the lines of requests in all files of the log, the oldest first."""
    files = sorted(folder.glob("night*.log"), key=lambda each: each.stat().st_mtime_ns)
    every = (json.loads(line) for file in files for line in file.read_bytes().splitlines())
    return [line for line in every if line["logger"] == "gateway.requests"]


def disagreements(sent: Sequence[Sent], lines: Sequence[Line], data: Path) -> list[str]:
    """Returns what does not agree with the calls. Every one has to have ended."""
    return [*_of_clients(sent, lines), *_of_receipts(lines, data)]


def _of_clients(sent: Sequence[Sent], lines: Sequence[Line]) -> Iterator[str]:
    by_id = Counter(line["request_id"] for line in lines if "request_id" in line)
    if several := [each for each, count in by_id.items() if count > 1]:
        yield f"{len(several)} requests have several lines"
    statuses = {line.get("request_id"): line.get("status") for line in lines}
    told = [each for each in sent if each.request_id]
    if missing := [each for each in told if each.request_id not in by_id]:
        yield f"{len(missing)} answered requests have no line, such as {missing[:_SHOWN]}"
    if other := [each for each in told if each.request_id in by_id and statuses[each.request_id] != each.status]:
        yield f"{len(other)} lines have another status than the answer, such as {other[:_SHOWN]}"
    for listener in ("gateway", "proxy"):
        calls = [each for each in sent if each.listener == listener]
        found = sum(line["listener"] == listener for line in lines)
        # A client that vanished at once may have sent nothing.
        vanished = sum(not each.status for each in calls)
        if not len(calls) - vanished <= found <= len(calls):
            yield f"{len(calls)} calls of the {listener}, {vanished} of them without an answer, have {found} lines"


def miscounted(lines: Sequence[Line], metrics: str) -> Iterator[str]:
    """Counts the lines anew, and compares."""
    counted = Metrics()
    for line in lines:
        counted.observe(line)
    expected, found = _samples(counted.exposition().decode()), _samples(metrics)
    differing = [each for each in expected.keys() | found.keys() if abs(expected[each] - found[each]) > 1e-6]
    if differing:
        shown = [(each, expected[each], found[each]) for each in differing[:_SHOWN]]
        yield f"{len(differing)} metrics differ from the log, such as {shown} (expected and found)"
    requests = sum(value for (name, _), value in found.items() if name == "privacy_gateway_requests_total")
    if requests != len(lines):
        yield f"the metrics count {requests:.0f} requests, and the log {len(lines)}"


def _samples(text: str) -> Counter[Any]:
    names = {f"privacy_gateway_{each}" for each in _COUNTED}
    found: Counter[Any] = Counter()
    for family in text_string_to_metric_families(text):
        if family.name in names:
            for sample in family.samples:
                found[sample.name, frozenset(sample.labels.items())] = sample.value  # type: ignore[assignment]
    return found


def _of_receipts(lines: Sequence[Line], data: Path) -> Iterator[str]:
    with closing(sqlite3.connect(f"file:{data / 'gateway.db'}?mode=ro", uri=True)) as database:
        query = "SELECT sequence, kind, request_id, body FROM receipts ORDER BY sequence"
        records = [(sequence, kind, asked, json.loads(body)) for sequence, kind, asked, body in database.execute(query)]
    receipts = {asked: (sequence, body) for sequence, kind, asked, body in records if kind == "receipt"}
    outcomes = {asked: body for _, kind, asked, body in records if kind == "outcome"}
    named = {line["request_id"]: line for line in lines if "receipt" in line}
    if lost := [asked for asked, line in named.items() if receipts.get(asked, (0,))[0] != line["receipt"]]:
        yield f"{len(lost)} receipts of the log are not in the store, such as {lost[:_SHOWN]}"
    # Receipts of an earlier run of the gateway have their lines before these.
    since = min((line["receipt"] for line in named.values()), default=0)
    later = {asked: body for asked, (sequence, body) in receipts.items() if sequence >= since}
    known = {line.get("request_id") for line in lines}
    quiet = [asked for asked in later if asked not in known and outcomes.get(asked, {}).get("outcome") != "interrupted"]
    if quiet:
        shown = [(asked, later[asked]["operation"]) for asked in quiet[:_SHOWN]]
        yield f"{len(quiet)} receipts have no line, such as {shown}"
    for name, member in (("entities", "entity_counts"), ("actions", "transformation_counts")):
        ours, theirs = Counter[str](), Counter[str]()
        for asked, line in named.items():
            ours.update(line.get(name, {}))
            theirs.update(later.get(asked, {}).get(member, {}))
        if ours != theirs:
            yield f"the {name} of the log are {dict(ours)}, those of the receipts {dict(theirs)}"
    told = Counter((line["outcome"], outcomes[asked]["outcome"]) for asked, line in named.items() if asked in outcomes)
    if unequal := {pair: count for pair, count in told.items() if pair[0] != pair[1]}:
        yield f"outcomes of the log and of the receipts differ: {unequal}"


def private(metrics: bytes, folder: Path) -> Iterator[str]:
    """Yields where something private is: in the metrics, or in a file below a folder."""
    secrets = re.compile(PRIVATE.pattern + b"|" + re.escape(KEY.encode()) + b"|key-of-the-provider|svck_nobody")
    if secrets.search(metrics):
        yield "the metrics hold something private"
    for file in folder.rglob("*"):
        if file.is_file() and file.name != "filler" and secrets.search(file.read_bytes()):
            yield f"{file.name} holds something private"
