"""The transactions of the only thread that writes to the file."""

import logging
import sqlite3

from gateway.errors import Unavailable
from gateway.store.errors import ConstraintViolation
from gateway.store.group_commit import GroupCommit
from gateway.store.repeated_failures import RepeatedFailures
from gateway.store.sqlite.connection import BUSY_SECONDS, error_name
from gateway.store.sqlite.database_files import DatabaseFiles
from gateway.store.sqlite.repositories import Repositories

_log = logging.getLogger(__name__)

_BUSY_MS = int(BUSY_SECONDS * 1000)
# After a transaction that could not begin, since all that is queued would wait for the same lock, one after the other.
_BUSY_AGAIN_MS = 500
_EMPTYING_WAIT_MS = 50


class Writer(GroupCommit):
    """Owns the writing connection. Its chore is to empty the write-ahead log, so that no file holds deleted rows."""

    def __init__(self, repositories: Repositories, files: DatabaseFiles) -> None:
        super().__init__()
        self._repositories = repositories
        self._files = files
        self._conn = repositories.db.conn
        self._wal_failures = RepeatedFailures(
            "the store could not empty its write-ahead log: %s", "the write-ahead log is empty again", logging.WARNING
        )
        # Whether another process held the lock in the last transaction, and how long the connection waits for it.
        self._locked = False
        self._waits_ms = _BUSY_MS
        self.start()

    def _begin(self, about: list[str]) -> Repositories:
        self._wait_for_locks(_BUSY_AGAIN_MS if self._locked else _BUSY_MS)
        self._locked = False
        self._conn.execute("BEGIN IMMEDIATE")
        return self._repositories

    def _commit(self) -> None:
        # The commit may move the log into the database, which another process with a new log does not expect.
        self._files.check()
        self._conn.execute("COMMIT")
        # A commit to a file that was deleted succeeds, and does not last.
        self._files.check()

    def _roll_back(self) -> None:
        try:
            if self._conn.in_transaction:
                self._conn.execute("ROLLBACK")
        except sqlite3.Error as error:
            _log.error("the store could not roll back: %s", error_name(error))

    def _savepoint(self, statement: str) -> None:
        self._conn.execute(statement)

    def _note_failure(self, error: Exception) -> None:
        self._locked = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
        if isinstance(error, Unavailable):
            # The contents of a deleted log would be lost with this process.
            self._attempt_chore()

    def _close(self) -> None:
        self._do_chore()
        try:
            self._files.check()
        except Unavailable:
            # Deletes nothing, because the files in these places are not those of this connection.
            self._conn.setconfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE)
        self._repositories.db.close()

    def _do_chore(self) -> None:
        """Moves the write-ahead log into the database, or has it retried later if readers are in the way.

        Does nothing once another process has a log of its own: it does not expect these pages to change.
        """
        if self._files.have_a_new_log():
            self._has_chore = False
            return
        conn = self._conn
        self._has_chore = True
        try:
            self._wait_for_locks(_EMPTYING_WAIT_MS)
            busy, _, _ = conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            self._has_chore = bool(busy)
            self._wal_failures.end()
        except sqlite3.Error as error:
            self._wal_failures.add(error_name(error))

    def _wait_for_locks(self, milliseconds: int) -> None:
        if milliseconds != self._waits_ms:
            self._conn.execute(f"PRAGMA busy_timeout = {milliseconds}")
            self._waits_ms = milliseconds

    def _translated(self, error: Exception) -> Exception:
        return translated(error)

    def _name(self, error: BaseException) -> str:
        return error_name(error)


def translated(error: Exception) -> Exception:
    """Translates an error for callers. A full, locked or damaged database is not their mistake."""
    if isinstance(error, sqlite3.IntegrityError):
        return ConstraintViolation(error_name(error))
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.ProgrammingError):
        return Unavailable("The store cannot be used at the moment. Try again shortly.")
    return error
