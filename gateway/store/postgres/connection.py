"""Opens connections to the server, and refuses one without the settings that the guarantees rest on."""

from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from gateway.config.database_url import VERIFIED, Database, parse_database
from gateway.errors import Unavailable
from gateway.store.errors import ConstraintViolation, StoreError

OLDEST = 140000
"""The oldest version of the server, as it says it: the oldest that its makers still maintain."""
CONNECT_SECONDS = 5
LOCK_SECONDS = 10.0
# A session that is silent within a transaction for this long is ended, since all others wait for its lock.
_SILENT_SECONDS = 10
_STATEMENT_SECONDS = 60
_DURABLE = {"on", "remote_apply"}
_SETTINGS = {
    "statement_timeout": f"{_STATEMENT_SECONDS}s",
    "lock_timeout": f"{int(LOCK_SECONDS)}s",
    "idle_in_transaction_session_timeout": f"{_SILENT_SECONDS}s",
    # The server would otherwise notice a lost client hours later.
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
}
_REPORTED = ("server_version_num", "server_encoding", "fsync", "full_page_writes", "synchronous_commit")
_ASK = ", ".join(
    [
        *(f"current_setting('{name}')" for name in _REPORTED),
        "current_setting('transaction_read_only')",
        *(f"set_config('{name}', '{value}', false)" for name, value in _SETTINGS.items()),
    ]
)


def connection_info(database: Database) -> str:
    """Returns what libpq connects with. Nothing that decides on TLS is left to its variables or files."""
    parts = parse_database(database.url)
    given: dict[str, Any] = {
        "connect_timeout": CONNECT_SECONDS,
        "application_name": "privacy-gateway",
        "target_session_attrs": "read-write",
        "sslmode": "prefer" if parts.is_local else VERIFIED,
        **parts.parameters,
        "host": ",".join(parts.hosts),
        "hostaddr": "",
        "dbname": parts.name,
        "client_encoding": "UTF8",
        "gssencmode": "disable",
        "tcp_user_timeout": _SILENT_SECONDS * 1000,
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 3,
    }
    if parts.user:
        given["user"] = parts.user
    if any(parts.ports):
        given["port"] = ",".join(parts.ports)
    if database.password is not None:
        given["password"] = database.password.get_secret_value()
    return make_conninfo("", **given)


def connect(info: str) -> psycopg.Connection:
    """Opens a connection whose transactions its owner begins and ends. Raises psycopg.Error, StoreError."""
    conn = psycopg.connect(info, autocommit=True)
    try:
        configure(conn)
    except BaseException:
        conn.close()
        raise
    return conn


def configure(conn: psycopg.Connection) -> None:
    """Checks the server and sets the limits of the session. Raises StoreError, psycopg.Error."""
    row = conn.execute(f"SELECT {_ASK}".encode()).fetchone()
    version, encoding, fsync, full_pages, synchronous, read_only, *_ = row or [""] * 6
    problems = {
        "it is older than version 14": int(version) < OLDEST,
        "its encoding is not UTF8": encoding != "UTF8",
        "fsync is off": fsync != "on",
        "full_page_writes is off": full_pages != "on",
        "synchronous_commit is neither on nor remote_apply": synchronous not in _DURABLE,
        "it is read-only": read_only != "off",
    }
    if found := [problem for problem, applies in problems.items() if applies]:
        raise StoreError(f"the server of `database` cannot be used: {', '.join(found)}")


def translated(error: Exception) -> Exception:
    """Translates an error for callers. A full, lost or damaged database is not their mistake."""
    if isinstance(error, psycopg.IntegrityError):
        return ConstraintViolation(error_name(error))
    if isinstance(error, StoreError) or (isinstance(error, psycopg.Error) and not _is_misuse(error)):
        return Unavailable("The store cannot be used at the moment. Try again shortly.")
    return error


def error_name(error: BaseException) -> str:
    """Names an error for logs and messages. Its own message could quote a value."""
    state = getattr(error, "sqlstate", None)
    return f"{type(error).__name__} ({state})" if state else type(error).__name__


def unusable(error: psycopg.Error) -> StoreError:
    return StoreError(f"the database of `database` cannot be used: {error_name(error)}")


def _is_misuse(error: psycopg.Error) -> bool:
    """Whether the code is wrong: the driver refused, not the server."""
    return isinstance(error, psycopg.ProgrammingError) and error.sqlstate is None
