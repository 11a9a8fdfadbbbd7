"""Extending the chain. All of it runs inside the store's write transaction, which one process at a time holds."""

import logging
from collections.abc import Callable

import sqlite_utils

from gateway.errors import Unavailable
from gateway.receipts.checkpoint import Head, is_signed_head, sign_head
from gateway.receipts.records import Body, Record, seal
from gateway.receipts.signing import Signer

_log = logging.getLogger(__name__)


class Chain:
    """The end of the chain, from which alone it grows.

    It grows only from a head that this process just made or that carries the installation's signature. Else somebody
    could cut records off and have the gateway itself sign what is left.
    """

    def __init__(self, signer: Signer) -> None:
        self._signer = signer
        # Heads made in the transaction under way. The last of them is signed before the transaction ends.
        self._made: set[Head] = set()
        self._moved = False
        self._durable = 0

    def append(
        self, db: sqlite_utils.Database, kind: str, request_id: str, owner: str, body: Callable[[Head, str], Body]
    ) -> Record:
        """Adds the record whose `body` follows from the head and the key's id. Raises Unavailable for a broken log."""
        record = seal(body(self._head(db), self._signer.key_id), self._signer)
        db.conn.execute(
            "INSERT INTO receipts (sequence, kind, request_id, owner, body, hash, signature) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (record.sequence, kind, request_id, owner, record.body, record.hash, record.signature),
        )
        db.conn.execute(
            "INSERT INTO receipts_head (id, size, head, checkpoint) VALUES (1, ?, ?, '') ON CONFLICT (id) "
            "DO UPDATE SET size = excluded.size, head = excluded.head, checkpoint = ''",
            (record.sequence, record.hash),
        )
        self._made.add(Head(record.sequence, record.hash))
        self._moved = True
        return record

    def sign_head(self, db: sqlite_utils.Database) -> None:
        """Signs where the log ends now: once for all that one transaction appended."""
        if not self._moved:
            return
        row = db.conn.execute("SELECT size, head FROM receipts_head WHERE id = 1").fetchone()
        self._moved = False
        self._made.clear()
        # Without a row, all that was appended was undone again.
        if row is not None:
            head = Head(*row)
            db.conn.execute("UPDATE receipts_head SET checkpoint = ? WHERE id = 1", [sign_head(head, self._signer)])
            self._made.add(head)

    def is_durable(self, record: Record) -> None:
        """From now on a log that ends before this record has been cut."""
        self._durable = max(self._durable, record.sequence)

    def _head(self, db: sqlite_utils.Database) -> Head:
        row = db.conn.execute("SELECT size, head, checkpoint FROM receipts_head WHERE id = 1").fetchone()
        if row is None:
            if self._durable or db.conn.execute("SELECT 1 FROM receipts LIMIT 1").fetchone():
                raise _broken("its head is gone")
            return Head()
        size, hash_, checkpoint = row
        # The types hold in our own table; somebody may have put another in its place.
        if not (isinstance(size, int) and isinstance(hash_, str) and isinstance(checkpoint, str)):
            raise _broken("its head is damaged")
        head = Head(size, hash_)
        if head.size < self._durable:
            raise _broken("records were cut off")
        if head not in self._made and not is_signed_head(checkpoint, head, self._signer):
            raise _broken("its head does not carry this installation's signature")
        return head


def _broken(reason: str) -> Unavailable:
    _log.critical("the receipt log is broken: %s", reason)
    return Unavailable(f"No receipt can be written, because the receipt log is broken: {reason}.")
