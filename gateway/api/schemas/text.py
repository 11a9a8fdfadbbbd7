"""Bodies of the text operations: analyze, protect, reconstruct, shard, playground."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from gateway.api.schemas.parts import (
    EXAMPLES,
    SVC_ALLOW,
    SVC_DENY,
    CorrectionsReply,
    Count,
    Counts,
    GuardReply,
    NoticeReply,
    PlainText,
    PolicyId,
    PolicyRefReply,
    Reply,
    RequestBody,
    RequestId,
    RiskReply,
    RouteReply,
    SessionCredentials,
    SessionReply,
    SvcAllow,
    SvcDeny,
    Task,
    Text,
    Ttl,
    WholeNumber,
    absent,
    omit_default,
)
from gateway.api.schemas.receipts import ReceiptReply
from gateway.exchange.operations import Question
from gateway.models import Action, PrivacyMode

_EITHER: dict[str, Any] = {"oneOf": [{"required": ["text"]}, {"required": ["content"]}]}
_TTL = "Lifetime of the new session, in seconds, limited by the policy and the settings. Default: set by these (3600)."


class AnalyzeRequest(RequestBody):
    text: Text = Field(description="The source text.")
    task: Task | None = Field(None, description="What a model should do with the text.")
    policy_id: PolicyId | None = None
    """Id of a policy, built-in or custom. Default: `default_policy`."""
    privacy_mode: PrivacyMode | None = None
    """`strict` also hides text that is only probably private. Default: `standard`."""
    svc_allow: SvcAllow | None = Field(None, description=SVC_ALLOW)
    svc_deny: SvcDeny | None = Field(None, description=SVC_DENY)

    def question(self) -> Question:
        """Returns what is asked."""
        deny = None if self.svc_deny is None else [each.model_dump() for each in self.svc_deny]
        return Question(self.text, self.task, self.policy_id, self.privacy_mode, self.svc_allow, deny)


class ProtectRequest(AnalyzeRequest):
    session_ttl_seconds: Ttl | None = Field(
        None,
        description=f"{_TTL} With `session`, seconds from now that it lasts at least.",
    )
    session: SessionCredentials | None = Field(None, description="Continues this session instead of creating one.")


class ShardRequest(AnalyzeRequest):
    session_ttl_seconds: Ttl | None = Field(None, description=_TTL)
    max_compartments: Annotated[int, Field(ge=2, le=8, strict=True), WholeNumber] | None = None
    """Maximum number of compartments. Default: 8."""


class PlaygroundRequest(AnalyzeRequest):
    pass


class ReconstructRequest(RequestBody):
    """Has exactly one of `text` and `content`."""

    model_config = ConfigDict(json_schema_extra={**_EITHER, "example": EXAMPLES["ReconstructRequest"]})

    text: PlainText = Field("", description="Text with placeholders.", json_schema_extra=omit_default)
    content: Any = absent("Any JSON value with placeholders in its strings. Integers must fit into 64 bits.")
    session: SessionCredentials


class SessionRequest(RequestBody):
    session: SessionCredentials


class ExtendSessionRequest(SessionRequest):
    session_ttl_seconds: Ttl | None = None
    """Seconds from now that the session lasts at least, limited and set by default as in protect."""


class ExtendSessionReply(Reply):
    request_id: RequestId
    session: SessionReply


class RevokeSessionReply(Reply):
    request_id: RequestId
    session_id: str
    revoked: Literal[True]


class EntityReply(Reply):
    """A span of private text. `start` and `end` count Unicode code points of the text in the request."""

    type: str = Field(description="`PERSON`, `EMAIL_ADDRESS`, …")
    start: Count
    end: Count
    score: Annotated[float, Field(ge=0, le=1)] = Field(description="Confidence.")
    recognizer: str = Field(description="Id of the recognizer that found it.")
    action: Action = Field(description="Action that the policy would take.")


class AnalyzeReply(Reply):
    request_id: RequestId
    risk: RiskReply
    route: RouteReply
    entities: list[EntityReply] = Field(description="Entities, sorted by `start`.")
    task_categories: list[str]
    """Kinds of task that the request seems to ask for: `summarise`, `legal`, …"""
    warnings: list[NoticeReply]
    policy: PolicyRefReply
    corrections: CorrectionsReply | SkipJsonSchema[None] = absent("If any were asked for or had an effect.")


class TransformationReply(Reply):
    """How one entity was replaced. Offsets count code points of the source and of the protected text."""

    type: str
    action: Action
    placeholder: str | None = Field(description="Placeholder for the value, if it can be restored.")
    start: Count
    end: Count
    protected_start: Count
    protected_end: Count
    score: Annotated[float, Field(ge=0, le=1)]


class ProtectReply(Reply):
    request_id: RequestId
    protected_text: str = Field(description="The text with private values replaced.")
    transformations: list[TransformationReply]
    session: SessionReply
    risk: RiskReply
    route: RouteReply
    warnings: list[NoticeReply]
    policy: PolicyRefReply
    receipt: ReceiptReply


class ReconstructReply(Reply):
    """Has `text` or `content`, whichever the request had."""

    model_config = ConfigDict(json_schema_extra=_EITHER)

    request_id: RequestId
    text: str | SkipJsonSchema[None] = absent("The restored value.")
    content: Any = absent("The restored value.")
    resolved: Count = Field(description="Number of placeholders replaced by their values.")
    unresolved: list[str] = Field(description="Placeholders left unchanged.")
    receipt: ReceiptReply


class CompartmentReply(Reply):
    """A part of the text for separate processing. It shares no placeholders with other parts."""

    index: Count
    protected_text: str
    entity_counts: Counts = Field(description="Number of hidden entities by type.")
    tokens: Count = Field(description="Estimated number of tokens.")


class PieceReply(Reply):
    """The next piece of the text: `protected_text[start:end]` of a compartment. `heading` indexes `headings`."""

    compartment: Count
    start: Count
    end: Count
    heading: Count | None


class HeadingReply(Reply):
    """A protected heading of the text and its position."""

    level: Annotated[int, Field(ge=1, le=6)]
    compartment: Count
    start: Count
    end: Count
    text: str


class OutlineReply(Reply):
    """How to reassemble the text: `joins[i]` precedes piece i of `order`; the last join ends the text."""

    order: list[PieceReply] = Field(description="The pieces in the order of the text.")
    headings: list[HeadingReply]
    joins: list[str] = Field(description="White space between pieces.")
    instructions: str = Field(description="Instructions for the model that writes the synthesis.")


class ShardReply(Reply):
    request_id: RequestId
    compartments: Annotated[list[CompartmentReply], Field(min_length=2, max_length=8)]
    outline: OutlineReply
    session: SessionReply
    risk: RiskReply
    route: RouteReply
    warnings: list[NoticeReply]
    policy: PolicyRefReply
    receipt: ReceiptReply


class PlaygroundReply(Reply):
    request_id: RequestId
    protected_text: str = Field(description="The protected text sent to the demo.")
    protected_answer: str = Field(description="The demo's answer. The same text always gives the same answer.")
    guard: GuardReply | None
    reconstructed_text: str = Field(description="The answer, restored.")
    risk: RiskReply
    route: RouteReply
    receipt: ReceiptReply
