"""Merkle trees: hashes, roots and proofs of RFC 6962, section 2.1. Pure.

Leaves are numbered from zero. A range `(first, end)` is the subtree over its leaves.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256

from gateway.store.rows import NodeRow

EMPTY_ROOT = sha256(b"").digest()
TILE_HEIGHT = 8
"""Levels between two that are stored: one stored hash covers 256 of the level below."""
TILE_WIDTH = 1 << TILE_HEIGHT

type Range = tuple[int, int]


def leaf_hash(data: bytes) -> bytes:
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


class Frontier:
    """The complete subtrees that make up a tree, largest first, which is all that appending takes."""

    __slots__ = ("_subtrees", "size")

    def __init__(self, size: int = 0, subtrees: Sequence[bytes] = ()) -> None:
        """`subtrees` are the hashes for `frontier_ranges(size)`."""
        self.size = size
        self._subtrees = list(subtrees)

    @property
    def subtrees(self) -> list[bytes]:
        """Their hashes, for `frontier_ranges(size)`."""
        return [*self._subtrees]

    def copy(self) -> "Frontier":
        return Frontier(self.size, self._subtrees)

    def push(self, leaf: bytes) -> list[NodeRow]:
        """Appends the hash of a leaf. Returns the subtrees of stored levels that it completes, the smallest first."""
        completed: list[NodeRow] = []
        number, level = self.size, 0
        while number & 1:
            leaf = node_hash(self._subtrees.pop(), leaf)
            number >>= 1
            level += 1
            if level % TILE_HEIGHT == 0:
                completed.append(NodeRow(level // TILE_HEIGHT, number, leaf))
        self._subtrees.append(leaf)
        self.size += 1
        return completed

    def root(self) -> bytes:
        if not self._subtrees:
            return EMPTY_ROOT
        *before, root = self._subtrees
        for left in reversed(before):
            root = node_hash(left, root)
        return root


def frontier_ranges(size: int) -> Iterator[Range]:
    """Yields the complete subtrees that make up a tree, largest first."""
    first = 0
    for bit in reversed(range(size.bit_length())):
        if size >> bit & 1:
            yield first, first + (1 << bit)
            first += 1 << bit


def split(first: int, end: int) -> int:
    """Returns where the left half of a tree of two or more leaves ends: after the largest power of two that fits."""
    return first + (1 << (end - first - 1).bit_length() - 1)


def inclusion_ranges(index: int, size: int) -> list[Range]:
    """Returns the subtrees of an inclusion proof, in its order. Raises ValueError unless 0 <= index < size."""
    if not 0 <= index < size:
        raise ValueError("the tree has no such leaf")
    ranges, first, end = [], 0, size
    while end - first > 1:
        middle = split(first, end)
        if index < middle:
            ranges.append((middle, end))
            end = middle
        else:
            ranges.append((first, middle))
            first = middle
    return ranges[::-1]


def consistency_ranges(old: int, new: int) -> list[Range]:
    """Returns the subtrees of a consistency proof, in its order. Raises ValueError unless 0 < old <= new."""
    if not 0 < old <= new:
        raise ValueError("the older tree has no leaf, or more than the newer one")
    ranges, first, end = [], 0, new
    while old != end:
        middle = split(first, end)
        if old <= middle:
            ranges.append((middle, end))
            end = middle
        else:
            ranges.append((first, middle))
            first = middle
    # The verifier has the root of the older tree, unless only a part of it is left here.
    return [*([(first, end)] if first else []), *ranges[::-1]]


def included_root(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """Returns the root that an inclusion proof leads to, or None for a proof of the wrong form (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return None
    last = size - 1
    root = leaf
    for sibling in path:
        if last == 0:
            return None
        if index & 1 or index == last:
            root = node_hash(sibling, root)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            root = node_hash(root, sibling)
        index, last = index >> 1, last >> 1
    return root if last == 0 else None


def extends(old: int, old_root: bytes, new: int, new_root: bytes, path: Sequence[bytes]) -> bool:
    """Verifies a consistency proof (RFC 9162, 2.1.4.2). Every tree extends the empty one and itself, without proof."""
    if old in {0, new}:
        return not path and old_root == (new_root if old == new else EMPTY_ROOT)
    if not 0 < old < new or not path:
        return False
    hashes = iter(path if old & (old - 1) else (old_root, *path))
    at, last = old - 1, new - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    older = newer = next(hashes)
    for sibling in hashes:
        if last == 0:
            return False
        if at & 1 or at == last:
            older, newer = node_hash(sibling, older), node_hash(sibling, newer)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            newer = node_hash(newer, sibling)
        at, last = at >> 1, last >> 1
    return last == 0 and older == old_root and newer == new_root
