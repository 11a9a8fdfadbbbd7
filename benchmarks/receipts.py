"""Measures the cost of a receipt: durable appends against raw inserts, verifying a log, and proving one receipt in it.

    python -m benchmarks.receipts [--seconds 5] [--records 100000] [--tree 10000000] [--one 1000000]
        [--json FILE]

append    receipts a second that so many writers get, each waiting until its own is on disk; and rows a second that a
          thread inserts into a table of the same columns, as many in a transaction as there are writers, with the same
          settings of SQLite. Both in turns, on the same disk.
verify    the whole log of `--records`, every hash and signature; and by how much memory grew meanwhile
prove     an inclusion proof in that log; and in a tree of `--tree` records, of which all subtrees are stored as in a
          log, but only those records that the proofs read
one       one receipt verified in a tree of `--one` records like that: record, signature, proof and checkpoint
"""

import argparse
import asyncio
import json
import random
import secrets
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from benchmarks.one_core import on_one_core
from gateway.models import PolicyRef
from gateway.receipt_log.audit import audit
from gateway.receipt_log.checkpoint_file import read_checkpoint
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.proofs import verify_by_proof
from gateway.receipt_log.signing_key import load_signer
from gateway.receipt_log.tree import StoredTree
from gateway.receipts.checkpoint import sign_checkpoint
from gateway.receipts.drafts import ReceiptDraft
from gateway.receipts.merkle import TILE_WIDTH, Frontier, included_root, leaf_hash
from gateway.receipts.records import Head, make_record, receipt_body
from gateway.store import Repositories, open_read_only, open_store
from gateway.store.rows import NewRecord, NodeRow
from gateway.store.sqlite.connection import connect_writer

WRITERS = 64
_TURNS = 3
_PROOFS = 200


def draft() -> ReceiptDraft:
    """A receipt of a chat, as long as most."""
    return ReceiptDraft(
        request_id="req_" + secrets.token_hex(16),
        operation="chat",
        policy=PolicyRef("default", 3, "a1" * 32),
        engine_version="patterns-1.0+0123456789ab",
        model_hash=None,
        route="protected",
        risk_level="medium",
        entity_counts={"PERSON": 2, "EMAIL_ADDRESS": 1},
        transformation_counts={"placeholder": 3},
        tokens_input=120,
        tokens_external=98,
        protected_digest=secrets.token_hex(32),
    )


async def appended(log: ReceiptLog, seconds: float) -> float:
    """Returns how many receipts a second the writers get."""
    began, done = time.perf_counter(), 0

    async def write() -> None:
        nonlocal done
        while time.perf_counter() - began < seconds:
            await log.append(draft(), "key_benchmark")
            done += 1

    await asyncio.gather(*(write() for _ in range(WRITERS)))
    return done / (time.perf_counter() - began)


def inserted(folder: Path, row: NewRecord, seconds: float) -> float:
    """Returns how many rows a second one thread inserts, in transactions of as many as there are writers."""
    with closing(connect_writer(folder / "raw.db").conn) as conn:
        columns = ", ".join(f"{name} {'INTEGER PRIMARY KEY' if name == 'sequence' else 'TEXT'}" for name in row._fields)
        conn.execute(f"CREATE TABLE IF NOT EXISTS receipts ({columns})")
        conn.execute("CREATE UNIQUE INDEX IF NOT EXISTS by_request ON receipts (request_id, kind)")
        statement = f"INSERT INTO receipts VALUES ({', '.join('?' * len(row))})"
        done = first = conn.execute("SELECT coalesce(max(sequence), 0) FROM receipts").fetchone()[0]
        began = time.perf_counter()
        while time.perf_counter() - began < seconds:
            rows = [row._replace(sequence=done + n, request_id=secrets.token_hex(16)) for n in range(1, WRITERS + 1)]
            conn.execute("BEGIN IMMEDIATE")
            conn.executemany(statement, rows)
            conn.execute("COMMIT")
            done += WRITERS
        return float((done - first) / (time.perf_counter() - began))


async def fill(log: ReceiptLog, count: int, operation: str = "chat") -> None:
    for start in range(0, count, 2000):
        drafts = (replace(draft(), operation=operation) for _ in range(min(2000, count - start)))
        await asyncio.gather(*(log.append(each, "key_benchmark") for each in drafts))


def measure_append(folder: Path, seconds: float) -> dict[str, float]:
    ours, raw = list[float](), list[float]()
    (folder / "ours").mkdir()
    store = open_store(folder / "ours")
    try:
        log = ReceiptLog(store, load_signer(folder / "ours"), folder / "ours")
        asyncio.run(fill(log, 200))
        stored = store.read_now(lambda stored: stored.receipts.after(None, 1))[0]
        text = [(column or b"").decode() for column in stored[1:]]
        row = NewRecord(1, text[0], text[1], "key_benchmark", *text[2:])
        for _ in range(_TURNS):
            ours.append(asyncio.run(appended(log, seconds / _TURNS)))
            raw.append(inserted(folder, row, seconds / _TURNS))
    finally:
        store.close()
    return {"appends": median(ours), "inserts": median(raw), "ratio": median(ours) / median(raw)}


def measure_log(folder: Path, records: int) -> dict[str, float]:
    folder.mkdir()
    store = open_store(folder)
    try:
        asyncio.run(fill(ReceiptLog(store, load_signer(folder), folder), records))
    finally:
        store.close()
    with open_read_only(folder) as look:
        before, most = resident(), 0.0

        def watch(_: int) -> None:
            nonlocal most
            most = max(most, resident())

        began = time.perf_counter()
        found = audit(look, load_signer(folder), read_checkpoint(folder), watch)
        seconds = time.perf_counter() - began
        if not found.valid:
            raise SystemExit("the log does not verify")
        proof = look.read(lambda stored: timed_proofs(StoredTree, stored.receipts, records))
    return {"records": records, "seconds": seconds, "grown_mb": most - before, "proof_ms": proof}


def measure_tree(folder: Path, records: int) -> dict[str, float]:
    """A tree of many records: all subtrees, and the tiles of records that some proofs read."""
    folder.mkdir()
    store, signer = open_store(folder), load_signer(folder)
    rng = random.Random(7)
    tiles = {rng.randrange(records // TILE_WIDTH) for _ in range(_PROOFS)} | {0, (records - 1) // TILE_WIDTH}
    tile = [sha256(number.to_bytes(8)).digest() for number in range(TILE_WIDTH)]
    nodes: list[NodeRow] = []
    rows: list[NewRecord] = []
    tree = Frontier()
    for number in range(records // TILE_WIDTH + 1):
        leaves = tile[: records - number * TILE_WIDTH] if number not in tiles else []
        if number in tiles:
            for at in range(number * TILE_WIDTH, min(records, (number + 1) * TILE_WIDTH)):
                made = draft()
                record = make_record(made.request_id, receipt_body(made), Head(at), signer)
                rows.append(
                    NewRecord(
                        at + 1, "receipt", made.request_id, "key_benchmark", record.body, record.hash, record.signature
                    )
                )
                leaves = [*leaves, leaf_hash(record.body.encode())]
        for leaf in leaves:
            nodes += [NodeRow(*node) for node in tree.push(leaf)]
    store.submit(lambda stored: stored.receipts.add_nodes(nodes[: 1 << 14])).result()
    for start in range(1 << 14, len(nodes), 1 << 13):
        store.submit(lambda stored, s=start: stored.receipts.add_nodes(nodes[s : s + (1 << 13)])).result()
    for start in range(0, len(rows), 4000):
        store.submit(lambda stored, s=start: stored.receipts.add(rows[s : s + 4000])).result()
    checkpoint = sign_checkpoint(records, tree.root(), signer)
    store.submit(lambda stored: stored.receipts.set_head(records, rows[-1].hash, checkpoint.note)).result()
    proofs, whole = list[float](), list[float]()
    for row in rng.sample(rows, min(_PROOFS, len(rows))):
        index = row.sequence - 1
        began = time.perf_counter()
        path = store.read_now(lambda stored, i=index: StoredTree(stored.receipts).inclusion(i, records))
        proofs.append((time.perf_counter() - began) * 1000)
        if included_root(leaf_hash(row.body.encode()), index, records, path) != checkpoint.root:
            raise SystemExit("a proof does not hold")

        def verify(stored: Repositories, request_id: str = row.request_id) -> bool:
            found = stored.receipts.find(request_id, None)
            return found is not None and verify_by_proof(stored, found, signer, checkpoint) is not None

        began = time.perf_counter()
        if not store.read_now(verify) and records > TILE_WIDTH:
            raise SystemExit("a receipt does not verify")
        whole.append((time.perf_counter() - began) * 1000)
    store.close()
    times = {"proof": sorted(proofs), "verify": sorted(whole)}
    figures = {f"{name}_ms": median(each) for name, each in times.items()}
    return {
        "records": records,
        **figures,
        **{f"{name}_p99_ms": each[-1 - len(each) // 100] for name, each in times.items()},
    }


def timed_proofs(tree: Callable[[Any], StoredTree], receipts: Any, records: int) -> float:
    times = []
    for _ in range(_PROOFS):
        index = random.randrange(records)
        began = time.perf_counter()
        tree(receipts).inclusion(index, records)
        times.append((time.perf_counter() - began) * 1000)
    return median(times)


def resident() -> float:
    """Memory of this process in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=6, help="of appends, and of inserts")
    parser.add_argument("--records", type=int, default=100_000, help="in the log that is verified")
    parser.add_argument("--tree", type=int, default=10_000_000, help="records of the tree that is proved in")
    parser.add_argument("--one", type=int, default=1_000_000, help="records of the tree that one is verified in")
    parser.add_argument("--json", type=Path, help="write the figures there, too")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with on_one_core():  # as the gateway's threads are
            append = measure_append(folder, options.seconds)
        log = measure_log(folder / "log", options.records)
        tree = measure_tree(folder / "tree", options.tree)
        one = measure_tree(folder / "one", options.one)
    console = Console(highlight=False)
    console.print(
        f"append: {append['appends']:,.0f} receipts a second with {WRITERS} writers, {append['inserts']:,.0f} raw rows "
        f"a second; {append['ratio']:.2f} of it"
    )
    console.print(
        f"verify: {log['records']:,} records in {log['seconds']:.1f} s, memory grew by {log['grown_mb']:.1f} MB; "
        f"a proof there {log['proof_ms']:.2f} ms"
    )
    console.print(
        f"prove:  in {tree['records']:,} records {tree['proof_ms']:.2f} ms, p99 {tree['proof_p99_ms']:.2f} ms"
    )
    console.print(
        f"one:    verified in {one['records']:,} records {one['verify_ms']:.2f} ms, p99 {one['verify_p99_ms']:.2f} ms"
    )
    if options.json:
        options.json.write_text(json.dumps({"append": append, "log": log, "tree": tree, "one": one}, indent=2), "utf-8")


if __name__ == "__main__":
    main()
