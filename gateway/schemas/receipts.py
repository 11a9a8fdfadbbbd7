"""Receipts and what is said about them. docs/receipts.md explains every member."""

from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from gateway.models import Action, RiskLevel, RouteDecision
from gateway.receipts import OPERATIONS, OUTCOMES
from gateway.schemas.parts import Count, Counts, Digest, PolicyRefReply, Reply, RequestId, Time, unsaid

Signature = Annotated[str, Field(pattern=r"^[0-9a-f]{128}$", description="Ed25519 over `hash`, in hex.")]
KeyId = Annotated[str, Field(pattern=r"^key_[0-9a-f]{16}$", description="The installation's signing key.")]
Sequence = Annotated[int, Field(ge=1, description="Place in the log, without gaps.")]


def _one_of(words: frozenset[str]) -> dict[str, Any]:
    return {"enum": sorted(words)}


class EngineReply(Reply):
    """The detector, and its name model where it used one."""

    version: str
    model_hash: Digest | None


class ReceiptTokensReply(Reply):
    """Estimates of what came in and of what crossed."""

    input: Count
    external: Count


class OutcomeTokensReply(Reply):
    """What the upstream says it used."""

    input: Count
    output: Count


class OutcomeGuardReply(Reply):
    action: Literal["pass", "flag", "redact", "replace"]
    findings: Counts


class OutcomeReply(Reply):
    """The second record of a request: what came of the crossing."""

    request_id: RequestId
    sequence: Sequence
    created_at: Time
    receipt_hash: Digest
    outcome: str = Field(json_schema_extra=_one_of(OUTCOMES))
    status: Annotated[int, Field(ge=100, le=599)] | None = Field(description="The upstream's HTTP status.")
    tokens: OutcomeTokensReply | None
    guard: OutcomeGuardReply | None
    previous_hash: Digest
    key_id: KeyId
    hash: Digest
    signature: Signature


class ReceiptReply(Reply):
    """Metadata of one request: numbers, names of types and digests; no text, no placeholder, no credential."""

    request_id: RequestId
    sequence: Sequence
    operation: str = Field(json_schema_extra=_one_of(OPERATIONS))
    created_at: Time
    policy: PolicyRefReply
    engine: EngineReply
    route: RouteDecision
    risk_level: RiskLevel
    entity_counts: Counts
    transformation_counts: dict[Action, Count]
    tokens: ReceiptTokensReply
    protected_digest: Digest
    previous_hash: Digest
    key_id: KeyId
    hash: Digest
    signature: Signature
    outcome: OutcomeReply | SkipJsonSchema[None] = Field(
        None, description="Where there is one already.", json_schema_extra=unsaid
    )


class DamagedReply(Reply):
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
    data: list[ReceiptReply | DamagedReply]
    total: Count
    limit: Annotated[int, Field(ge=1, le=500)]
    offset: Count


class CheckReply(Reply):
    name: str
    ok: bool
    detail: str = Field("", description="What is wrong, in words.", json_schema_extra=unsaid)


class LogReply(Reply):
    """Where the log ends: how many records, and the hash of the last one."""

    size: Count
    head: str


class VerificationReply(Reply):
    request_id: RequestId
    valid: bool = Field(description="Whether every check is ok.")
    checks: list[CheckReply]
    log: LogReply


class AnchorReply(Reply):
    """What one would publish to commit to a receipt and to the log as it stands. Nothing is submitted."""

    request_id: RequestId
    receipt_hash: Digest
    outcome_hash: Digest | None
    log: LogReply
    payload_hash: Digest
    algorithm: Literal["sha-256"]
    checkpoint: str = Field(description="The signed head of the log, a C2SP signed note.")
    key_id: KeyId
    public_key: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="Ed25519, 32 bytes in hex.")]
    submitted: Literal[False]
