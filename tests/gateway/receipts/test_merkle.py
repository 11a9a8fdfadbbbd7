"""The tree of RFC 6962 against its recursive definition, and proofs of every leaf and every pair of sizes."""

import pytest

from gateway.receipts.merkle import (
    EMPTY_ROOT,
    TILE_WIDTH,
    Frontier,
    consistency_ranges,
    extends,
    frontier_ranges,
    included_root,
    inclusion_ranges,
    leaf_hash,
)
from tests.gateway.receipts.verifier import inclusion_path, tree_root

LEAVES = [b"leaf %d" % number for number in range(70)]


def path(ranges: list[tuple[int, int]]) -> list[bytes]:
    return [tree_root(LEAVES[first:end]) for first, end in ranges]


def test_known_roots() -> None:
    """Checks the empty tree, and the eight leaves with which implementations of Certificate Transparency are tested."""
    assert EMPTY_ROOT.hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    leaves = ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
    tree = Frontier()
    for leaf in leaves:
        tree.push(leaf_hash(bytes.fromhex(leaf)))
    assert tree.root().hex() == "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"


def test_a_tree_grows_as_it_is_defined() -> None:
    tree = Frontier()
    for size in range(len(LEAVES)):
        assert (tree.size, tree.root()) == (size, tree_root(LEAVES[:size]))
        again = Frontier(size, path(list(frontier_ranges(size))))
        assert again.root() == tree.root()
        before = tree.copy()
        tree.push(leaf_hash(LEAVES[size]))
        assert before.root() == tree_root(LEAVES[:size]), "a copy is independent"


def test_every_leaf_is_proved_in_its_place_and_no_other() -> None:
    for size in range(1, 40):
        root = tree_root(LEAVES[:size])
        for index in range(size):
            proof = path(inclusion_ranges(index, size))
            assert proof == inclusion_path(index, LEAVES[:size])
            leaf = leaf_hash(LEAVES[index])
            assert included_root(leaf, index, size, proof) == root
            assert included_root(leaf_hash(LEAVES[index] + b"!"), index, size, proof) != root
            for other in {index - 1, index + 1, size, 2**64} - {index}:
                assert included_root(leaf, other, size, proof) != root
            assert included_root(leaf, index, size, [*proof, root]) is None
            assert not proof or included_root(leaf, index, size, proof[:-1]) != root


def test_every_older_tree_is_proved_and_no_other() -> None:
    for new in range(1, 40):
        root = tree_root(LEAVES[:new])
        assert extends(0, EMPTY_ROOT, new, root, [])
        assert not extends(0, root, new, root, [])
        for old in range(1, new + 1):
            older, proof = tree_root(LEAVES[:old]), path(consistency_ranges(old, new))
            assert extends(old, older, new, root, proof)
            forged = tree_root([b"forged", *LEAVES[1:old]])
            assert not extends(old, forged, new, root, proof)
            assert not extends(old, older, new, forged, proof)
            assert not extends(new, root, old, older, proof) or old == new
            assert not extends(old, older, new, root, [*proof, root])
            if proof:
                assert not extends(old, older, new, root, proof[:-1])
                assert not extends(old, older, new, root, [bytes(32), *proof[1:]])


def test_missing_leaves_and_trees_are_not_proved() -> None:
    for index, size in ((0, 0), (3, 3), (-1, 3)):
        with pytest.raises(ValueError, match="no such leaf"):
            inclusion_ranges(index, size)
    for old, new in ((0, 3), (4, 3), (-1, 3)):
        with pytest.raises(ValueError, match="older tree"):
            consistency_ranges(old, new)


def test_complete_subtrees_are_returned_once() -> None:
    tree, nodes = Frontier(), []
    leaves = [leaf_hash(b"%d" % number) for number in range(2 * TILE_WIDTH + 1)]
    for leaf in leaves:
        nodes += tree.push(leaf)
    assert [(level, number) for level, number, _ in nodes] == [(1, 0), (1, 1)]
    second = Frontier()
    for leaf in leaves[TILE_WIDTH : 2 * TILE_WIDTH]:
        second.push(leaf)
    assert nodes[1][2] == second.root()
