"""Checks that each outcome follows the receipt of its request, in constant memory however long the log is.

What has to be compared lies far apart in the log, so it is sorted by request first: in memory up to a number of
entries, beyond that in runs in a temporary file, which are merged.
"""

import heapq
from collections.abc import Iterator
from hashlib import sha256
from itertools import groupby
from tempfile import TemporaryFile
from typing import IO, NamedTuple

_MOST_IN_MEMORY = 1 << 16
_REQUEST, _LINE, _KIND = 16, 8, 1
_ENTRY = _REQUEST + _LINE + _KIND + 16
_READ_AT_ONCE = _ENTRY * 256
_RECEIPT, _OUTCOME = b"\x00", b"\x01"


class Fault(NamedTuple):
    """The first line whose record does not fit those before it, and why."""

    line: int
    detail: str


class Pairing:
    """Collects the receipts and outcomes of a log, and compares them at the end."""

    def __init__(self, most_in_memory: int = _MOST_IN_MEMORY, *, is_part: bool = False) -> None:
        """Outcomes in a part of a log may be of receipts before it."""
        self._is_part = is_part
        self._most = most_in_memory
        self._entries: list[bytes] = []
        self._file: IO[bytes] | None = None
        self._runs: list[tuple[int, int]] = []

    def add(self, line: int, request_id: bytes | None, outcome_of: bytes | None, hash: bytes | None) -> None:
        """Takes the record on a line: a receipt with its `hash`, or the outcome of the receipt with that hash."""
        kind, receipt = (_RECEIPT, hash) if outcome_of is None else (_OUTCOME, outcome_of)
        self._entries.append(_digest(request_id) + line.to_bytes(_LINE) + kind + _digest(receipt))
        if len(self._entries) >= self._most:
            self._spill()

    def fault(self) -> Fault | None:
        """Returns what is wrong with the first line that does not fit. Takes nothing more afterwards."""
        self._entries.sort()
        entries = heapq.merge(self._entries, *(self._run(*run) for run in self._runs))
        faults = (
            _misfit(list(group), is_part=self._is_part)
            for _, group in groupby(entries, key=lambda entry: entry[:_REQUEST])
        )
        first = min((fault for fault in faults if fault is not None), default=None)
        if self._file is not None:
            self._file.close()
        return first

    def _spill(self) -> None:
        if self._file is None:
            self._file = TemporaryFile()  # noqa: SIM115 - closed by `fault`
        self._entries.sort()
        start = self._file.seek(0, 2)
        self._file.write(b"".join(self._entries))
        self._runs.append((start, start + len(self._entries) * _ENTRY))
        self._entries.clear()

    def _run(self, position: int, end: int) -> Iterator[bytes]:
        assert self._file is not None
        while position < end:
            self._file.seek(position)
            block = self._file.read(min(_READ_AT_ONCE, end - position))
            position += len(block)
            for at in range(0, len(block), _ENTRY):
                yield block[at : at + _ENTRY]


def _misfit(entries: list[bytes], *, is_part: bool) -> Fault | None:
    """Judges the records of one request, in the order of the log."""
    receipt, has_outcome = None, False
    for entry in entries:
        line = int.from_bytes(entry[_REQUEST : _REQUEST + _LINE])
        kind, named = entry[_REQUEST + _LINE : -16], entry[-16:]
        if (receipt is not None) if kind == _RECEIPT else has_outcome:
            return Fault(line, "the request has such a record already")
        if kind == _RECEIPT:
            receipt = named
        elif named != receipt and not (is_part and receipt is None):
            return Fault(line, "the outcome is of no receipt before it")
        else:
            has_outcome = True
    return None


def _digest(column: bytes | None) -> bytes:
    """Stands for a column, in a fixed size."""
    return sha256(column or b"").digest()[:16]
