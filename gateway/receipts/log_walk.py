"""Reads the whole log in chunks and follows its chain."""

from gateway.receipts.checkpoint import Head
from gateway.receipts.consistency import check_checkpoint
from gateway.receipts.signing import Signer
from gateway.receipts.verify import ChainWalk, Check, check_head
from gateway.store import Repositories
from gateway.store.rows import StoredHead, StoredRecord
from gateway.usage import counted_records

_CHUNK = 1000


class LogWalk:
    """A walk over all records in ascending order. Each step is short, so that nothing else waits for long.

    Others may append meanwhile. Head and checkpoint are read in the same snapshot as each chunk, so that they agree
    with the last one.
    """

    def __init__(self, signer: Signer, remembered: Head | None = None) -> None:
        """`remembered` is the checkpoint that the log has to extend."""
        self.chain = ChainWalk()
        self.rows: list[StoredRecord] = []
        self.head: StoredHead | None = None
        self.checks: list[Check] = []
        """The chain, the signed head and the remembered checkpoint, as of the last step."""
        self._signer = signer
        self._remembered = remembered
        self._counted = 0

    def step(self, stored: Repositories) -> bool:
        """Reads the next chunk into `rows`. Returns whether there may be another."""
        # Once is enough: the log only grows.
        self._counted = self._counted or counted_records(stored.usage)
        last = self.rows[-1].sequence if self.rows else None
        self.rows = stored.receipts.after(last, _CHUNK)
        self.head = stored.receipts.head()
        self.chain.feed(self.rows)
        self.checks = [
            self.chain.check(),
            check_head(self.chain, self.head, self._signer),
            check_checkpoint(stored.receipts, self._remembered, self._signer, self._counted),
        ]
        return len(self.rows) == _CHUNK
