"""The signing keys of a log one after the other, and where the log starts since it was pruned.

Both are records of the log. A walk over the log verifies that they are in its chain.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from gateway.receipts.merkle import EMPTY_ROOT
from gateway.receipts.records import GENESIS
from gateway.receipts.signing import Verifier
from gateway.receipts.verify import check_record, parse
from gateway.store.rows import StoredRecord


@dataclass(frozen=True, slots=True)
class Start:
    """The trace of pruned records: how many, the hash of the last, the root of the tree over them."""

    size: int = 0
    hash: str = GENESIS
    root: bytes = EMPTY_ROOT


@dataclass(frozen=True, slots=True)
class History:
    """The signing keys of a log, each with the first sequence that it signs, and where the log starts.

    `fault` says why they are not to be relied on.
    """

    spans: Sequence[tuple[int, Verifier]]
    start: Start = Start()
    fault: str | None = None

    @property
    def verifiers(self) -> tuple[Verifier, ...]:
        return tuple(verifier for _, verifier in self.spans)

    def find(self, key_id: object, sequence: int) -> Verifier | None:
        """Returns the key in force at `sequence` if it has this id."""
        in_force = self.spans[0][1]
        for first, verifier in self.spans:
            in_force = verifier if first <= sequence else in_force
        return in_force.find(key_id, sequence)


def follow_history(
    rotations: Sequence[StoredRecord], last_pruning: Sequence[StoredRecord], current: Verifier
) -> History:
    """Returns the history of a log whose latest key is `current`, by its records of both kinds in ascending order."""
    history = _follow_keys(rotations, current)
    for pruning in last_pruning:
        start = read_start(parse(pruning.body))
        if start is not None and all(check.ok for check in check_record(pruning, history)):
            history = replace(history, start=start)
        elif history.fault is None:
            history = replace(history, fault="the record of its pruning is not signed with its key")
    return history


def read_start(body: dict[str, Any] | None) -> Start | None:
    """Returns where the log starts after a pruning, by the body of its record."""
    try:
        return Start(int((body or {})["size"]), str((body or {})["last_hash"]), bytes.fromhex((body or {})["root"]))
    except (KeyError, TypeError, ValueError):
        return None


def read_keys(body: dict[str, Any] | None) -> tuple[Verifier, Verifier] | None:
    """Returns the old and the new key of a rotation, by the body of its record."""
    try:
        old, new = (bytes.fromhex((body or {})[name]) for name in ("public_key", "new_public_key"))
        return tuple(Verifier(Ed25519PublicKey.from_public_bytes(each)) for each in (old, new))  # type: ignore[return-value]
    except (KeyError, TypeError, ValueError):
        return None


def _follow_keys(rotations: Sequence[StoredRecord], current: Verifier) -> History:
    spans: list[tuple[int, Verifier]] = []
    fault = None
    for row in rotations:
        keys = read_keys(parse(row.body))
        if keys is None or (spans and spans[-1][1].key_id != keys[0].key_id):
            fault = "the records of its keys do not follow from each other"
            break
        old, new = keys
        if not all(check.ok for check in check_record(row, old)):
            fault = "a record that replaces its key is not signed with that key"
            break
        spans = spans or [(1, old)]
        spans.append((row.sequence + 1, new))
    if fault is None and spans and spans[-1][1].key_id != current.key_id:
        fault = "its key was replaced by another than this installation's"
    return History(spans if spans and fault is None else [(1, current)], fault=fault)
