"""The repositories over one connection."""

import sqlite_utils

from gateway.store.sqlite.keys import SqliteKeys
from gateway.store.sqlite.policies import SqlitePolicies
from gateway.store.sqlite.receipts import SqliteReceipts
from gateway.store.sqlite.sessions import SqliteSessions
from gateway.store.sqlite.usage import SqliteUsage


class SqliteRepositories:
    """Made once for each connection; its owner begins and ends the transactions."""

    def __init__(self, db: sqlite_utils.Database) -> None:
        self.db = db
        self.keys = SqliteKeys(db.conn)
        self.sessions = SqliteSessions(db.conn)
        self.policies = SqlitePolicies(db.conn)
        self.receipts = SqliteReceipts(db.conn)
        self.usage = SqliteUsage(db.conn)
