"""Exports the log as one file for each day, each with the proof that its records are those of the log.

    <folder>/2026/11/2026-11-25.ndjson

A file starts with what the tree over the records before it takes, and ends with the checkpoint of its last record, so
it is verified alone. It begins where the file before it ends.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from os import SEEK_END
from pathlib import Path
from typing import IO

import orjson

from gateway.config.durable_files import replacing
from gateway.errors import Conflict, Unavailable
from gateway.receipt_log.audit import PRUNED_MEANWHILE, Progress, header_line, start_line
from gateway.receipt_log.log_walk import LogWalk
from gateway.receipt_log.proofs import checkpoint_at
from gateway.receipts.merkle import Frontier, leaf_hash
from gateway.receipts.records import GENESIS, Record, decoded
from gateway.receipts.signing import Signer
from gateway.receipts.verify import parse
from gateway.store import ReadOnlyStore, Repositories

# Of the lines at both ends of a file, which hold no record.
_LONGEST_LINE = 1 << 16


@dataclass(frozen=True, slots=True)
class DayFile:
    """A file that was written, and how many records it has."""

    path: Path
    records: int


@dataclass(frozen=True, slots=True)
class _Part:
    """The part of a log that is in a file: `first` records precede it; it ends with the record `size`, of this hash."""

    first: int
    size: int
    hash: bytes


class DayExport:
    """Writes the files, one day after the other."""

    def __init__(self, store: ReadOnlyStore, signer: Signer, folder: Path) -> None:
        self._store = store
        self._signer = signer
        self._folder = folder
        self._tree = Frontier()
        self._head = GENESIS
        self._day = ""
        self._first = 0
        self._output: IO[bytes] | None = None
        self._file = ExitStack()

    def write(self, progress: Progress) -> Iterator[DayFile]:
        """Writes the files and yields each that is complete. Raises Unavailable (`receipt_log_broken`), OSError.

        A file is replaced, unless it has records that were pruned since. Raises Conflict for one with records that the
        log never had, or lost when a backup was restored: the file may be all that is left of them.
        """
        walk, start, more = LogWalk(self._signer), None, True
        with self._file:
            while more:
                more = self._store.read(walk.step)
                if start is None:
                    start = walk.start
                    self._tree, self._head = walk.pruned.copy(), start.hash
                if walk.start != start:
                    raise Unavailable(PRUNED_MEANWHILE)
                if walk.chain.broken is not None:
                    message = "The receipt log is broken. `receipts verify` says where."
                    raise Unavailable(message, code="receipt_log_broken")
                for row in walk.rows:
                    day = max(self._day, str((parse(row.body) or {}).get("created_at"))[:10])
                    if day != self._day:
                        yield from self._end()
                        self._begin(day)
                    self._tree.push(leaf_hash(row.body or b""))
                    self._head = decoded(row.hash)
                    self._put({"type": decoded(row.kind), "record": Record.from_stored(row).as_dict()})
                progress(len(walk.rows))
            yield from self._end()

    def _begin(self, day: str) -> None:
        self._day, self._first = day, self._tree.size
        path = self._path
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        there = _read_part(path)
        if there is not None and there.first < self._first:
            self._output = None
            return
        if there is not None and not self._has(there):
            message = f"{path} has records that the log does not have. Move it away, or export to another folder."
            raise Conflict(message)
        self._output = self._file.enter_context(replacing(path))
        self._put(header_line(self._signer, day=day))
        self._put(start_line(self._first, self._head, self._tree.subtrees))

    def _has(self, part: _Part) -> bool:
        return self._store.read(lambda stored: stored.receipts.hash_at(part.size)) == part.hash

    def _end(self) -> Iterator[DayFile]:
        if self._output is not None:
            size = self._tree.size

            def read(stored: Repositories) -> str:
                return checkpoint_at(stored.receipts, size, self._signer).note

            self._put({"type": "head", "size": size, "hash": self._head, "checkpoint": self._store.read(read)})
            self._output = None
            self._file.close()
            yield DayFile(self._path, size - self._first)

    @property
    def _path(self) -> Path:
        year, month, _ = self._day.split("-")
        return self._folder / year / month / f"{self._day}.ndjson"

    def _put(self, line: object) -> None:
        if self._output is not None:
            self._output.write(orjson.dumps(line) + b"\n")


def _read_part(path: Path) -> _Part | None:
    """Reads which part of a log an existing file has. Returns None if there is none that is complete."""
    try:
        with path.open("rb") as file:
            start = orjson.loads(file.readlines(_LONGEST_LINE)[1])
            file.seek(-min(path.stat().st_size, _LONGEST_LINE), SEEK_END)
            end = orjson.loads(file.readlines()[-1])
        return _Part(int(start["size"]), int(end["size"]), str(end["hash"]).encode())
    except (FileNotFoundError, IndexError, KeyError, TypeError, ValueError):
        return None
