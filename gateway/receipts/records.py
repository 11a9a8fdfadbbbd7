"""The bodies of receipts and outcomes, their canonical form, hash and signature. Pure."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from secrets import token_hex
from typing import Any, NamedTuple, Self

import orjson

from gateway.models import ReceiptRef
from gateway.receipts.drafts import OutcomeDraft, ReceiptDraft
from gateway.receipts.signing import Signer, Verifier
from gateway.store.rows import StoredReceipt, StoredRecord

type Body = dict[str, Any]

GENESIS = "0" * 64
_CREATED_AT = '"created_at":"'


class Head(NamedTuple):
    """The end of the chain: the number of records, and the hash of the last one in hex."""

    size: int = 0
    hash: str = GENESIS


class Record(NamedTuple):
    """One record of the log: `body` in its canonical form, SHA-256 over it in hex, Ed25519 over that hash in hex."""

    sequence: int
    body: str
    hash: str
    signature: str

    @classmethod
    def from_stored(cls, row: StoredRecord) -> Self:
        """Reads a stored record, intact or damaged."""
        return cls(row.sequence, decoded(row.body), decoded(row.hash), decoded(row.signature))

    @property
    def day(self) -> str:
        """The day of creation, in UTC, of a record made here."""
        start = self.body.index(_CREATED_AT) + len(_CREATED_AT)
        return self.body[start : start + len("YYYY-MM-DD")]

    def as_dict(self) -> Body:
        """The wire form. A damaged record is marked as `damaged`; verification gives the details."""
        try:
            body = {**orjson.loads(self.body)}
        except (orjson.JSONDecodeError, TypeError):
            body = {"sequence": self.sequence, "damaged": True}
        return {**body, "hash": self.hash, "signature": self.signature}


@dataclass(frozen=True, slots=True)
class Receipt:
    """A receipt and its outcome, if there is one. Holds no source text."""

    request_id: str
    record: Record
    outcome: Record | None = None

    @classmethod
    def from_stored(cls, stored: StoredReceipt) -> Self:
        """Reads a stored receipt, intact or damaged."""
        outcome = Record.from_stored(stored.outcome) if stored.outcome else None
        return cls(stored.request_id, Record.from_stored(stored.record), outcome)

    @property
    def ref(self) -> ReceiptRef:
        return ReceiptRef(self.request_id, self.record.sequence, self.record.body)

    @property
    def sequence(self) -> int:
        return self.record.sequence

    @property
    def hash(self) -> str:
        return self.record.hash

    def as_dict(self) -> Body:
        """The wire form. `hash` covers it without `hash`, `signature` and `outcome`."""
        receipt = {"request_id": self.request_id, **self.record.as_dict()}
        if self.outcome is not None:
            receipt["outcome"] = self.outcome.as_dict()
        return receipt


def receipt_body(draft: ReceiptDraft, head: Head, key_id: str) -> Body:
    """The body of the receipt that comes after `head`."""
    policy = draft.policy
    amends = {"amends": draft.amends} if draft.amends else {}
    return {
        "request_id": draft.request_id,
        "sequence": head.size + 1,
        "operation": draft.operation,
        "created_at": _now(),
        "policy": {"id": policy.id, "version": policy.version, "hash": policy.hash},
        "engine": {"version": draft.engine_version, "model_hash": draft.model_hash},
        "route": draft.route,
        "risk_level": draft.risk_level,
        "entity_counts": _plain(draft.entity_counts),
        "transformation_counts": _plain(draft.transformation_counts),
        "tokens": {"input": draft.tokens_input, "external": draft.tokens_external},
        "protected_digest": draft.protected_digest,
        **amends,
        "salt": _salt(),
        "previous_hash": head.hash,
        "key_id": key_id,
    }


def outcome_body(request_id: str, draft: OutcomeDraft, receipt_hash: str, head: Head, key_id: str) -> Body:
    """The body of an outcome that comes after `head`."""
    tokens = draft.tokens
    optional = {"edit": draft.edit, "code": draft.code, "tokens_sent": draft.tokens_sent}
    return {
        "request_id": request_id,
        "sequence": head.size + 1,
        "created_at": _now(),
        "receipt_hash": receipt_hash,
        "outcome": draft.outcome,
        "status": draft.status,
        "tokens": {"input": tokens[0], "output": tokens[1]} if tokens else None,
        "guard": draft.guard,
        **{name: value for name, value in optional.items() if value},
        "salt": _salt(),
        "previous_hash": head.hash,
        "key_id": key_id,
    }


def rotation_body(id: str, old: Verifier, new: Verifier, head: Head) -> Body:
    """The body of the record that replaces the signing key. The old key signs it, the new one all after it."""
    return {
        "request_id": id,
        "sequence": head.size + 1,
        "event": "rotation",
        "created_at": _now(),
        "public_key": old.public_bytes.hex(),
        "new_public_key": new.public_bytes.hex(),
        "previous_hash": head.hash,
        "key_id": old.key_id,
    }


def pruning_body(id: str, before: str, pruned: tuple[int, str, bytes], head: Head, key_id: str) -> Body:
    """The body of the record of a pruning: of how many records, the hash of the last and the root of the tree."""
    size, hash, root = pruned
    return {
        "request_id": id,
        "sequence": head.size + 1,
        "event": "pruning",
        "created_at": _now(),
        "before": before,
        "size": size,
        "last_hash": hash,
        "root": root.hex(),
        "previous_hash": head.hash,
        "key_id": key_id,
    }


def seal(body: Body, signer: Signer) -> Record:
    """Signs a body: canonical form, hash and signature."""
    canonical = canonical_form(body)
    digest = sha256(canonical)
    return Record(body["sequence"], canonical.decode(), digest.hexdigest(), signer.sign(digest.digest()).hex())


def canonical_form(body: Mapping[str, Any]) -> bytes:
    """The canonical form (RFC 8785) of a body made here.

    Sorted keys without spaces suffice, because drafts hold only ASCII that needs no escape and integers below 2^53, and
    ASCII sorts the same in UTF-8 as in UTF-16. This takes half a microsecond; the complete implementation, which
    verification uses, takes 35.
    """
    return orjson.dumps(body, option=orjson.OPT_SORT_KEYS)


def decoded(column: bytes | None) -> str:
    """A stored column as text, even if someone has changed it."""
    return (column or b"").decode(errors="replace")


def _plain(counts: Mapping[str, int]) -> dict[str, int]:
    """Turns keys that are members of an enumeration into plain strings."""
    return {str(name): number for name, number in counts.items()}


def _salt() -> str:
    """Keeps the hash, which clients get, from confirming guesses of members that they do not get."""
    return token_hex(16)


def _now() -> str:
    return _rfc3339(time.time_ns() // 1_000_000)


@lru_cache(maxsize=1)
def _rfc3339(milliseconds: int) -> str:
    """Formats Unix time. Records of one transaction mostly share a millisecond or two."""
    seconds, rest = divmod(milliseconds, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:03}Z"
