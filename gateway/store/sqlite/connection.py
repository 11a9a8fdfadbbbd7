"""Opens connections to the database file, each with the settings that the guarantees rest on."""

import os
import sqlite3
import time
from pathlib import Path

import sqlite_utils

from gateway.store.errors import StoreError
from gateway.store.sqlite.database_files import log_was_deleted

FILE = "gateway.db"
"""The name of the database in its folder."""

BUSY_SECONDS = 10.0
# SQLite truncates the write-ahead log to this size after a checkpoint.
_WAL_BYTES = 16 * 1024 * 1024


def connect_writer(path: Path) -> sqlite_utils.Database:
    """Opens the connection that writes, and creates the file (0600) when it is missing. Raises StoreError."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Created here because SQLite would apply the umask; its -wal and -shm files inherit this mode.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        if (mode := path.stat().st_mode) & 0o077:
            path.chmod(mode & 0o700)
        log_lost = log_was_deleted(path)
        conn = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"{path.name} in data_dir cannot be opened: {type(error).__name__}") from None
    try:
        _use_wal(conn)
        for pragma in (
            "synchronous = FULL",
            "secure_delete = ON",
            "foreign_keys = ON",
            "trusted_schema = OFF",
            "temp_store = MEMORY",
            f"journal_size_limit = {_WAL_BYTES}",
        ):
            conn.execute(f"PRAGMA {pragma}")
        # A crash may have come while the log was being moved into the database.
        if log_lost and conn.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError
    except sqlite3.Error as error:
        conn.close()
        if log_lost:
            raise StoreError(
                f"{path.name} in data_dir is damaged, because {path.name}-wal was deleted; restore the data folder "
                "from a backup"
            ) from None
        raise StoreError(f"{path.name} in data_dir cannot be used: {error.sqlite_errorname}") from None
    return sqlite_utils.Database(conn, execute_plugins=False)


def connect_reader(path: Path) -> sqlite_utils.Database:
    """Opens a connection that cannot write. Raises sqlite3.Error."""
    conn = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    for pragma in ("query_only = ON", "trusted_schema = OFF", "temp_store = MEMORY"):
        conn.execute(f"PRAGMA {pragma}")
    return sqlite_utils.Database(conn, execute_plugins=False)


def _use_wal(conn: sqlite3.Connection) -> None:
    """Retries, because several processes may start at once and SQLite does not always wait for another to switch."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            conn.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


def error_name(error: BaseException) -> str:
    """Names an error for logs and messages. Its own message could quote a value."""
    return getattr(error, "sqlite_errorname", None) or type(error).__name__
