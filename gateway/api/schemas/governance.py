"""Bodies of policies, usage meters, the settlement state and the health check."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from gateway.api.schemas.parts import EXAMPLES, Count, Counts, Digest, Page, PolicyRefReply, Reply, RequestId
from gateway.policy.document import PolicyDocument, ResolvedDocument


def _describe_request(schema: dict[str, Any]) -> None:
    """Removes `version`, which only built-in policies state, and adds an example."""
    schema["properties"].pop("version")
    schema["description"] = "A policy as you write it. docs/policies.md explains every field."
    schema["example"] = EXAMPLES["PolicyRequest"]


class PolicyRequest(PolicyDocument):
    model_config = ConfigDict(json_schema_extra=_describe_request)


OPERATORS_ONLY = frozenset({"allow", "deny", "patterns"})
"""The members of a policy that only operators read."""


def _require_all(schema: dict[str, Any]) -> None:
    """Marks every member as required except those without a default, and those that only operators get."""
    optional = OPERATORS_ONLY | {"otherwise", "extends", "may_allow"}
    schema["required"] = [name for name in schema["properties"] if name not in optional]


class PolicyReply(ResolvedDocument):
    """A policy merged with all it extends, with every default filled in. docs/policies.md explains each member.

    Only operators get `allow`, `deny` and `patterns` that are not empty.
    """

    model_config = ConfigDict(json_schema_extra=_require_all)

    hash: Digest = Field(description="SHA-256 of the other members in RFC 8785 form.")


class PolicyListReply(Page[PolicyReply]):
    """The newest version of each policy: built-in ones first, then custom ones, each sorted by id."""


class RetiredPolicyReply(PolicyRefReply):
    """The newest version of a policy that was retired."""

    request_id: RequestId
    retired: Literal[True]


class MeterTokensReply(Reply):
    """`input` (received) and `external` (sent to upstreams) are estimates. Upstreams reported the others."""

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
    """Totals over all receipts and outcomes."""

    total_operations: Count
    tokens: MeterTokensReply
    operations: Counts = Field(description="Number by operation.")
    routes: Counts = Field(description="Number of requests by route.")
    risk_levels: Counts = Field(description="Number of requests by risk level.")
    entities: Counts = Field(description="Number of entities by type.")
    transformations: Counts = Field(description="Number of entities by action.")
    outcomes: Counts = Field(description="Number by outcome.")
    refusals: Counts = Field(description="Number of refused requests with text by error code.")
    other_calls: Counts = Field(description="Number of proxied calls without a wire, by what became of them.")
    days: list[DayReply] = Field(description="The last 31 days with operations, oldest first.")


class KeyUseReply(Reply):
    """How often a key made a call with an outcome, in one minute."""

    time: Annotated[str, Field(json_schema_extra={"format": "date-time"}, description="Start of the minute.")]
    key_id: str | None = Field(
        description="Null for keys that are not valid; `proxy_…` for proxy clients without a gateway key."
    )
    label: str | None = Field(description="Null for keys that are not in the database.")
    credential: str | None = Field(description="Digest of the provider's credential, if the client sent one.")
    call: str = Field(description="The operation or wire; `other` for any other call.")
    outcome: str = Field(description="`answered`, `forwarded`, `dropped`, `cancelled`, or the code of the error.")
    count: Count
    request_id: str | None = Field(description="Id of the last of these requests.")


class KeyUseListReply(Page[KeyUseReply]):
    """The uses of keys, newest first."""


class EvidenceReply(Reply):
    """A precondition for releasing settlement that is not met."""

    code: str
    description: str


class SettlementReply(Reply):
    """The state of settlement by x402, which is not implemented."""

    enabled: Literal[False]
    status: Literal["disabled"]
    protocol: Literal["x402"]
    missing_evidence: list[EvidenceReply] = Field(description="Preconditions for a release that are not met.")


class HealthReply(Reply):
    status: Literal["ok"]
    version: str
