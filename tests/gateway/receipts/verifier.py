"""A second verifier, written from docs/receipt-format.md, that shares no code with the gateway.

It is slow and obvious: the tree is computed by the recursive definition of RFC 6962.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

ORIGIN = "privacy-gateway/receipt-log"


def tree_root(leaves: Sequence[bytes]) -> bytes:
    """MTH of RFC 6962, section 2.1, over the leaves' contents."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return sha256(b"\x00" + leaves[0]).digest()
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    return sha256(b"\x01" + tree_root(leaves[:half]) + tree_root(leaves[half:])).digest()


def inclusion_path(index: int, leaves: Sequence[bytes]) -> list[bytes]:
    """PATH of RFC 6962, section 2.1.1."""
    if len(leaves) == 1:
        return []
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    if index < half:
        return [*inclusion_path(index, leaves[:half]), tree_root(leaves[half:])]
    return [*inclusion_path(index - half, leaves[half:]), tree_root(leaves[:half])]


def check_checkpoint(note: str, key: Ed25519PublicKey) -> tuple[int, bytes]:
    """Returns size and root. Raises unless the key signed the note."""
    text, separator, signatures = note.partition("\n\n")
    assert separator
    origin, size, root = text.split("\n")
    assert (origin, str(int(size))) == (ORIGIN, size)
    assert 0 <= int(size) <= 2**53
    assert b64encode(b64decode(root, validate=True)).decode() == root
    assert signatures.endswith("\n")
    dash, name, encoded = signatures[:-1].split(" ")
    assert (dash, name) == ("\u2014", ORIGIN)
    signature = b64decode(encoded, validate=True)
    assert b64encode(signature).decode() == encoded
    assert signature[:4] == sha256(ORIGIN.encode() + b"\n\x01" + key.public_bytes_raw()).digest()[:4]
    key.verify(signature[4:], (text + "\n").encode())
    return int(size), b64decode(root)


def check_record(record: dict[str, Any], key: Ed25519PublicKey) -> bytes:
    """Returns the record's canonical form. Raises unless the key signed the record."""
    body = {name: value for name, value in record.items() if name not in {"hash", "signature"}}
    canonical = rfc8785.dumps(body)
    digest = sha256(canonical)
    assert record["hash"] == digest.hexdigest()
    assert record["signature"] == record["signature"].lower()
    key.verify(bytes.fromhex(record["signature"]), digest.digest())
    return canonical


def check_receipt(receipt: dict[str, Any], key: Ed25519PublicKey) -> None:
    """Raises unless the key signed the receipt and its outcome, and they belong together."""
    check_record({name: value for name, value in receipt.items() if name != "outcome"}, key)
    if (outcome := receipt.get("outcome")) is not None:
        check_record(outcome, key)
        assert outcome["receipt_hash"] == receipt["hash"]


def check_inclusion(receipt: dict[str, Any], anchor: dict[str, Any], key: Ed25519PublicKey) -> None:
    """Raises unless the receipt is in the log of the checkpoint."""
    size, root = check_checkpoint(anchor["checkpoint"], key)
    proof = anchor["inclusion"]
    assert (proof["tree_size"], proof["leaf_index"]) == (size, receipt["sequence"] - 1)
    assert 0 <= proof["leaf_index"] < size
    assert all(each == each.lower() for each in proof["hashes"])
    path = [bytes.fromhex(each) for each in proof["hashes"]]
    assert all(len(each) == 32 for each in path)
    record = {name: value for name, value in receipt.items() if name != "outcome"}
    assert climb(sha256(b"\x00" + check_record(record, key)).digest(), proof["leaf_index"], size, path) == root


def climb(hash_: bytes, index: int, size: int, path: list[bytes]) -> bytes:
    """The root that a path leads to, by the definition of PATH."""
    if size == 1:
        assert not path
        return hash_
    half = 1
    while half * 2 < size:
        half *= 2
    *below, sibling = path
    if index < half:
        return sha256(b"\x01" + climb(hash_, index, half, below) + sibling).digest()
    return sha256(b"\x01" + sibling + climb(hash_, index - half, size - half, below)).digest()


def check_export(lines: Sequence[str], public_key: str) -> int:
    """Raises unless the lines are a whole log of this key. Returns how many records it has."""
    header, *records, head = map(_parse, lines)
    assert (header["type"], header["format"], header["version"]) == ("header", "privacy-gateway/receipts-export", 2)
    assert header["public_key"] == public_key
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
    leaves: list[bytes] = []
    previous, receipts, outcomes = "0" * 64, dict[str, str](), set[str]()
    for number, line in enumerate(records, start=1):
        record = line["record"]
        leaves.append(check_record(record, key))
        assert (record["sequence"], record["previous_hash"]) == (number, previous)
        assert record["key_id"] == "key_" + sha256(key.public_bytes_raw()).hexdigest()[:16]
        previous = record["hash"]
        if line["type"] == "receipt":
            assert "receipt_hash" not in record
            assert record["request_id"] not in receipts
            receipts[record["request_id"]] = record["hash"]
        else:
            assert line["type"] == "outcome"
            assert record["request_id"] not in outcomes
            assert record["receipt_hash"] == receipts[record["request_id"]]
            outcomes.add(record["request_id"])
    assert (head["type"], head["size"], head["hash"]) == ("head", len(records), previous)
    assert check_checkpoint(head["checkpoint"], key) == (len(records), tree_root(leaves))
    return len(records)


def _parse(line: str) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len({name for name, _ in pairs}) == len(pairs), "a name stands twice"
        return dict(pairs)

    return json.loads(line, object_pairs_hook=once)
