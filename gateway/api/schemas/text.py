"""Bodies of the operations on a text: analyze, protect, reconstruct, shard, playground."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from gateway.api.schemas.parts import (
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
    Task,
    Text,
    Ttl,
    WholeNumber,
    unsaid,
)
from gateway.api.schemas.receipts import ReceiptReply
from gateway.models import Action, PrivacyMode

_TEXT = "My name is Anna Schmidt, write to anna.schmidt@acme.example."
_LONG = (
    "My name is Anna Schmidt and I live in Bonn.\n\nWrite to anna.schmidt@acme.example about the contract. "
    "It ends in May.\n\nThe card was 4111 1111 1111 1111. Please cancel it."
)


class AnalyzeRequest(RequestBody):
    model_config = ConfigDict(json_schema_extra={"example": {"text": _TEXT, "task": "summarise"}})

    text: Text = Field(description="The source text.")
    task: Task | None = Field(None, description="What is to be done with the text.")
    policy_id: PolicyId | None = Field(None, description="A policy, built-in or custom. Without it, the default one.")
    privacy_mode: PrivacyMode | None = Field(
        None, description="`strict` also hides what is only probably private. Without it, `standard`."
    )


class ProtectRequest(AnalyzeRequest):
    model_config = ConfigDict(json_schema_extra={"example": {"text": _TEXT, "session_ttl_seconds": 3600}})

    session_ttl_seconds: Ttl | None = Field(
        None,
        description="Lifetime of the session that is made, cut to what the policy and the settings allow. Without it, "
        "what these say (3600).",
    )
    session: SessionCredentials | None = Field(None, description="Continues this session instead of making one.")


class ShardRequest(AnalyzeRequest):
    model_config = ConfigDict(json_schema_extra={"example": {"text": _LONG, "max_compartments": 3}})

    session_ttl_seconds: Ttl | None = Field(None, description="As in protect.")
    max_compartments: Annotated[int, Field(ge=2, le=8, strict=True), WholeNumber] | None = Field(
        None, description="At most so many compartments. Without it, 8."
    )


class PlaygroundRequest(AnalyzeRequest):
    model_config = ConfigDict(json_schema_extra={"example": {"text": _TEXT, "task": "draft a reply"}})


class ReconstructRequest(RequestBody):
    """Exactly one of `text` and `content`."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [{"required": ["text"]}, {"required": ["content"]}],
            "example": {
                "text": "Dear [PERSON_7KQ2M], thank you.",
                "session": {"session_id": "$SESSION_ID", "session_token": "$SESSION_TOKEN"},
            },
        }
    )

    text: PlainText = Field("", description="Text with placeholders.", json_schema_extra=unsaid)
    content: Any = Field(
        None,
        description="Or any JSON value; every string in it is looked through. Whole numbers lie within 64 bits.",
        json_schema_extra=unsaid,
    )
    session: SessionCredentials


class EntityReply(Reply):
    """A finding. `start` and `end` are Unicode code points of the text as sent."""

    type: str = Field(description="`PERSON`, `EMAIL_ADDRESS`, …")
    start: Count
    end: Count
    score: Annotated[float, Field(ge=0, le=1)] = Field(description="How sure it is.")
    recognizer: str = Field(description="Who found it.")
    action: Action = Field(description="What the policy would do with it.")


class AnalyzeReply(Reply):
    request_id: RequestId
    risk: RiskReply
    route: RouteReply
    entities: list[EntityReply] = Field(description="What was found, sorted by where it starts.")
    task_categories: list[str] = Field(description="What seems to be asked for: `summarise`, `legal`, …")
    warnings: list[NoticeReply]
    policy: PolicyRefReply


class TransformationReply(Reply):
    """What became of one finding. Offsets are code points of the source and of the protected text."""

    type: str
    action: Action
    placeholder: str | None = Field(description="What stands for the value, where it can be put back.")
    start: Count
    end: Count
    protected_start: Count
    protected_end: Count
    score: Annotated[float, Field(ge=0, le=1)]


class ProtectReply(Reply):
    request_id: RequestId
    protected_text: str = Field(description="What may leave.")
    transformations: list[TransformationReply]
    session: SessionReply
    risk: RiskReply
    route: RouteReply
    warnings: list[NoticeReply]
    policy: PolicyRefReply
    receipt: ReceiptReply


class ReconstructReply(Reply):
    """`text` or `content`, as the request had it."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["text"]}, {"required": ["content"]}]})

    request_id: RequestId
    text: str | SkipJsonSchema[None] = Field(None, description="Restored.", json_schema_extra=unsaid)
    content: Any = Field(None, description="Restored.", json_schema_extra=unsaid)
    resolved: Count = Field(description="How many placeholders were opened.")
    unresolved: list[str] = Field(description="Those that stayed as they were.")
    receipt: ReceiptReply


class CompartmentReply(Reply):
    """A part of the text that can be worked on by itself. Its placeholders are in no other part."""

    index: Count
    protected_text: str
    entity_counts: Counts = Field(description="How many findings of each type it hides.")
    tokens: Count = Field(description="An estimate.")


class PieceReply(Reply):
    """`protected_text[start:end]` of a compartment is the next piece of the text; `heading` is an index."""

    compartment: Count
    start: Count
    end: Count
    heading: Count | None


class HeadingReply(Reply):
    """A heading of the text, protected, and where it stands."""

    level: Annotated[int, Field(ge=1, le=6)]
    compartment: Count
    start: Count
    end: Count
    text: str


class OutlineReply(Reply):
    """How the compartments make up the text: `joins[i]` stands before piece i of `order`, the last one at the end."""

    order: list[PieceReply] = Field(description="From the first piece of the text to the last.")
    headings: list[HeadingReply]
    joins: list[str] = Field(description="White space.")
    instructions: str = Field(description="For the model that writes the synthesis.")


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
    protected_text: str = Field(description="What the demo was asked.")
    protected_answer: str = Field(description="What the demo said; the same text gives the same words.")
    guard: GuardReply | None
    reconstructed_text: str = Field(description="The answer, restored.")
    risk: RiskReply
    route: RouteReply
    receipt: ReceiptReply
