"""Policies, meters, the settlement state and the health check."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from gateway.api.schemas.parts import Count, Counts, Digest, Reply
from gateway.policy.document import PolicyDocument, ResolvedDocument


def _as_sent(schema: dict[str, Any]) -> None:
    """Only built-in policies say their version themselves."""
    schema["properties"].pop("version")
    schema["description"] = "A policy as someone writes it; docs/policies.md explains every field."
    schema["example"] = {
        "id": "house-rules",
        "title": "House rules",
        "description": "The default, and our project names.",
        "extends": "default",
        "deny": [{"type": "PROJECT", "terms": ["Nightingale"]}],
        "rules": {"PHONE_NUMBER": {"action": "mask", "keep_last": 2}},
    }


class PolicyRequest(PolicyDocument):
    model_config = ConfigDict(json_schema_extra=_as_sent)


def _all_said(schema: dict[str, Any]) -> None:
    """Nothing of a resolved policy is left out but what has no default."""
    schema["required"] = [name for name in schema["properties"] if name not in {"otherwise", "extends"}]


class PolicyReply(ResolvedDocument):
    """A policy with everything it extends worked in, and every default said. docs/policies.md explains each member."""

    model_config = ConfigDict(json_schema_extra=_all_said)

    hash: Digest = Field(description="SHA-256 over the rest, in RFC 8785 form.")


class PolicyListReply(Reply):
    """Built-in policies first, then custom ones, each by id, in their newest version."""

    object: Literal["list"]
    data: list[PolicyReply]
    total: Count = Field(description="How many there are on all pages.")
    limit: Annotated[int, Field(ge=1, le=500)]
    offset: Count


class MeterTokensReply(Reply):
    """`input` and `external` are estimates of what came in and crossed; the others are what upstreams reported."""

    input: Count
    external: Count
    reported_input: Count
    reported_output: Count


class DayReply(Reply):
    """The meters of one day."""

    day: Annotated[str, Field(json_schema_extra={"format": "date"}, description="UTC.")]
    total_operations: Count
    tokens: MeterTokensReply


class UsageReply(Reply):
    """Sums over all receipts and outcomes."""

    total_operations: Count
    tokens: MeterTokensReply
    operations: Counts = Field(description="Of each kind.")
    routes: Counts = Field(description="How often each was decided.")
    risk_levels: Counts = Field(description="How often each was found.")
    entities: Counts = Field(description="Findings of each type.")
    transformations: Counts = Field(description="Findings that each action was taken on.")
    outcomes: Counts = Field(description="How often each came about.")
    days: list[DayReply] = Field(description="The last 31 days that had any, oldest first.")


class EvidenceReply(Reply):
    """Something that a release would need."""

    code: str
    description: str


class SettlementReply(Reply):
    """Settlement by x402 is disabled: there is no code for it."""

    enabled: Literal[False]
    status: Literal["disabled"]
    protocol: Literal["x402"]
    missing_evidence: list[EvidenceReply] = Field(description="What a release would need.")


class HealthReply(Reply):
    status: Literal["ok"]
    version: str
