"""Extends the chain and its Merkle tree, inside the store's write transaction, which one process at a time holds.

Records are collected during a transaction and written at its end in one statement, so that all requests of the
transaction share its cost.
"""

import logging
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import NamedTuple

from gateway.errors import Unavailable
from gateway.receipt_log.checkpoint_file import FILE
from gateway.receipt_log.consistency import find_fault, is_new, read_history
from gateway.receipt_log.tree import IncompleteTree, StoredTree
from gateway.receipts.checkpoint import Checkpoint, is_signed_by_another, sign_checkpoint
from gateway.receipts.client_view import without_numbers
from gateway.receipts.merkle import Frontier, leaf_hash
from gateway.receipts.records import GENESIS, Body, Head, Record, decoded, make_record
from gateway.receipts.signing import Signer
from gateway.receipts.verify import signed_checkpoint
from gateway.store import Receipts
from gateway.store.rows import EndRow, FactsRow, NewRecord, NodeRow, StoredHead

type Filed = dict[str, tuple[str, str]]
"""The records of a request: kind -> (owner, hash)."""

_log = logging.getLogger(__name__)


class _End(NamedTuple):
    """The end of the log: of the chain and of the tree, and how it is stored with the checkpoint that signs it."""

    head: Head
    tree: Frontier
    stored: StoredHead | None = None
    checkpoint: Checkpoint | None = None


class Chain:
    """Appends to the end of the log.

    The log grows only from an end that this process just wrote, or whose records have the root that the installation
    signed. Otherwise an attacker could cut records off and have the gateway sign the rest.
    """

    def __init__(
        self, signer: Signer, remember: Callable[[Checkpoint], None], find_signer: Callable[[str], Signer | None]
    ) -> None:
        """`remember` receives the checkpoint of each new end of the log once it is durable.

        `find_signer` returns the key that signed a checkpoint, when another process has replaced the signing key.
        """
        self._signer = signer
        self._find_signer = find_signer
        # The key that replaces it with the current transaction.
        self._next_signer: Signer | None = None
        self._remember = remember
        self._remembered: Checkpoint | None = None
        self._fault: str | None = None
        self._new = False
        self._durable = 0
        self._made: _End | None = None
        # The records that the current transaction collected so far, and the end of the log with them.
        self._end: _End | None = None
        self._rows: list[NewRecord] = []
        self._nodes: list[NodeRow] = []
        self._values: list[tuple[bytes, int]] = []
        self._facts: list[FactsRow] = []
        self._ends: list[EndRow] = []
        self._collected: dict[str, Filed] = {}

    def open(self, receipts: Receipts, remembered: Checkpoint | None, counted: int) -> None:
        """Checks that the log extends the `remembered` checkpoint and has the `counted` records, and continues it."""
        self._remembered = remembered
        self._fault = find_fault(receipts, remembered, self._signer, counted)
        new, head = is_new(receipts, remembered), receipts.head()
        if self._fault is None and head is not None and not new:
            try:
                self._made = self._read_end(receipts, head)
            except _BrokenLog as broken:
                self._fault = str(broken)
        if self._fault is not None:
            _log.critical("the receipt log is broken, and requests are refused: %s", self._fault)
            return
        self._new = new
        if self._made is not None:
            self._durable = self._made.head.size
            if remembered is None:
                _log.warning("%s is missing; the receipt log is taken as it is: %d records", FILE, self._durable)
            if remembered is None or remembered.size < self._durable:
                self._passed(self._made)

    def begin(self, receipts: Receipts) -> None:
        """Signs the head of a new log. A log without a head is then one whose head was removed."""
        head = receipts.head()
        if head is not None and signed_checkpoint(head, self._signer) is not None:
            self._new = False
        elif self._new and self._end is None:
            self._end = _End(Head(), Frontier())

    def fault(self, receipts: Receipts) -> str | None:
        """Describes what is wrong with the log, now or when it was opened. None for a valid log."""
        return self._fault or find_fault(receipts, self._remembered, self.signer(receipts))

    def signer(self, receipts: Receipts) -> Signer:
        """The key that signs now. Another process may have replaced it."""
        head = receipts.head()
        note = decoded(head.checkpoint) if head is not None else ""
        if is_signed_by_another(note, self._signer):
            found = self._find_signer(note)
            old = self._signer.key_id
            if found is not None and any(key.key_id == old for key in read_history(receipts, found).verifiers):
                _log.warning("the signing key was replaced: %s follows %s", found.key_id, old)
                self._signer = found
        return self._signer

    @property
    def remembered(self) -> Checkpoint | None:
        """The latest checkpoint, which the log has to extend."""
        return self._remembered

    def filed(self, receipts: Receipts, request_id: str) -> Filed:
        """The records of a request, including those of the current transaction."""
        return receipts.filed(request_id) | self._collected.get(request_id, {})

    def append(self, receipts: Receipts, kind: str, request_id: str, owner: str, members: Body) -> Record:
        """Adds a record, whose body has these members. Raises Unavailable for a broken log."""
        end = self._end or self._read(receipts)
        record = make_record(request_id, members, end.head, self._next_signer or self._signer)
        self._nodes += end.tree.push(leaf_hash(record.body.encode()))
        self._end = _End(Head(record.sequence, record.hash), end.tree)
        row = NewRecord(record.sequence, kind, request_id, owner, record.body, record.hash, record.signature)
        self._rows.append(row)
        self._collected.setdefault(request_id, {})[kind] = (owner, record.hash)
        return record

    def add_values(self, record: Record, digests: Iterable[bytes]) -> None:
        """Has the digests of values written with a record, but outside the log."""
        self._values += [(digest, record.sequence) for digest in digests]

    def add_facts(self, row: FactsRow | EndRow) -> None:
        """Has what a receipt or an outcome is found by written with it, but outside the log."""
        if isinstance(row, FactsRow):
            self._facts.append(row)
        else:
            self._ends.append(row)

    def rotate(self, receipts: Receipts, id: str, new: Signer) -> Record:
        """Replaces the signing key: the old one signs the record of it, the new one all that follows."""
        keys = {"public_key": self.signer(receipts).public_bytes.hex(), "new_public_key": new.public_bytes.hex()}
        record = self.append(receipts, "rotation", id, "", {"event": "rotation", **keys})
        self._next_signer = new
        return record

    def prune(self, receipts: Receipts, id: str, before: str, size: int) -> Record:
        """Deletes the first `size` records, and leaves a record of it. Raises Unavailable for a broken log."""
        self._end = self._end or self._read(receipts)
        tree = StoredTree(receipts)
        pruned = {"size": size, "last_hash": _last_hash(receipts, size), "root": tree.root(size).hex()}
        leaves = tree.last_leaves(size)
        receipts.add_nodes([NodeRow(0, *leaf) for leaf in leaves])
        receipts.delete_leaves(leaves[0][0])
        receipts.delete_up_to(size)
        return self.append(receipts, "pruning", id, "", {"event": "pruning", "before": before, **pruned})

    def write(self, receipts: Receipts) -> None:
        """Writes the collected records and signs the new head, once for the whole transaction."""
        end = self._end
        if end is None:
            return
        receipts.add(self._rows)
        receipts.add_nodes(self._nodes)
        if self._values:
            receipts.add_values(self._values)
        receipts.add_facts(self._facts, self._ends)
        size, last = end.head
        signed = sign_checkpoint(size, end.tree.root(), self._next_signer or self._signer)
        receipts.set_head(size, last, signed.note)
        self._end = end._replace(stored=StoredHead(size, last.encode(), signed.note.encode()), checkpoint=signed)

    def committed(self) -> None:
        """Remembers the new end, which is durable."""
        if self._end is not None:
            self._new = False
            self._signer = self._next_signer or self._signer
            self._made = self._end
            self._passed(self._end)

    def forget(self) -> None:
        """Drops the collected records after a transaction, committed or not."""
        self._end = None
        self._next_signer = None
        self._rows.clear()
        self._nodes.clear()
        self._values.clear()
        self._facts.clear()
        self._ends.clear()
        self._collected.clear()

    def is_durable(self, record: Record) -> None:
        """Notes that a record is durable. A log that ends before it has been cut."""
        self._durable = max(self._durable, record.sequence)

    def _passed(self, end: _End) -> None:
        if end.checkpoint is not None:
            self._remembered = end.checkpoint
            self._remember(end.checkpoint)

    def _read(self, receipts: Receipts) -> _End:
        """Returns the end of the log to continue. Raises Unavailable for a broken log."""
        try:
            if self._fault is not None:
                raise _BrokenLog(self._fault)
            stored = receipts.head()
            if stored is None:
                if not self._new or self._durable or receipts.bounds() is not None:
                    raise _BrokenLog("its head is gone")
                return _End(Head(), Frontier())
            if self._made is not None and stored == self._made.stored:
                # A copy, since the transaction may fail.
                return self._made._replace(tree=self._made.tree.copy())
            return self._read_end(receipts, stored)
        except _BrokenLog as broken:
            _log.critical("the receipt log is broken: %s", broken)
            message = f"No receipt can be written, because the receipt log is broken: {without_numbers(str(broken))}."
            raise Unavailable(message, code="receipt_log_broken") from None

    def _read_end(self, receipts: Receipts, stored: StoredHead) -> _End:
        """Reads an end that this process did not write, and verifies it. Raises _BrokenLog."""
        if stored.size < 0:
            raise _BrokenLog("its head is damaged")
        if stored.size < self._durable:
            raise _BrokenLog("records were cut off")
        signed = signed_checkpoint(stored, self.signer(receipts))
        if signed is None:
            raise _BrokenLog("its head does not carry this installation's signature")
        try:
            tree = StoredTree(receipts).frontier(stored.size)
        except IncompleteTree:
            raise _BrokenLog("records before its head are missing") from None
        if tree.root() != signed.root:
            raise _BrokenLog("its last records are not those that its head signs")
        # The tree has just shown that the last record is the one signed; its columns may still have been changed.
        if decoded(stored.hash) != _last_hash(receipts, stored.size):
            raise _BrokenLog("its head is not its last record")
        return _End(Head(stored.size, decoded(stored.hash)), tree, stored, signed)


def _last_hash(receipts: Receipts, size: int) -> str:
    return sha256(receipts.after(size - 1, 1)[0].body or b"").hexdigest() if size else GENESIS


class _BrokenLog(Exception):
    """Why nothing may be appended."""
