"""Everything stored, as one transaction or snapshot sees it."""

import sqlite_utils

from gateway.store.sqlite.corrections import Corrections
from gateway.store.sqlite.keys import Keys
from gateway.store.sqlite.policies import Policies
from gateway.store.sqlite.receipts import Receipts
from gateway.store.sqlite.sessions import Sessions
from gateway.store.sqlite.usage import Usage


class Repositories:
    """Made once for each connection; its owner begins and ends the transactions."""

    def __init__(self, db: sqlite_utils.Database) -> None:
        self.db = db
        self.keys = Keys(db.conn)
        self.sessions = Sessions(db.conn)
        self.policies = Policies(db.conn)
        self.receipts = Receipts(db.conn)
        self.usage = Usage(db.conn)
        self.corrections = Corrections(db.conn)
