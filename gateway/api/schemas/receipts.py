"""Receipts and what is said about them. docs/receipts.md explains every member."""

from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from gateway.api.schemas.parts import Count, Counts, Digest, PolicyRefReply, Reply, RequestId, Time, unsaid
from gateway.models import Action, RiskLevel, RouteDecision
from gateway.receipts import OPERATIONS, OUTCOMES

Signature = Annotated[str, Field(pattern=r"^[0-9a-f]{128}$", description="Ed25519 over `hash`, in hex.")]
KeyId = Annotated[str, Field(pattern=r"^key_[0-9a-f]{16}$", description="The installation's signing key.")]
Sequence = Annotated[int, Field(ge=1, description="Place in the log, without gaps.")]


def _one_of(words: frozenset[str]) -> dict[str, Any]:
    return {"enum": sorted(words)}


class EngineReply(Reply):
    """The detector, and its name model where it used one."""

    version: str
    model_hash: Digest | None = Field(description="`null` where only patterns looked.")


class ReceiptTokensReply(Reply):
    """Estimates of what came in and of what crossed."""

    input: Count
    external: Count


class OutcomeTokensReply(Reply):
    """What the upstream says it used."""

    input: Count
    output: Count


class OutcomeGuardReply(Reply):
    """What the guard did with the answer."""

    action: Literal["pass", "flag", "redact", "replace"]
    findings: Counts = Field(description="How many of each kind.")


class OutcomeReply(Reply):
    """The second record of a request: what came of the crossing."""

    request_id: RequestId
    sequence: Sequence
    created_at: Time
    receipt_hash: Digest = Field(description="`hash` of the receipt that it belongs to.")
    outcome: str = Field(description="How the request ended.", json_schema_extra=_one_of(OUTCOMES))
    status: Annotated[int, Field(ge=100, le=599)] | None = Field(description="The upstream's HTTP status.")
    tokens: OutcomeTokensReply | None
    guard: OutcomeGuardReply | None
    edit: RequestId | SkipJsonSchema[None] = Field(
        None,
        description="Where an operator edited the request: the receipt of what crossed instead.",
        json_schema_extra=unsaid,
    )
    previous_hash: Digest = Field(description="`hash` of the record before.")
    key_id: KeyId
    hash: Digest = Field(description="SHA-256 over the record in RFC 8785 form.")
    signature: Signature


class ReceiptReply(Reply):
    """Metadata of one request: numbers, names of types and digests; no text, no placeholder, no credential."""

    request_id: RequestId
    sequence: Sequence
    operation: str = Field(description="What was asked for.", json_schema_extra=_one_of(OPERATIONS))
    created_at: Time
    amends: RequestId | SkipJsonSchema[None] = Field(
        None, description="Of an `edit`: the request that an operator edited before it left.", json_schema_extra=unsaid
    )
    policy: PolicyRefReply
    engine: EngineReply
    route: RouteDecision = Field(description="Where the text was allowed to go.")
    risk_level: RiskLevel = Field(description="How much harm its text could do.")
    entity_counts: Counts = Field(description="How many findings of each type.")
    transformation_counts: dict[Action, Count] = Field(description="How many of them each action was taken on.")
    tokens: ReceiptTokensReply
    protected_digest: Digest = Field(description="SHA-256 of the bytes that crossed.")
    previous_hash: Digest = Field(description="`hash` of the record before; zeros for the first.")
    key_id: KeyId
    hash: Digest = Field(description="SHA-256 over the record in RFC 8785 form.")
    signature: Signature
    outcome: OutcomeReply | SkipJsonSchema[None] = Field(
        None, description="Where there is one already.", json_schema_extra=unsaid
    )


class DamagedReceiptReply(Reply):
    """A receipt that somebody damaged in the database; `verify` says more."""

    request_id: str
    sequence: int
    damaged: Literal[True]
    hash: str
    signature: str
    outcome: Any = Field(None, json_schema_extra=unsaid)


class ReceiptListReply(Reply):
    """A page of receipts, newest first."""

    object: Literal["list"]
    data: list[ReceiptReply | DamagedReceiptReply]
    total: Count = Field(description="How many there are on all pages.")
    limit: Annotated[int, Field(ge=1, le=500)]
    offset: Count


class CheckReply(Reply):
    """One thing that was recomputed."""

    name: str = Field(description="`hash`, `signature`, `chain`, …: docs/receipts.md explains each.")
    ok: bool
    detail: str = Field("", description="What is wrong, in words.", json_schema_extra=unsaid)


class LogReply(Reply):
    """Where the log ends: how many records, and the hash of the last one."""

    size: Count
    head: str = Field(description="`hash` of the last record.")


class VerificationReply(Reply):
    request_id: RequestId
    valid: bool = Field(description="Whether every check is ok.")
    checks: list[CheckReply]
    log: LogReply


class AnchorReply(Reply):
    """What one would publish to commit to a receipt and to the log as it stands. Nothing is submitted."""

    request_id: RequestId
    receipt_hash: Digest
    outcome_hash: Digest | None = Field(description="`null` while there is no outcome.")
    log: LogReply
    payload_hash: Digest = Field(description="Over the RFC 8785 form of the members above.")
    algorithm: Literal["sha-256"] = Field(description="Of `payload_hash`.")
    checkpoint: str = Field(description="The signed head of the log, a C2SP signed note.")
    key_id: KeyId
    public_key: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="Ed25519, 32 bytes in hex.")]
    submitted: Literal[False]
