"""A second verifier, written from docs/receipt-format.md alone: the standard library, Ed25519, no code of the gateway.

It is slow and obvious: the tree is computed by the recursive definition of RFC 6962. Whatever is wrong with a file
raises one of `REFUSALS`.
"""

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

ORIGIN = "privacy-gateway/receipt-log"
REFUSALS = (AssertionError, AttributeError, InvalidSignature, KeyError, RecursionError, TypeError, ValueError)

type Keys = Sequence[Ed25519PublicKey]
type Json = dict[str, Any]


def verify(content: bytes, public_keys: Sequence[str]) -> None:
    """Verifies a file of any kind. Raises unless it is what the holders of the keys wrote."""
    keys = [Ed25519PublicKey.from_public_bytes(bytes.fromhex(each)) for each in public_keys]
    try:
        proof = parse(content)
    except ValueError:
        proof = {}
    if proof.get("format") == "privacy-gateway/receipt-proof":
        assert proof.keys() == {"format", "version", "public_key", "receipt", "checkpoint", "inclusion"}
        assert is_number(proof["version"], 1)
        assert proof["public_key"] in public_keys
        check_receipt(proof["receipt"], keys)
        check_inclusion(proof["receipt"], proof, keys)
    elif proof.get("format") == "privacy-gateway/consistency-proof":
        assert proof.keys() == {"format", "version", "public_key", "old", "new", "consistency"}
        assert is_number(proof["version"], 1)
        assert proof["public_key"] in public_keys
        check_consistency(proof, keys)
    else:
        check_export(content, public_keys)


def is_number(value: object, wanted: int) -> bool:
    """Python's equality has 1 == True."""
    return type(value) is int and value == wanted


def parse(text: bytes) -> Json:
    """Parses an object whose names are distinct, and whose numbers are integers from 0 to 2^53 - 1."""

    def once(pairs: list[tuple[str, Any]]) -> Json:
        assert len({name for name, _ in pairs}) == len(pairs), "a name stands twice"
        return dict(pairs)

    def integer(token: str) -> int:
        assert re.fullmatch(r"0|[1-9][0-9]{0,15}", token), "a number is not an integer"
        assert int(token) < 2**53
        return int(token)

    value = json.loads(
        text.decode(), object_pairs_hook=once, parse_int=integer, parse_float=integer, parse_constant=integer
    )
    assert isinstance(value, dict)
    return value


def canonical_form(value: Any) -> str:
    """RFC 8785 for what a record may hold."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical_form(name)}:{canonical_form(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical_form, value)) + "]"
    assert not isinstance(value, float)
    return json.dumps(value, ensure_ascii=False)


def from_hex(text: str, size: int) -> bytes:
    assert re.fullmatch(rf"[0-9a-f]{{{2 * size}}}", text)
    return bytes.fromhex(text)


def from_base64(text: str) -> bytes:
    """Decodes the one spelling that encoding gives: decoders ignore the last bits."""
    content = b64decode(text, validate=True)
    assert b64encode(content).decode() == text
    return content


def tree_root(leaves: Sequence[bytes]) -> bytes:
    """MTH of RFC 6962, section 2.1, over the leaves' contents."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return sha256(b"\x00" + leaves[0]).digest()
    half = split(len(leaves))
    return node(tree_root(leaves[:half]), tree_root(leaves[half:]))


def node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def split(size: int) -> int:
    """The largest power of two below the size."""
    half = 1
    while half * 2 < size:
        half *= 2
    return half


def inclusion_path(index: int, leaves: Sequence[bytes]) -> list[bytes]:
    """PATH of RFC 6962, section 2.1.1."""
    if len(leaves) == 1:
        return []
    half = split(len(leaves))
    if index < half:
        return [*inclusion_path(index, leaves[:half]), tree_root(leaves[half:])]
    return [*inclusion_path(index - half, leaves[half:]), tree_root(leaves[:half])]


def key_named(key_id: str, keys: Keys) -> Ed25519PublicKey:
    (key,) = [key for key in keys if key_id == "key_" + sha256(key.public_bytes_raw()).hexdigest()[:16]]
    return key


def check_checkpoint(note: str, keys: Keys) -> tuple[int, bytes]:
    """Returns size and root. Raises unless one of the keys signed the note."""
    text, separator, signatures = note.partition("\n\n")
    assert separator
    origin, size, root = text.split("\n")
    assert origin == ORIGIN
    assert re.fullmatch(r"0|[1-9][0-9]{0,15}", size)
    assert signatures.endswith("\n")
    dash, name, encoded = signatures[:-1].split(" ")
    assert (dash, name) == ("\u2014", ORIGIN)
    signature = from_base64(encoded)
    (key,) = [
        key
        for key in keys
        if signature[:4] == sha256(ORIGIN.encode() + b"\n\x01" + key.public_bytes_raw()).digest()[:4]
    ]
    key.verify(signature[4:], (text + "\n").encode())
    assert len(from_base64(root)) == 32
    return int(size), from_base64(root)


def check_record(record: Json, keys: Keys) -> bytes:
    """Returns the record's canonical form. Raises unless the key that it names is given and signed it."""
    canonical = canonical_form({name: value for name, value in record.items() if name not in {"hash", "signature"}})
    digest = sha256(canonical.encode())
    assert record["hash"] == digest.hexdigest()
    key_named(record["key_id"], keys).verify(from_hex(record["signature"], 64), digest.digest())
    return canonical.encode()


def check_receipt(receipt: Json, keys: Keys) -> None:
    """Raises unless the receipt and its outcome are signed, and belong together."""
    check_record({name: value for name, value in receipt.items() if name != "outcome"}, keys)
    if (outcome := receipt.get("outcome")) is not None:
        check_record(outcome, keys)
        assert outcome["receipt_hash"] == receipt["hash"]


def check_inclusion(receipt: Json, proof: Json, keys: Keys) -> None:
    """Raises unless the receipt is in the log of the checkpoint."""
    size, root = check_checkpoint(proof["checkpoint"], keys)
    inclusion = proof["inclusion"]
    assert inclusion.keys() == {"leaf_index", "tree_size", "hashes"}
    assert is_number(inclusion["tree_size"], size)
    assert is_number(inclusion["leaf_index"], receipt["sequence"] - 1)
    assert 0 <= inclusion["leaf_index"] < size
    path = [from_hex(each, 32) for each in inclusion["hashes"]]
    record = {name: value for name, value in receipt.items() if name != "outcome"}
    leaf = sha256(b"\x00" + check_record(record, keys)).digest()
    assert climb(leaf, inclusion["leaf_index"], size, path) == root


def climb(hash_: bytes, index: int, size: int, path: list[bytes]) -> bytes:
    """The root that a path leads to, by the definition of PATH."""
    if size == 1:
        assert not path
        return hash_
    half = split(size)
    *below, sibling = path
    if index < half:
        return node(climb(hash_, index, half, below), sibling)
    return node(sibling, climb(hash_, index - half, size - half, below))


def check_consistency(proof: Json, keys: Keys) -> None:
    """Raises unless the newer checkpoint extends the older one."""
    (old, old_root), (new, new_root) = (check_checkpoint(proof[name], keys) for name in ("old", "new"))
    assert proof["consistency"].keys() == {"hashes"}
    path = [from_hex(each, 32) for each in proof["consistency"]["hashes"]]
    assert old <= new
    if old in {0, new}:
        assert path == []
        assert old_root == (new_root if old == new else tree_root([]))
    else:
        assert grow(old, new, path, old_root, known=True) == (old_root, new_root)


def grow(old: int, new: int, path: list[bytes], old_root: bytes, *, known: bool) -> tuple[bytes, bytes]:
    """The roots of both trees that a path leads to, by the definition of SUBPROOF (RFC 6962, section 2.1.2)."""
    if old == new:
        if known:
            assert not path
            return old_root, old_root
        (root,) = path
        return root, root
    half = split(new)
    *below, sibling = path
    if old <= half:
        older, newer = grow(old, half, below, old_root, known=known)
        return older, node(newer, sibling)
    older, newer = grow(old - half, new - half, below, old_root, known=False)
    return node(sibling, older), node(sibling, newer)


def check_export(content: bytes, public_keys: Sequence[str]) -> int:
    """Raises unless the lines are a log of these keys, or a day of one. Returns how many records they have."""
    keys = [Ed25519PublicKey.from_public_bytes(bytes.fromhex(each)) for each in public_keys]
    header, *records, head = map(parse, content.removesuffix(b"\n").split(b"\n"))
    check_header(header, public_keys)
    start = records.pop(0) if records and records[0]["type"] == "start" else None
    before, previous, nodes = check_start(start) if start is not None else (0, "0" * 64, [])
    leaves: list[bytes] = []
    for number, line in enumerate(records, start=before + 1):
        assert line.keys() == {"type", "record"}
        record = line["record"]
        leaves.append(check_record(record, keys))
        assert is_number(record["sequence"], number)
        assert record["previous_hash"] == previous
        previous = record["hash"]
        assert line["type"] == record.get("event", "outcome" if "receipt_hash" in record else "receipt")
    if "day" in header and records:
        assert any(line["record"]["created_at"].startswith(header["day"]) for line in records)
    check_requests(records, is_part="day" in header)
    replaced = check_keys(records)
    if before and "day" not in header:
        assert start is not None
        check_pruning(start, nodes, records)
    assert head.keys() == {"type", "size", "hash", "checkpoint"}
    assert (head["type"], head["hash"]) == ("head", previous)
    assert is_number(head["size"], before + len(records))
    signers = [key for key, text in zip(keys, public_keys, strict=True) if text not in replaced]
    assert check_checkpoint(head["checkpoint"], signers) == (head["size"], grown_root(before, nodes, leaves))
    return len(records)


def check_header(header: Json, public_keys: Sequence[str]) -> None:
    assert header.keys() - {"day"} == {"type", "format", "version", "key_id", "public_key"}
    assert (header["type"], header["format"]) == ("header", "privacy-gateway/receipts-export")
    assert is_number(header["version"], 2)
    assert header["public_key"] in public_keys
    assert header["key_id"] == "key_" + sha256(bytes.fromhex(header["public_key"])).hexdigest()[:16]


def check_start(start: Json) -> tuple[int, str, list[bytes]]:
    """Returns how many records are left out, the hash of the last, and the subtrees over them."""
    assert start.keys() == {"type", "size", "hash", "frontier"}
    nodes = [from_hex(each, 32) for each in start["frontier"]]
    assert type(start["size"]) is int
    assert len(nodes) == start["size"].bit_count()
    return start["size"], start["hash"], nodes


def check_requests(records: Sequence[Json], *, is_part: bool) -> None:
    """Raises unless each request has one receipt, and at most one outcome, which follows it."""
    receipts, outcomes = dict[str, str](), set[str]()
    for record in (line["record"] for line in records if line["type"] == "receipt" or "receipt_hash" in line["record"]):
        if "receipt_hash" not in record:
            assert record["request_id"] not in receipts
            receipts[record["request_id"]] = record["hash"]
        else:
            assert record["request_id"] not in outcomes
            outcomes.add(record["request_id"])
            if record["request_id"] in receipts or not is_part:
                assert record["receipt_hash"] == receipts[record["request_id"]]


def check_keys(records: Sequence[Json]) -> set[str]:
    """Returns the public keys that were replaced. Raises unless each signs only what it may."""
    in_force, replaced = records[0]["record"]["key_id"] if records else None, set[str]()
    for line in records:
        record = line["record"]
        assert record["key_id"] == in_force
        if line["type"] == "rotation":
            both = (from_hex(record[name], 32) for name in ("public_key", "new_public_key"))
            old, new = ("key_" + sha256(each).hexdigest()[:16] for each in both)
            assert old == in_force
            replaced.add(record["public_key"])
            in_force = new
    return replaced


def check_pruning(start: Json, nodes: Sequence[bytes], records: Sequence[Json]) -> None:
    """Raises unless a record says that the log was pruned up to where the file starts."""
    wanted = (start["size"], start["hash"], grown_root(start["size"], nodes, []).hex())
    prunings = [line["record"] for line in records if line["type"] == "pruning"]
    assert wanted in [(each["size"], each["last_hash"], each["root"]) for each in prunings]


def grown_root(size: int, nodes: Sequence[bytes], leaves: Sequence[bytes]) -> bytes:
    """The root of a tree whose first leaves are known by the subtrees over them alone."""
    if not size:
        return tree_root(leaves)
    known, first = dict[tuple[int, int], bytes](), 0
    for bit in reversed(range(size.bit_length())):
        if size >> bit & 1:
            known[first, first + (1 << bit)] = nodes[len(known)]
            first += 1 << bit

    def root(first: int, end: int) -> bytes:
        if (first, end) in known:
            return known[first, end]
        if first >= size:
            return tree_root(leaves[first - size : end - size])
        half = first + split(end - first)
        return node(root(first, half), root(half, end))

    return root(0, size + len(leaves))
