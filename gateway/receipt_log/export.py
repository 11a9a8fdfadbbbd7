"""Exports the log: as one file, or as one for each day, which is verified alone and begins where the last one ends.

    <folder>/2026/11/2026-11-25.ndjson

docs/receipt-format.md describes the lines, and how to verify them without this gateway.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, groupby, repeat
from operator import itemgetter
from os import SEEK_END
from pathlib import Path
from typing import IO, Any

import orjson

from gateway.config.durable_files import replacing
from gateway.errors import Conflict, Unavailable
from gateway.receipt_log.export_walk import EXPORT
from gateway.receipt_log.log_walk import LogWalk, Progress, walk_log
from gateway.receipt_log.proofs import checkpoint_at
from gateway.receipt_log.record_days import Run, runs_of, stated_day, true_days
from gateway.receipts.merkle import leaf_hash
from gateway.receipts.records import Record, decoded
from gateway.receipts.signing import Signer, Verifier
from gateway.store import ReadOnlyStore, Repositories
from gateway.store.rows import StoredRecord

# Limits the lines at both ends of a file, which hold no record.
_LONGEST_LINE = 1 << 16
_CHUNK = 1000
_PRUNED = "The log was pruned meanwhile. Export it again."

type Line = dict[str, Any]


def export(store: ReadOnlyStore, verifier: Verifier, progress: Progress) -> Iterator[Line]:
    """Yields the lines: a header with the key, every record in order, and the signed head. Raises Unavailable."""
    walk = LogWalk(verifier)
    for number, _ in enumerate(_steps(store, walk, progress)):
        if number == 0:
            yield _header_line(verifier)
        if number == 0 and walk.start.size:
            yield _start_line(walk.start.size, walk.start.hash, walk.pruned.subtrees)
        yield from map(_record_line, walk.rows)
    if walk.head is not None:
        yield _head_line(walk.head.size, decoded(walk.head.hash), decoded(walk.head.checkpoint))


def export_days(store: ReadOnlyStore, signer: Signer, folder: Path, progress: Progress) -> Iterator[tuple[Path, int]]:
    """Writes one file after the other, and yields each that is complete and how many records it has.

    A file is replaced, unless it has records that were pruned since. Raises Conflict for one with records that the log
    never had, or lost when a backup was restored, and for one with pruned records that lacks later ones of its day: the
    file may be all that is left of them. Raises Unavailable (`receipt_log_broken`), OSError.
    """
    bounds, days = _filed_days(store)
    steps = _steps(store, LogWalk(signer), progress)
    first = next(steps)
    if bounds is not None and bounds != first.start.size + 1:
        raise Unavailable(_PRUNED)
    tree, head = first.pruned.copy(), first.start.hash
    for day, rows in groupby(_dated(chain([first], steps), days), key=itemgetter(0)):
        path, size = folder / day[:4] / day[5:7] / f"{day}.ndjson", tree.size
        with _day_output(store, path, first.start.size) as (output, kept):
            _put(output, _header_line(signer, day=day))
            _put(output, _start_line(size, head, tree.subtrees))
            for _, row in rows:
                tree.push(leaf_hash(row.body or b""))
                head = decoded(row.hash)
                _put(output, _record_line(row))
            if output is not None:
                note = store.read(lambda stored: checkpoint_at(stored.receipts, tree.size, signer).note)
                _put(output, _head_line(tree.size, head, note))
        if output is not None:
            yield path, tree.size - size
        elif kept < tree.size:
            message = f"{path} has records that were pruned, and lacks later ones of its day. Move it away."
            raise Conflict(message)


def _steps(store: ReadOnlyStore, walk: LogWalk, progress: Progress) -> Iterator[LogWalk]:
    """Yields the walk after each of its steps."""
    start = None
    for _ in walk_log(store, walk, progress):
        if start not in {None, walk.start}:
            raise Unavailable(_PRUNED)
        start = walk.start
        yield walk


def _filed_days(store: ReadOnlyStore) -> tuple[int | None, Iterator[str]]:
    """Returns the sequence of the first record, and the days to file each record under, of those there are now."""
    runs: list[Run] = []
    first = last = None
    while rows := store.read(partial(_next_rows, last)):
        first, last = first or rows[0].sequence, rows[-1].sequence
        runs += runs_of(map(stated_day, rows))
    return first, chain.from_iterable(repeat(day, size) for day, size in true_days(runs))


def _next_rows(last: int | None, stored: Repositories) -> list[StoredRecord]:
    return stored.receipts.after(last, _CHUNK)


def _dated(steps: Iterable[LogWalk], days: Iterator[str]) -> Iterator[tuple[str, StoredRecord]]:
    """Yields each record with its day. Those that were written meanwhile are left to the next export."""
    for walk in steps:
        if walk.chain.broken is not None:
            message = "The receipt log is broken. `receipts verify` says where."
            raise Unavailable(message, code="receipt_log_broken")
        # In this order, since the last of the rows takes no day with it.
        yield from ((day, row) for row, day in zip(walk.rows, days, strict=False))


@contextmanager
def _day_output(store: ReadOnlyStore, path: Path, pruned: int) -> Iterator[tuple[IO[bytes] | None, int]]:
    """Opens the file of a day. Yields None, and the number of its last record, for one with some of the `pruned`."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    match _read_ends(path):
        case first, size, _ if first < pruned:
            yield None, size
            return
        case _, size, hash if store.read(lambda stored: stored.receipts.hash_at(size)) != hash:
            message = f"{path} has records that the log does not have. Move it away, or export to another folder."
            raise Conflict(message)
    with replacing(path) as output:
        yield output, 0


def _read_ends(path: Path) -> tuple[int, int, bytes] | None:
    """Reads how many records precede those of a file, and the number and hash of its last. None if it is incomplete."""
    try:
        with path.open("rb") as file:
            start = orjson.loads(file.readlines(_LONGEST_LINE)[1])
            file.seek(-min(path.stat().st_size, _LONGEST_LINE), SEEK_END)
            end = orjson.loads(file.readlines()[-1])
        return int(start["size"]), int(end["size"]), str(end["hash"]).encode()
    except (FileNotFoundError, IndexError, KeyError, TypeError, ValueError):
        return None


def _header_line(verifier: Verifier, **more: str) -> Line:
    key = {"key_id": verifier.key_id, "public_key": verifier.public_bytes.hex()}
    return {"type": "header", **EXPORT, **more, **key}


def _start_line(size: int, hash: str, frontier: Iterable[bytes]) -> Line:
    """The second line of an export that lacks the first `size` records."""
    return {"type": "start", "size": size, "hash": hash, "frontier": [each.hex() for each in frontier]}


def _record_line(row: StoredRecord) -> Line:
    return {"type": decoded(row.kind), "record": Record.from_stored(row).as_dict()}


def _head_line(size: int, hash: str, checkpoint: str) -> Line:
    return {"type": "head", "size": size, "hash": hash, "checkpoint": checkpoint}


def _put(output: IO[bytes] | None, line: Line) -> None:
    if output is not None:
        output.write(orjson.dumps(line) + b"\n")
