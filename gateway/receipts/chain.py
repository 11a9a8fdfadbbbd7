"""Extends the chain, inside the store's write transaction, which one process at a time holds.

Records are collected during a transaction and written at its end in one statement, so that all requests of the
transaction share its cost.
"""

import logging
from collections.abc import Callable
from dataclasses import replace

from gateway.errors import Unavailable
from gateway.receipts.checkpoint import Head, sign_head
from gateway.receipts.checkpoint_file import FILE
from gateway.receipts.consistency import find_fault, is_new
from gateway.receipts.records import Body, Record, decoded, seal
from gateway.receipts.signing import Signer
from gateway.receipts.verify import is_signed
from gateway.store.interfaces import Receipts
from gateway.store.rows import NewRecord

_log = logging.getLogger(__name__)


class Chain:
    """Appends to the end of the chain.

    The chain grows only from a head that this process just wrote or that has the installation's signature. Otherwise an
    attacker could cut records off and have the gateway sign the rest.
    """

    def __init__(self, signer: Signer, remember: Callable[[Head], None]) -> None:
        """`remember` receives each new end of the log once it is durable."""
        self._signer = signer
        self._remember = remember
        self._remembered: Head | None = None
        self._fault: str | None = None
        self._new = False
        self._durable = 0
        self._made: Head | None = None
        # Of the current transaction: the records collected so far, and the end of the chain with them.
        self._end: Head | None = None
        self._rows: list[NewRecord] = []
        self._collected: dict[str, dict[str, tuple[str, str]]] = {}

    def open(self, receipts: Receipts, remembered: Head | None, counted: int) -> None:
        """Checks that the log extends the `remembered` checkpoint and has the `counted` records, and continues it."""
        self._remembered = remembered
        self._fault = find_fault(receipts, remembered, self._signer, counted)
        if self._fault is not None:
            _log.critical("the receipt log is broken, and requests are refused: %s", self._fault)
            return
        self._new = is_new(receipts, remembered)
        head = receipts.head()
        if head is not None and not self._new:
            self._durable = head.size
            if remembered is None:
                _log.warning("%s is missing; the receipt log is taken as it is: %d records", FILE, head.size)
            if remembered is None or remembered.size < head.size:
                self._passed(Head(head.size, decoded(head.hash), decoded(head.checkpoint)))

    def begin(self, receipts: Receipts) -> None:
        """Signs the head of a new log. A log without a head is then one whose head was removed."""
        head = receipts.head()
        if head is not None and is_signed(head, self._signer):
            self._new = False
        elif self._new and self._end is None:
            self._end = Head()

    def fault(self, receipts: Receipts) -> str | None:
        """Describes what is wrong with the log, now or when it was opened. None for a valid log."""
        return self._fault or find_fault(receipts, self._remembered, self._signer)

    @property
    def remembered(self) -> Head | None:
        """The latest checkpoint, which the log has to extend."""
        return self._remembered

    def filed(self, receipts: Receipts, request_id: str) -> dict[str, tuple[str, str]]:
        """The records of a request, including those of the current transaction: kind -> (owner, hash)."""
        stored = {kind: (owner, hash_) for kind, owner, hash_ in receipts.filed(request_id)}
        return stored | self._collected.get(request_id, {})

    def append(
        self, receipts: Receipts, kind: str, request_id: str, owner: str, body: Callable[[Head, str], Body]
    ) -> Record:
        """Adds a record; `body` makes it from the head and the key's id. Raises Unavailable for a broken log."""
        end = self._end or self._head(receipts)
        record = seal(body(end, self._signer.key_id), self._signer)
        self._end = Head(record.sequence, record.hash)
        row = NewRecord(record.sequence, kind, request_id, owner, record.body, record.hash, record.signature)
        self._rows.append(row)
        self._collected.setdefault(request_id, {})[kind] = (owner, record.hash)
        return record

    def write(self, receipts: Receipts) -> None:
        """Writes the collected records and signs the new head, once for the whole transaction."""
        end = self._end
        if end is None:
            return
        receipts.add(self._rows)
        self._end = self._made = replace(end, note=sign_head(end, self._signer))
        receipts.set_head(end.size, end.hash, self._end.note)

    def committed(self) -> None:
        """Remembers the new end, which is durable."""
        if self._end is not None:
            self._new = False
            self._passed(self._end)

    def forget(self) -> None:
        """Drops the collected records after a transaction, committed or not."""
        self._end = None
        self._rows.clear()
        self._collected.clear()

    def is_durable(self, record: Record) -> None:
        """Notes that a record is durable. A log that ends before it has been cut."""
        self._durable = max(self._durable, record.sequence)

    def _passed(self, head: Head) -> None:
        self._remembered = head
        self._remember(head)

    def _head(self, receipts: Receipts) -> Head:
        if self._fault is not None:
            raise _broken(self._fault)
        stored = receipts.head()
        if stored is None:
            if not self._new or self._durable or receipts.bounds() is not None:
                raise _broken("its head is gone")
            return Head()
        if stored.size < 0:
            raise _broken("its head is damaged")
        head = Head(stored.size, decoded(stored.hash))
        if head.size < self._durable:
            raise _broken("records were cut off")
        if head != self._made and not is_signed(stored, self._signer):
            raise _broken("its head does not carry this installation's signature")
        return head


def _broken(reason: str) -> Unavailable:
    _log.critical("the receipt log is broken: %s", reason)
    return Unavailable(f"No receipt can be written, because the receipt log is broken: {reason}.")
