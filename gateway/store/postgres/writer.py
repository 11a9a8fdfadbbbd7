"""The transactions of the only thread of this process that writes."""

import logging
import time
from contextlib import suppress
from secrets import token_hex

import psycopg
from psycopg.pq import TransactionStatus

from gateway.store.group_commit import GroupCommit
from gateway.store.postgres.connection import connect, error_name, translated
from gateway.store.postgres.lock import BEGIN_ALONE
from gateway.store.postgres.repositories import Repositories

_log = logging.getLogger(__name__)

# How long a transaction waits for a server that restarts, and one that follows another which waited in vain.
_PATIENCE_SECONDS = 10.0
_IMPATIENCE_SECONDS = 0.5
_PAUSE_SECONDS = 0.1


class LostTransaction(Exception):
    """The server ended the transaction without keeping it."""


class Writer(GroupCommit):
    """Owns the writing connection, and opens another when it breaks.

    Has no chore: rows that are deleted leave the tables with the server's next vacuum.
    """

    def __init__(self, info: str, conn: psycopg.Connection) -> None:
        super().__init__()
        self._info = info
        self._conn = conn
        self._instance = token_hex(8)
        self._waited_in_vain = False
        self.start()

    def _begin(self, about: list[str]) -> Repositories:
        deadline = time.monotonic() + (_IMPATIENCE_SECONDS if self._waited_in_vain else _PATIENCE_SECONDS)
        while True:
            try:
                if self._conn.closed:
                    self._conn = connect(self._info)
                self._conn.execute(BEGIN_ALONE)
            except psycopg.OperationalError:
                # Nothing was done yet, so a connection that broke since the last transaction costs no request.
                if not self._conn.closed or time.monotonic() > deadline:
                    self._waited_in_vain = True
                    raise
                time.sleep(_PAUSE_SECONDS)
            else:
                self._waited_in_vain = False
                return Repositories(self._conn, self._instance, about)

    def _commit(self) -> None:
        # A transaction in which a statement failed is undone by a commit, which reports no error.
        if self._conn.info.transaction_status is not TransactionStatus.INTRANS:
            raise LostTransaction
        if self._conn.execute(b"COMMIT").statusmessage != "COMMIT":
            raise LostTransaction

    def _roll_back(self) -> None:
        try:
            if not self._conn.closed and self._conn.info.transaction_status is not TransactionStatus.IDLE:
                self._conn.execute(b"ROLLBACK")
        except psycopg.Error as error:
            _log.error("the store could not roll back: %s", error_name(error))
            self._conn.close()

    def _savepoint(self, statement: str) -> None:
        self._conn.execute(statement.encode())

    def renew(self, *, ends: bool = False) -> None:
        """Says that this instance still writes, if it ever wrote, or that it ends."""
        now = "'-infinity'" if ends else "clock_timestamp()"
        self._conn.execute(f"UPDATE instances SET seen_at = {now} WHERE instance = %s".encode(), [self._instance])

    def assign_number(self) -> None:
        """Makes the current transaction one that the server has to write, although it changes nothing."""
        self._conn.execute(b"SELECT pg_current_xact_id()")

    def _note_failure(self, error: Exception) -> None:
        pass

    def _do_chore(self) -> None:
        self._has_chore = False

    def _close(self) -> None:
        # Others notice a process that cannot say so by its silence.
        with suppress(psycopg.Error):
            self.renew(ends=True)
        self._conn.close()

    def _translated(self, error: Exception) -> Exception:
        return translated(error)

    def _name(self, error: BaseException) -> str:
        return error_name(error)
