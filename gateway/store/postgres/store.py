"""The PostgreSQL store: joins the writer and the readers of one database."""

import threading
from contextlib import suppress
from typing import Self

import psycopg

from gateway.config.database_url import Database
from gateway.errors import Unavailable
from gateway.store.postgres import migrations
from gateway.store.postgres.connection import connect, connection_info, unusable
from gateway.store.postgres.readers import Readers
from gateway.store.postgres.writer import Writer
from gateway.store.queued_store import QueuedStore

_RENEW_SECONDS = 15.0


class Store(QueuedStore):
    """A database on a server, which gateways on several machines may share."""

    def __init__(self, info: str, conn: psycopg.Connection) -> None:
        self._database_writer = Writer(info, conn)
        super().__init__(self._database_writer, Readers(info))
        self._ends = threading.Event()
        self._renewing = threading.Thread(target=self._renew, name="store-instance", daemon=True)
        self._renewing.start()

    @classmethod
    def open(cls, database: Database) -> Self:
        """Opens the database, and migrates its tables. Raises StoreError."""
        info = connection_info(database)
        try:
            conn = connect(info)
        except psycopg.Error as error:
            raise unusable(error) from None
        try:
            migrations.apply(conn)
            return cls(info, conn)
        except BaseException:
            conn.close()
            raise

    def close(self) -> None:
        self._ends.set()
        self._renewing.join()
        super().close()

    def _renew(self) -> None:
        """Lets the other instances know that this one still has requests under way."""
        while not self._ends.wait(_RENEW_SECONDS):
            with suppress(Unavailable):
                self.submit(lambda _: self._database_writer.renew())

    def _write_nothing_new(self) -> None:
        # A transaction with a number is written to the log of the server.
        self._database_writer.assign_number()


def database_exists(database: Database) -> bool:
    """Whether the database has tables. Raises StoreError when it cannot be reached."""
    try:
        with connect(connection_info(database)) as conn:
            return migrations.exist(conn)
    except psycopg.Error as error:
        raise unusable(error) from None
