"""The bodies of receipts and outcomes, their canonical form, hash and signature. Pure."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from secrets import token_hex
from typing import Any, NamedTuple, Self

import orjson

from gateway.errors import GatewayError
from gateway.models import ReceiptRef
from gateway.receipts.drafts import OutcomeDraft, ReceiptDraft
from gateway.receipts.signing import Signer
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
    def created_at(self) -> str:
        """The time of creation, in UTC, of a record made here."""
        start = self.body.index(_CREATED_AT) + len(_CREATED_AT)
        return self.body[start : self.body.index('"', start)]

    @property
    def day(self) -> str:
        """The day of creation, in UTC, of a record made here."""
        return self.created_at[: len("YYYY-MM-DD")]

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


def receipt_body(draft: ReceiptDraft) -> Body:
    """The members of a receipt that are not those of every record."""
    policy = draft.policy
    corrections = {kind: {**members} for kind, members in draft.corrections.items()}
    optional = {
        "amends": draft.amends,
        "operator": draft.operator,
        "corrections": corrections,
        "attachments": [{**each} for each in draft.attachments],
    }
    return {
        "operation": draft.operation,
        "policy": {"id": policy.id, "version": policy.version, "hash": policy.hash},
        "engine": {"version": draft.engine_version, "model_hash": draft.model_hash},
        "route": draft.route,
        "risk_level": draft.risk_level,
        "entity_counts": _plain(draft.entity_counts),
        "transformation_counts": _plain(draft.transformation_counts),
        "tokens": {"input": draft.tokens_input, "external": draft.tokens_external},
        "protected_digest": draft.protected_digest,
        **draft.parties,
        **{name: value for name, value in optional.items() if value},
        "salt": _salt(),
    }


def outcome_body(draft: OutcomeDraft, receipt_hash: str) -> Body:
    """The members of an outcome that are not those of every record."""
    tokens = draft.tokens
    optional = {"edit": draft.edit, "code": draft.code, "tokens_sent": draft.tokens_sent}
    return {
        "receipt_hash": receipt_hash,
        "outcome": draft.outcome,
        "status": draft.status,
        "tokens": {"input": tokens[0], "output": tokens[1]} if tokens else None,
        "guard": draft.guard,
        **{name: value for name, value in optional.items() if value},
        **_milliseconds(draft),
        "salt": _salt(),
    }


def _milliseconds(draft: OutcomeDraft) -> Body:
    if draft.milliseconds is None:
        return {}
    protected, total = draft.milliseconds
    return {"milliseconds": {"protected": protected, "total": total}}


def make_record(request_id: str, members: Body, head: Head, signer: Signer) -> Record:
    """Makes and signs the record that comes after `head`. `members` are those that not every record has."""
    common = {
        "request_id": request_id,
        "sequence": head.size + 1,
        "created_at": _now(),
        "previous_hash": head.hash,
        "key_id": signer.key_id,
    }
    return seal(common | members, signer)


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


@contextmanager
def attach_to_errors(receipt: Receipt) -> Iterator[None]:
    """Sets `receipt` on every GatewayError raised inside, so that operators can look it up."""
    try:
        yield
    except GatewayError as error:
        error.receipt = receipt.ref
        raise


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
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
