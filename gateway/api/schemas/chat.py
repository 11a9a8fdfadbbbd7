"""Defines the parts of chat-completions bodies that the gateway reads or writes. All others pass through."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from gateway.api.schemas.parts import (
    SVC_ALLOW,
    SVC_DENY,
    CorrectionsReply,
    Count,
    GuardReply,
    PolicyRefReply,
    Reply,
    RequestId,
    RouteReply,
    SvcAllow,
    SvcDeny,
    Task,
    absent,
    add_example,
    omit_default,
)
from gateway.api.schemas.receipts import ReceiptReply
from gateway.models import PrivacyMode

Role = Literal["system", "developer", "user", "assistant", "tool", "function"]


class _Open(BaseModel):
    """Other members are protected like text and forwarded."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)


class ContentPart(_Open):
    """A part with text. Others, such as images, are refused (415) unless the policy lets them pass."""

    type: Literal["text", "refusal", "input_text", "output_text", "thinking", "reasoning"]
    text: Any = Field(None, json_schema_extra=omit_default)


class ChatMessage(_Open):
    """A message. Its other members, such as `name` and `tool_calls`, are protected too."""

    role: Role
    content: str | list[ContentPart | str] | None = None


class ChatRequest(_Open):
    model_config = ConfigDict(json_schema_extra=add_example)

    model: Annotated[str, Field(pattern=r"^[A-Za-z0-9_@][A-Za-z0-9_.:/@+-]{0,255}$")]
    """`svc-demo`, `configured-upstream`, or a model that an upstream serves."""
    messages: Annotated[list[ChatMessage], Field(min_length=1)] = Field(description="The conversation so far.")
    stream: bool | None = Field(None, description="Whether to stream the answer, which needs `SVC_STREAMING=true`.")
    seed: int | None = None
    """Forwarded unchanged. Like every number of the protocol, refused if it looks like private text."""
    n: Annotated[int, Field(ge=1, le=128)] | None = Field(None, description="Number of choices to return.")
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    """Maximum length of the answer, in tokens."""
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    """Older name of `max_completion_tokens`, which takes precedence."""
    svc_task: Task | None = Field(None, description="What the model should do with the text. Not forwarded.")
    svc_policy: Annotated[str, Field(min_length=1)] | None = None
    """Policy id, like `policy_id` of other operations. Not forwarded. Default: `default_policy`."""
    svc_privacy_mode: PrivacyMode | None = Field(None, description="Like `privacy_mode` in protect. Not forwarded.")
    svc_allow: SvcAllow | None = Field(None, description=f"{SVC_ALLOW} Not forwarded.")
    svc_deny: SvcDeny | None = Field(None, description=f"{SVC_DENY} Not forwarded.")


class AnswerMessage(_Open):
    """The answer, restored."""

    role: Literal["assistant"]
    content: str | None = None


class ChoiceReply(_Open):
    """One of the answers requested with `n`."""

    index: Count
    message: AnswerMessage
    finish_reason: str | None = Field(description="`content_filter` if the guard withheld the answer.")


class TokenUsageReply(_Open):
    """Token counts reported by the upstream."""

    prompt_tokens: Count
    completion_tokens: Count
    total_tokens: Count


class NoteReply(Reply):
    """The gateway's member of the answer."""

    request_id: RequestId
    receipt: ReceiptReply
    route: RouteReply
    guard: GuardReply | None
    policy: PolicyRefReply
    corrections: CorrectionsReply | SkipJsonSchema[None] = absent("If any were asked for or had an effect.")


class ChatReply(_Open):
    """The model's answer, restored, with the member `svc` added.

    Other members of the upstream's answer pass through.
    """

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[ChoiceReply]
    usage: TokenUsageReply | None = None
    svc: NoteReply


class ModelReply(Reply):
    """A model that chat completions accept."""

    id: str
    object: Literal["model"]
    created: int = Field(description="Unix time.")
    owned_by: str = Field(description="`svc` for the demo, else the name of the upstream.")


class ModelListReply(Reply):
    object: Literal["list"]
    data: list[ModelReply]
