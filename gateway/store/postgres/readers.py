"""Connections that read snapshots: a pool for the gateway, and one on the calling thread for commands."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolTimeout

from gateway.config.database_url import Database
from gateway.errors import Unavailable
from gateway.store.interfaces import Repositories as Stored
from gateway.store.postgres import migrations
from gateway.store.postgres.connection import (
    CONNECT_SECONDS,
    configure,
    connect,
    connection_info,
    error_name,
    translated,
    unusable,
)
from gateway.store.postgres.lock import BEGIN_SNAPSHOT
from gateway.store.postgres.repositories import Repositories
from gateway.store.repeated_failures import RepeatedFailures

_THREADS = 4
_IMPATIENCE_SECONDS = 0.1
# After this, the next call tries again, rather than the pool after ever longer pauses.
_RECONNECT_SECONDS = 1.0
# Its messages quote the server's, which name accounts; failures are logged here.
logging.getLogger("psycopg").setLevel(logging.CRITICAL)


class Readers:
    """Runs work that reads, each on one consistent snapshot."""

    def __init__(self, info: str) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="store-reader")
        self._pool = ConnectionPool(
            info,
            kwargs={"autocommit": True},
            configure=configure,
            min_size=1,
            # One more, for work on the calling thread.
            max_size=_THREADS + 1,
            reconnect_timeout=_RECONNECT_SECONDS,
            open=True,
        )
        # A server that is away is waited for once. Calls of the event loop must not each wait anew.
        self._is_away = False
        self._failures = RepeatedFailures("the store could not be read: %s", "the store can be read again")

    async def run[T](self, work: Callable[[Stored], T]) -> T:
        try:
            pending = asyncio.get_running_loop().run_in_executor(self._threads, self.run_now, work)
        except RuntimeError:
            raise Unavailable("The store is closed.") from None
        return await pending

    def run_now[T](self, work: Callable[[Stored], T]) -> T:
        try:
            try:
                result = self._read(work)
            except psycopg.OperationalError as error:
                if self._is_away or (error.sqlstate is not None and not error.sqlstate.startswith(("08", "57P"))):
                    raise
                # The server may have restarted since a connection was last used.
                self._pool.check()
                result = self._read(work)
        except psycopg.Error as error:
            told = translated(error)
            if isinstance(told, Unavailable):
                self._failures.add(error_name(error))
            raise told from None
        self._failures.end()
        return result

    def _read[T](self, work: Callable[[Stored], T]) -> T:
        patience = _IMPATIENCE_SECONDS if self._is_away else CONNECT_SECONDS
        try:
            with self._pool.connection(patience) as conn:
                self._is_away = False
                return on_snapshot(conn, work)
        except PoolTimeout:
            self._is_away = True
            raise

    def close(self) -> None:
        self._threads.shutdown()
        self._pool.close()


def on_snapshot[T](conn: psycopg.Connection, work: Callable[[Stored], T]) -> T:
    conn.execute(BEGIN_SNAPSHOT)
    try:
        return work(Repositories(conn))
    finally:
        if not conn.closed and conn.info.transaction_status is not TransactionStatus.IDLE:
            conn.execute(b"ROLLBACK")


class ReadOnlyStore:
    """See `interfaces`."""

    def __init__(self, conn: psycopg.Connection) -> None:
        self._conn = conn

    @classmethod
    @contextmanager
    def open(cls, database: Database) -> Iterator["ReadOnlyStore"]:
        """Raises StoreError when there is no database, or none that this version of the gateway can read."""
        try:
            conn = connect(connection_info(database))
        except psycopg.Error as error:
            raise unusable(error) from None
        with closing(conn):
            try:
                migrations.check(conn)
            except psycopg.Error as error:
                raise unusable(error) from None
            yield cls(conn)

    def copy_to(self, path: Path) -> None:
        raise Unavailable("A database in PostgreSQL is copied with its own tools, such as pg_dump.")

    def read[T](self, work: Callable[[Stored], T]) -> T:
        try:
            return on_snapshot(self._conn, work)
        except psycopg.Error as error:
            raise Unavailable(f"The database cannot be read: {error_name(error)}.") from None
