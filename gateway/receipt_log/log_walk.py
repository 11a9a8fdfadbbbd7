"""Reads the whole log in chunks and follows its chain."""

from collections.abc import Callable, Iterator

from gateway.receipt_log.consistency import check_checkpoint, read_history
from gateway.receipt_log.tree import IncompleteTree, StoredTree
from gateway.receipts.checkpoint import Checkpoint
from gateway.receipts.history import History, Start
from gateway.receipts.merkle import Frontier
from gateway.receipts.signing import Keys, Verifier
from gateway.receipts.verify import ChainWalk, Check, Verification, check_head, check_receipt
from gateway.store import ReadOnlyStore, Receipts, Repositories
from gateway.store.rows import StoredHead, StoredReceipt, StoredRecord
from gateway.usage import counted_records

_CHUNK = 1000

type Progress = Callable[[int], None]
"""Called after each chunk with the number of records in it."""


class LogWalk:
    """A walk over all records in ascending order. Each step is short, so that nothing else waits for long.

    Others may append meanwhile. The last step reads head and checkpoint in the same snapshot as its records. If the log
    is pruned meanwhile, the walk starts again.
    """

    def __init__(self, verifier: Verifier, remembered: Checkpoint | None = None) -> None:
        """`remembered` is the checkpoint that the log has to extend."""
        self.chain = ChainWalk()
        self.rows: list[StoredRecord] = []
        self.head: StoredHead | None = None
        self.checks: list[Check] = []
        """After the last step: the chain, the signed head, the stored subtrees and the remembered checkpoint."""
        self.history: History | None = None
        self.pruned = Frontier()
        """The tree over what was pruned."""
        self._verifier = verifier
        self._remembered = remembered
        self._changed: str | None = None

    @property
    def keys(self) -> Keys:
        """The keys that the records read so far are signed with."""
        return self.history or self._verifier

    @property
    def start(self) -> Start:
        """Where the log starts, as far as it is read."""
        return Start() if self.history is None else self.history.start

    def step(self, stored: Repositories) -> bool:
        """Reads the next chunk into `rows`. Returns whether there may be another that is worth reading."""
        self._follow(stored.receipts)
        last = self.rows[-1].sequence if self.rows else None
        self.rows = stored.receipts.after(last, _CHUNK)
        self.chain.feed(self.rows)
        self._compare_nodes(stored.receipts)
        if len(self.rows) == _CHUNK:
            return True
        self.head = stored.receipts.head()
        self.checks = [
            self.chain.check(),
            check_head(self.chain, self.head, self._verifier),
            Check("tree", self._changed),
            check_checkpoint(stored.receipts, self._remembered, self._verifier, counted_records(stored.usage)),
        ]
        return False

    def verification(self, filed: StoredReceipt) -> Verification:
        """Returns, after the last step, the checks of a receipt and of the log."""
        return Verification((*check_receipt(filed, self.keys), *self.checks), self.chain.state, filed.request_id)

    def _follow(self, receipts: Receipts) -> None:
        history, before = read_history(receipts, self._verifier), self.history
        self.history = history
        start = history.start
        if (before.start if before is not None else None) == start:
            return
        try:
            tree = StoredTree(receipts).frontier(start.size)
        except IncompleteTree:
            tree = Frontier(start.size, [b""] * start.size.bit_count())
        self._changed = None if tree.root() == start.root else "the subtrees of what was pruned are not those it had"
        self.pruned = tree.copy()
        self.chain, self.rows = ChainWalk(start.hash, tree), []

    def _compare_nodes(self, receipts: Receipts) -> None:
        for node in self.chain.completed:
            if self._changed is None and receipts.nodes(node.level, node.number, 1) != [node]:
                self._changed = f"subtree {node.number} of level {node.level} is not what the records give"


def walk_log(store: ReadOnlyStore, walk: LogWalk, progress: Progress) -> Iterator[list[StoredRecord]]:
    """Makes the steps of a walk, and yields the records of each."""
    more = True
    while more:
        more = store.read(walk.step)
        yield walk.rows
        progress(len(walk.rows))
