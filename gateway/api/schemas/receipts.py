"""Bodies of receipts, verification and anchors. docs/receipts.md explains every member."""

from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from gateway.api.schemas.parts import (
    CorrectionCountsReply,
    Count,
    Counts,
    Digest,
    Page,
    PolicyRefReply,
    Reply,
    RequestBody,
    RequestId,
    Salt,
    Text,
    Time,
    absent,
    omit_default,
)
from gateway.models import Action, RiskLevel, RouteDecision
from gateway.protection.value_digests import LONGEST_VALUE
from gateway.receipts.drafts import ATTACHMENT_ACTIONS, ATTACHMENT_KINDS, OPERATIONS, OUTCOMES

Signature = Annotated[str, Field(pattern=r"^[0-9a-f]{128}$", description="Ed25519 over `hash`, in hex.")]
KeyId = Annotated[str, Field(pattern=r"^key_[0-9a-f]{16}$", description="Id of the installation's signing key.")]
Sequence = Annotated[int, Field(ge=1)]


_SALT = "Random, so that `hash` confirms no guess of the sequence."


def _for_operators(description: str) -> Any:
    """Returns the field of a member that only operators get."""
    return absent(f"{description} For operators only.")


def _one_of(words: frozenset[str]) -> dict[str, Any]:
    return {"enum": sorted(words)}


class EngineReply(Reply):
    """Version of the detector, and its name model if it used one."""

    version: str
    model_hash: Digest | None = Field(description="`null` if only patterns were used.")


class ReceiptTokensReply(Reply):
    """Estimated tokens received (`input`) and, after protection, allowed to leave (`external`)."""

    input: Count
    external: Count


class OutcomeTokensReply(Reply):
    """Tokens reported by the upstream."""

    input: Count
    output: Count


class OutcomeGuardReply(Reply):
    """The guard's action on the answer."""

    action: Literal["pass", "flag", "redact", "replace"]
    findings: Counts = Field(description="Number of findings by kind.")


class MillisecondsReply(Reply):
    protected: Count = Field(description="Until the request was protected.")
    total: Count = Field(description="Until it ended.")


class OutcomeReply(Reply):
    """The second record of a request: what happened after it was sent."""

    request_id: RequestId
    sequence: Sequence | SkipJsonSchema[None] = _for_operators("Position in the log, without gaps.")
    created_at: Time
    receipt_hash: Digest = Field(description="`hash` of the receipt it belongs to.")
    outcome: str = Field(description="How the request ended.", json_schema_extra=_one_of(OUTCOMES))
    status: Annotated[int, Field(ge=100, le=599)] | None = Field(description="The upstream's HTTP status.")
    tokens: OutcomeTokensReply | None
    guard: OutcomeGuardReply | None
    edit: RequestId | SkipJsonSchema[None] = absent(
        "If an operator edited the request: id of the receipt of the edited request."
    )
    code: str | SkipJsonSchema[None] = absent("For `refused`: code of the error, as the client got it.")
    tokens_sent: Count | SkipJsonSchema[None] = absent(
        "Estimated tokens sent to an upstream, if any are known to have been."
    )
    milliseconds: MillisecondsReply | SkipJsonSchema[None] = absent("How long the request took.")
    salt: Salt | SkipJsonSchema[None] = _for_operators(_SALT)
    previous_hash: Digest | SkipJsonSchema[None] = _for_operators("`hash` of the previous record.")
    key_id: KeyId
    hash: Digest = Field(description="SHA-256 of the record in RFC 8785 form.")
    signature: Signature


class ReceiptCorrectionReply(CorrectionCountsReply):
    """The caller's corrections of a kind: how many, and which had an effect."""

    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")] | SkipJsonSchema[None] = absent(
        "Keyed digest of the values that had an effect, if any had."
    )


class ReceiptCorrectionsReply(Reply):
    """The corrections of a request, without values."""

    allow: ReceiptCorrectionReply | SkipJsonSchema[None] = absent("Values left in clear.")
    deny: ReceiptCorrectionReply | SkipJsonSchema[None] = absent("Values hidden.")


class ReceiptAttachmentReply(Reply):
    """A file that a request had with it."""

    kind: str = Field(description="Its kind, by its type or name.", json_schema_extra=_one_of(ATTACHMENT_KINDS))
    action: str = Field(
        description="`convert`: its protected text was sent.", json_schema_extra=_one_of(ATTACHMENT_ACTIONS)
    )
    pages: Count | SkipJsonSchema[None] = absent("Pages, sheets or slides that were converted.")
    digest: Digest = Field(description="SHA-256 of the protected text, or of the base64 that was sent as it was.")


class ReceiptReply(Reply):
    """Metadata of one request: numbers, type names and digests, but no text, placeholders or credentials."""

    request_id: RequestId
    sequence: Sequence | SkipJsonSchema[None] = _for_operators("Position in the log, without gaps.")
    operation: str = Field(description="The operation requested.", json_schema_extra=_one_of(OPERATIONS))
    created_at: Time
    amends: RequestId | SkipJsonSchema[None] = absent("For `edit`: id of the request that an operator edited.")
    api_key_id: str | SkipJsonSchema[None] = absent(
        "Id of the gateway key, or `proxy_…` for a proxy client that sent none."
    )
    credential: str | SkipJsonSchema[None] = absent("Keyed digest of the provider's credential that the client sent.")
    wire: str | SkipJsonSchema[None] = absent("The API that was called, such as `chat-completions`.")
    upstream: str | SkipJsonSchema[None] = absent("The configured upstream, or the host that the client chose.")
    model: str | SkipJsonSchema[None] = absent("Name of the model there.")
    operator: str | SkipJsonSchema[None] = _for_operators(
        "For `edit`: name of the operator's token, if it has one (`web_tokens`)."
    )
    policy: PolicyRefReply
    engine: EngineReply
    route: RouteDecision = Field(description="Where the text was permitted to go.")
    risk_level: RiskLevel = Field(description="How much harm a leak of its text could do.")
    entity_counts: Counts = Field(description="Number of entities by type.")
    transformation_counts: dict[Action, Count] = Field(description="Number of entities by action.")
    corrections: ReceiptCorrectionsReply | SkipJsonSchema[None] = absent(
        "The caller's corrections, if any were asked for or had an effect."
    )
    attachments: list[ReceiptAttachmentReply] | SkipJsonSchema[None] = absent("The attached files, if there were any.")
    tokens: ReceiptTokensReply
    protected_digest: Digest = Field(description="SHA-256 of the bytes that were sent.")
    salt: Salt | SkipJsonSchema[None] = _for_operators(_SALT)
    previous_hash: Digest | SkipJsonSchema[None] = _for_operators("`hash` of the previous record; zeros for the first.")
    key_id: KeyId
    hash: Digest = Field(description="SHA-256 of the record in RFC 8785 form.")
    signature: Signature
    outcome: OutcomeReply | SkipJsonSchema[None] = absent("Present once the request has an outcome.")


class DamagedReceiptReply(Reply):
    """A receipt that is damaged in the database. `verify` reports details."""

    request_id: str
    sequence: int | SkipJsonSchema[None] = _for_operators("Position in the log.")
    damaged: Literal[True]
    hash: str
    signature: str
    outcome: Any = Field(None, json_schema_extra=omit_default)


class ReceiptListReply(Page[ReceiptReply | DamagedReceiptReply]):
    """A page of receipts, newest first."""


class FindReceiptsRequest(RequestBody):
    value: Annotated[Text, Field(max_length=LONGEST_VALUE)] = Field(description="The whole value, in any spelling.")


class FoundReceiptsReply(ReceiptListReply):
    """A page of the receipts of a value, newest first."""

    complete: bool = Field(
        description="`false` if the log has receipts that a search may miss: with too many values, or made with "
        "another installation key."
    )


class CheckReply(Reply):
    """The result of one check."""

    name: str
    """`hash`, `signature`, `chain`, …: docs/receipts.md explains each. For clients, those of the log are one, `log`."""
    ok: bool
    detail: str | SkipJsonSchema[None] = _for_operators("The problem, in words.")


class LogReply(Reply):
    """The number of records in the log, the hash of the last one, and the root of the Merkle tree over all."""

    size: Count
    head: str = Field(description="`hash` of the last record.")
    root: Digest = Field(description="Root of the Merkle tree over the records (RFC 6962).")


class InclusionReply(Reply):
    """A proof that the tree has the receipt as a leaf (RFC 6962, section 2.1.1)."""

    leaf_index: Count = Field(description="`sequence` of the receipt less one.")
    tree_size: Count
    hashes: list[Digest] = Field(description="The path from the leaf to the root.")


class VerificationReply(Reply):
    request_id: RequestId
    valid: bool = Field(description="Whether every check passed.")
    checks: list[CheckReply]
    log: LogReply | SkipJsonSchema[None] = _for_operators("The log.")


class AnchorReply(Reply):
    """A payload to publish as a commitment to a receipt and all before it. Nothing is submitted."""

    request_id: RequestId
    receipt_hash: Digest
    outcome_hash: Digest | None = Field(description="`null` while there is no outcome.")
    log: LogReply | SkipJsonSchema[None] = _for_operators("The log.")
    inclusion: InclusionReply | SkipJsonSchema[None] = _for_operators("The proof.")
    checkpoint: str | SkipJsonSchema[None] = _for_operators(
        "The signed size and root of the log, a C2SP tlog-checkpoint."
    )
    payload_hash: Digest = Field(
        description="Hash of the signed text of `checkpoint`, up to its blank line. For clients it is `receipt_hash`."
    )
    algorithm: Literal["sha-256"] = Field(description="Algorithm of `payload_hash`.")
    key_id: KeyId
    public_key: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="Ed25519, 32 bytes in hex.")]
    verifier_key: str = Field(description="The same key as verifiers of signed notes take it.")
    submitted: Literal[False]
