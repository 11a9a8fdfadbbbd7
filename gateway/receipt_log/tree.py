"""The Merkle tree over the log as it is stored: subtrees from 256 records up, the rest recomputed from the records.

What is stored may have been changed. A root that is computed here proves something only where it is compared with a
signed one.
"""

from gateway.receipts.history import read_start
from gateway.receipts.merkle import (
    TILE_HEIGHT,
    TILE_WIDTH,
    Frontier,
    Range,
    consistency_ranges,
    frontier_ranges,
    inclusion_ranges,
    leaf_hash,
    node_hash,
    split,
)
from gateway.receipts.verify import parse
from gateway.store import Receipts
from gateway.store.rows import NodeRow


class IncompleteTree(Exception):
    """Records or subtrees are missing, so a hash cannot be computed."""


class StoredTree:
    """The tree of one snapshot, which reads each stretch of 256 hashes once. All methods raise IncompleteTree.

    Leaf `n` is the record at sequence `n + 1`.
    """

    def __init__(self, receipts: Receipts) -> None:
        self._receipts = receipts
        self._tiles: dict[tuple[int, int], list[bytes]] = {}

    def root(self, size: int) -> bytes:
        """Returns the root of the first `size` records."""
        return Frontier(size, [self._hash(each) for each in frontier_ranges(size)]).root()

    def inclusion(self, index: int, size: int) -> list[bytes]:
        """Returns the proof that the tree of `size` records has the leaf `index`. Raises ValueError if it has none."""
        return [self._hash(each) for each in inclusion_ranges(index, size)]

    def consistency(self, old: int, new: int) -> list[bytes]:
        """Returns the proof that the tree of `new` records extends that of `old`. Raises ValueError for other sizes."""
        return [self._hash(each) for each in consistency_ranges(old, new)] if old else []

    def frontier(self, size: int) -> Frontier:
        """Returns what appending to a log of `size` records takes.

        It is recomputed from the last records, the last one always among them, so that a root that fits covers them.
        """
        base = (size - 1) // TILE_WIDTH * TILE_WIDTH if size else 0
        frontier = Frontier(base, [self._hash(each) for each in frontier_ranges(base)])
        for index in range(base, size):
            frontier.push(self._hash((index, index + 1)))
        return frontier

    def last_leaves(self, size: int) -> list[tuple[int, bytes]]:
        """Returns the leaves, with their numbers, that `frontier` takes for the first `size` records."""
        first = (size - 1) // TILE_WIDTH * TILE_WIDTH
        return list(enumerate(self._tile(0, first // TILE_WIDTH)[: size - first], first))

    def _hash(self, part: Range) -> bytes:
        first, end = part
        width = end - first
        if width & (width - 1):
            middle = split(first, end)
            return node_hash(self._hash((first, middle)), self._hash((middle, end)))
        level = (width.bit_length() - 1) // TILE_HEIGHT
        unit = 1 << level * TILE_HEIGHT
        tile, place = divmod(first // unit, TILE_WIDTH)
        hashes = self._tile(level, tile)[place : place + width // unit]
        if len(hashes) < width // unit:
            raise IncompleteTree
        frontier = Frontier()
        for each in hashes:
            frontier.push(each)
        return frontier.root()

    def _tile(self, level: int, number: int) -> list[bytes]:
        """Returns up to 256 hashes of a level, without a gap."""
        if (level, number) not in self._tiles:
            self._tiles[level, number] = self._leaves(number) if level == 0 else self._nodes(level, number)
        return self._tiles[level, number]

    def _leaves(self, number: int) -> list[bytes]:
        first = number * TILE_WIDTH
        pruned = [node.hash for node in self._pruned(first)]
        rows = self._receipts.after(first + len(pruned), TILE_WIDTH - len(pruned))
        leaves = enumerate(rows, first + len(pruned) + 1)
        return [*pruned, *(leaf_hash(row.body or b"") for at, row in leaves if row.sequence == at)]

    def _pruned(self, first: int) -> list[NodeRow]:
        """The leaves from `first` on whose records were pruned."""
        for pruning in self._receipts.of_kind("pruning", 1):
            if (start := read_start(parse(pruning.body))) is not None and first < start.size:
                nodes = self._receipts.nodes(0, first, min(TILE_WIDTH, start.size - first))
                return [node for at, node in enumerate(nodes, first) if node.number == at < start.size]
        return []

    def _nodes(self, level: int, number: int) -> list[bytes]:
        first = number * TILE_WIDTH
        rows = self._receipts.nodes(level, first, TILE_WIDTH)
        return [row.hash for at, row in enumerate(rows, first) if row.number == at]
