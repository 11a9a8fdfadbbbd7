"""Checks that each outcome follows the receipt of its request, in constant memory however long the log is.

What has to be compared lies far apart in the log, so it is sorted by request first: in memory up to a number of
entries, beyond that in runs in temporary files, which are merged.
"""

import heapq
from collections.abc import Iterable
from hashlib import sha256
from itertools import groupby
from tempfile import TemporaryFile
from typing import IO, NamedTuple

_MOST_IN_MEMORY = 1 << 18
_REQUEST, _LINE, _KIND = slice(32), slice(32, 49), slice(49, 50)
_RECEIPT, _OUTCOME = b"0", b"1"


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
        # One line each: the request, the line, the kind and the receipt, of which the digests are in hex.
        self._entries: list[bytes] = []
        self._runs: list[IO[bytes]] = []

    def add(self, line: int, request_id: bytes | None, outcome_of: bytes | None, hash: bytes | None) -> None:
        """Takes the record on a line: a receipt with its `hash`, or the outcome of the receipt with that hash."""
        kind, receipt = (_RECEIPT, hash) if outcome_of is None else (_OUTCOME, outcome_of)
        self._entries.append(b"%s%017x%s%s\n" % (_digest(request_id), line, kind, _digest(receipt)))
        if len(self._entries) >= self._most:
            run = TemporaryFile()  # noqa: SIM115 - closed by `fault`
            run.writelines(sorted(self._entries))
            run.seek(0)
            self._runs.append(run)
            self._entries.clear()

    def fault(self) -> Fault | None:
        """Returns what is wrong with the first line that does not fit. Takes nothing more afterwards."""
        entries = heapq.merge(sorted(self._entries), *self._runs)
        requests = groupby(entries, key=lambda entry: entry[_REQUEST])
        faults = (_misfit(of_request, is_part=self._is_part) for _, of_request in requests)
        first = min((fault for fault in faults if fault is not None), default=None)
        for run in self._runs:
            run.close()
        return first


def _misfit(entries: Iterable[bytes], *, is_part: bool) -> Fault | None:
    """Judges the records of one request, in the order of the log."""
    receipt, has_outcome = None, False
    for entry in entries:
        line, kind, named = int(entry[_LINE], 16), entry[_KIND], entry[_KIND.stop :]
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
    """Represents a column, in a fixed size."""
    return sha256(column or b"").hexdigest()[:32].encode()
