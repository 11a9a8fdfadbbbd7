"""Everything stored, as one transaction or snapshot sees it."""

from collections.abc import Sequence

import psycopg

from gateway.store.postgres.corrections import Corrections
from gateway.store.postgres.keys import Keys
from gateway.store.postgres.policies import Policies
from gateway.store.postgres.receipts import Receipts
from gateway.store.postgres.sessions import Sessions
from gateway.store.postgres.statements import Statements
from gateway.store.postgres.usage import Usage


class Repositories:
    """Made for a connection; its owner begins and ends the transactions."""

    def __init__(self, conn: psycopg.Connection, instance: str = "", about: Sequence[str] = ()) -> None:
        """`instance` names the process, if it writes. The records of the requests `about` are looked up together."""
        statements = Statements(conn)
        self.keys = Keys(statements)
        self.sessions = Sessions(statements)
        self.policies = Policies(statements)
        self.receipts = Receipts(statements, instance, about)
        self.usage = Usage(statements)
        self.corrections = Corrections(statements)
