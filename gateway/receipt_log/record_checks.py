"""Checks the records of a log one after the other, whether they come from the store or from an exported file."""

import heapq
from collections.abc import Iterable
from hashlib import sha256
from itertools import groupby
from tempfile import TemporaryFile
from typing import IO

from gateway.receipts.history import read_keys
from gateway.receipts.signing import Keys
from gateway.receipts.verify import Check, check_record, parse
from gateway.store.rows import StoredRecord

_MOST_IN_MEMORY = 1 << 18
_REQUEST, _LINE, _KIND = slice(32), slice(32, 49), slice(49, 50)
_RECEIPT, _OUTCOME = b"0", b"1"


class RecordChecks:
    """Hash and signature of each record, the key in force, and that each outcome follows its receipt.

    Takes constant memory. The first record is taken to be signed with the key in force.
    """

    def __init__(self, unit: str, *, is_part: bool = False) -> None:
        """`unit` is what numbers records in messages. Outcomes in a part of a log may be of receipts before it."""
        self._unit = unit
        self._pairing = Pairing(is_part=is_part)
        self._faults: dict[str, tuple[int, str]] = {}
        self._key_id: object = None
        self.replaced: set[object] = set()
        """The ids of keys that were replaced."""
        self.policies: set[str] = set()
        """The hashes of the policies that the receipts name."""

    def feed(self, row: StoredRecord, number: int, keys: Keys) -> None:
        """Takes the next record, which the numbered line or sequence has."""
        for check in check_record(row, keys):
            if not check.ok:
                self.fault(check.name, number, str(check.detail))
        body = parse(row.body) or {}
        if self._key_id is None:
            self._key_id = body.get("key_id")
        elif body.get("key_id") != self._key_id:
            self.fault("signature", number, "signed with a key that was not in force")
        match row.kind:
            case b"rotation":
                rotated = read_keys(body)
                if rotated is None or rotated[0].key_id != self._key_id:
                    self.fault("signature", number, "it replaces a key that was not in force")
                else:
                    self.replaced.add(self._key_id)
                    self._key_id = rotated[1].key_id
            case b"receipt":
                self._pairing.add(number, row.request_id, None, row.hash)
            case b"outcome":
                receipt_hash = body.get("receipt_hash")
                named = receipt_hash.encode(errors="replace") if isinstance(receipt_hash, str) else b""
                self._pairing.add(number, row.request_id, named, row.hash)
        if isinstance(policy := body.get("policy"), dict):
            self.policies.add(str(policy.get("hash")))

    def fault(self, name: str, number: int, detail: str) -> None:
        """Notes that a check fails, unless it failed before."""
        self._faults.setdefault(name, (number, f"{self._unit} {number}: {detail}"))

    def finish(self) -> int | None:
        """Completes the checks after the last record. Returns the first number that a check fails for."""
        if (misfit := self._pairing.fault()) is not None:
            self.fault("outcome_receipt", *misfit)
        return min((number for number, _ in self._faults.values()), default=None)

    def checks(self, *names: str) -> list[Check]:
        """Returns the checks of these names."""
        return [Check(name, self._faults.get(name, (0, None))[1]) for name in names]


type Fault = tuple[int, str]
"""The first line whose record does not fit those before it, and why."""


class Pairing:
    """Checks that each outcome follows the receipt of its request, in constant memory however long the log is.

    Both lie far apart in the log, so it is sorted by request first: in memory up to a number of entries, beyond that in
    runs in temporary files, which are merged.
    """

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
            return (line, "the request has such a record already")
        if kind == _RECEIPT:
            receipt = named
        elif named != receipt and not (is_part and receipt is None):
            return (line, "the outcome is of no receipt before it")
        else:
            has_outcome = True
    return None


def _digest(column: bytes | None) -> bytes:
    """Represents a column, in a fixed size."""
    return sha256(column or b"").hexdigest()[:32].encode()
