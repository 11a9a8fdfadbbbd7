"""Checks after a restart that nothing is missing of what a gateway promised before it was killed."""

import asyncio
import random
import re
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from benchmarks.mixed_calls import GARBAGE, Answer, Call, Client, native, spoken
from benchmarks.mixed_upstream import MixedUpstream
from benchmarks.proxy import KEY
from gateway.receipt_log.audit import audit
from gateway.receipt_log.checkpoint_file import read_checkpoint
from gateway.receipt_log.signing_key import load_signer
from gateway.receipts.drafts import EXCHANGES
from gateway.store import open_read_only

_UNRESTORED = re.compile(r"\[[A-Z_]+_[0-9A-Z]{5,}\]")
_SESSIONS_AT_ONCE = 50
_CLOSING_SECONDS = 5.0


@dataclass
class Session:
    """A session that a client was given, with each protected text and its source."""

    credentials: dict[str, str]
    texts: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Promises:
    """Everything that clients were told, and what was wrong with it already then."""

    receipts: dict[str, str] = field(default_factory=dict)
    """The hash of each receipt by its request."""
    sessions: list[Session] = field(default_factory=list)
    policies: set[tuple[str, int]] = field(default_factory=set)
    answers: defaultdict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    """Statuses by kind; 0 for answers that were cut off."""
    kills: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    unrestored: int = 0
    interrupted: int = 0
    records: int = 0

    def told(self, answer: Answer) -> None:
        """Takes the head of an answer, which may be all of it that arrives."""
        if "x-svc-receipt" in answer.headers:
            self.receipts[answer.headers["x-svc-request-id"]] = answer.headers["x-svc-receipt"]

    def check_answer(self, call: Call, answer: Answer) -> None:
        """Takes the answer to a call of a wire."""
        kind = f"{call.kind}{', streamed' if call.stream else ''}"
        self.answers[kind][answer.status if answer.complete else 0] += 1
        if not answer.complete or answer.status != 200 or answer.body == GARBAGE:
            return
        said = spoken(call, answer)
        if call.sentence not in said:
            # The listeners pass on what an upstream said as it is when the gateway has just gone.
            if _UNRESTORED.search(said):
                self.unrestored += 1
            else:
                self.faults.append(f"an answer of {kind} does not hold what the client wrote")

    def granted(self, source: str, answer: Answer, known: Session | None) -> None:
        """Takes the answer to `/v1/protect`, in a known session or a new one."""
        self.answers["protect"][answer.status if answer.complete else 0] += 1
        if not answer.complete or answer.status != 200:
            return
        credentials = self.noted(answer)
        if known is None:
            known = Session(credentials)
            self.sessions.append(known)
        known.texts.append((answer.json["protected_text"], source))

    def noted(self, answer: Answer) -> dict[str, str]:
        """Takes the receipt of an answer to `/v1/protect`, and returns the credentials of its session."""
        body = answer.json
        self.receipts[body["request_id"]] = body["receipt"]["hash"]
        return {name: body["session"][name] for name in ("session_id", "session_token")}

    def created(self, answer: Answer) -> None:
        """Takes the answer to a policy that was posted."""
        if answer.complete and answer.status == 201:
            self.policies.add((answer.json["id"], answer.json["version"]))


async def until(holds: Callable[[], bool], seconds: float) -> bool:
    """Waits until a condition holds, or for so many seconds. Returns whether it does."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        await asyncio.sleep(0.02)
    return holds()


async def broken_promises(data: Path, port: int, promises: Promises, upstream: MixedUpstream) -> list[str]:
    """Compares what is stored with what was promised. Nothing else may use the gateway meanwhile."""
    found = list(promises.faults)
    promises.faults.clear()
    with closing(sqlite3.connect(f"file:{data / 'gateway.db'}?mode=ro", uri=True)) as database:
        # Interrupted exchanges are closed in the background of the start, and clients may have vanished just now.
        wrong: list[str] = []

        def is_right() -> bool:
            wrong[:] = _in_log(database, promises, upstream)
            return not wrong

        await until(is_right, _CLOSING_SECONDS)
        found += [*wrong, *_in_tables(database, promises)]
    found += [f"{path} reached the upstream with something private" for path in upstream.leaks]
    upstream.leaks.clear()
    client = Client(port, KEY)
    # The newest ones, which the kill may have hit, and a few that are older.
    for session in (*promises.sessions[-_SESSIONS_AT_ONCE:], *promises.sessions[: _SESSIONS_AT_ONCE // 10]):
        protected, source = random.Random(len(session.texts)).choice(session.texts)
        answer = await client.send(native("reconstruct", {"text": protected, "session": session.credentials}))
        if answer.status != 200 or answer.json["text"] != source:
            found.append(f"a session does not give back its text ({answer.status})")
    client.close()
    return found


def verified_log(data: Path) -> list[str]:
    """Verifies every record and signature of the log, as `receipts verify` does."""
    with open_read_only(data) as store:
        found = audit(store, load_signer(data), read_checkpoint(data), lambda _: None)
    return [f"{check.name}: {check.detail}" for check in found.checks if not check.ok]


def _in_log(database: sqlite3.Connection, promises: Promises, upstream: MixedUpstream) -> Iterator[str]:
    receipts: dict[str, dict[str, Any]] = {}
    hashes: dict[str, str] = {}
    outcomes: Counter[str] = Counter()
    sequences, interrupted = list[int](), 0
    # One snapshot for both queries: the last records may still be on their way.
    database.execute("BEGIN")
    query = "SELECT sequence, kind, request_id, body, hash FROM receipts ORDER BY sequence"
    for sequence, kind, request_id, body, stored in database.execute(query):
        sequences.append(sequence)
        if kind == "receipt":
            receipts[request_id], hashes[request_id] = orjson.loads(body), stored
        elif kind == "outcome":
            outcomes[request_id] += 1
            interrupted += '"outcome":"interrupted"' in body
    promises.interrupted, promises.records = interrupted, len(sequences)
    first, last = (sequences[0], sequences[-1]) if sequences else (1, 0)
    if sequences != list(range(first, last + 1)):
        yield "the records are not numbered without a gap"
    told = promises.receipts.items()
    if missing := [each for each, hash in told if hashes.get(each) != hash]:
        yield f"{len(missing)} receipts that clients were told of are not in the log"
    digests = Counter(receipt["protected_digest"] for receipt in receipts.values())
    if crossed := upstream.crossed - digests:
        yield f"{crossed.total()} bodies reached the upstream without a receipt"
    opened = {each for each, receipt in receipts.items() if receipt["operation"] in EXCHANGES}
    if opened - outcomes.keys():
        yield f"{len(opened - outcomes.keys())} exchanges have no outcome"
    # Refused calls of the native API have one, too.
    if outcomes.keys() - receipts.keys() or any(count != 1 for count in outcomes.values()):
        yield "there are outcomes that belong to no exchange, or several of one"
    query = "SELECT sum(count) FROM usage WHERE meter IN ('operations', 'outcomes', 'log_records')"
    (counted,) = database.execute(query).fetchone()
    database.rollback()
    if (counted or 0) != last:
        yield f"the meters count {counted} records, and there were {last}"


def _in_tables(database: sqlite3.Connection, promises: Promises) -> Iterator[str]:
    half = """
        SELECT count(*) FROM vault_sessions AS session WHERE NOT purged
        AND (rows = 0 OR rows != (SELECT count(*) FROM vault_rows WHERE vault_rows.session_id = session.session_id))
    """
    orphans = "SELECT count(*) FROM vault_rows WHERE session_id NOT IN (SELECT session_id FROM vault_sessions)"
    for query, what in ((half, "sessions are half-written"), (orphans, "sealed rows belong to no session")):
        (count,) = database.execute(query).fetchone()
        if count:
            yield f"{count} {what}"
    stored = set(database.execute("SELECT id, version FROM policies WHERE NOT builtin"))
    if promises.policies - stored:
        yield f"{len(promises.policies - stored)} policies that were created are missing"
