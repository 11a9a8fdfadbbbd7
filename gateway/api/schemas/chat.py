"""The chat-completions bodies, as far as the gateway itself reads or writes them. Everything else passes through."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from gateway.api.schemas.parts import Count, GuardReply, PolicyRefReply, Reply, RequestId, RouteReply, Task, unsaid
from gateway.api.schemas.receipts import ReceiptReply
from gateway.models import PrivacyMode

Role = Literal["system", "developer", "user", "assistant", "tool", "function"]


class _Open(BaseModel):
    """Other members are protected like text, and passed on."""

    model_config = ConfigDict(extra="allow")


class ContentPart(_Open):
    """A part with text. Other kinds, such as images, are refused (415), or passed where the policy says so."""

    type: Literal["text", "refusal", "input_text", "output_text", "thinking", "reasoning"]
    text: Any = Field(None, json_schema_extra=unsaid)


class ChatMessage(_Open):
    """A message; its other members, such as `name` and `tool_calls`, are protected too."""

    role: Role
    content: str | list[ContentPart | str] | None = None


class ChatRequest(_Open):
    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "model": "svc-demo",
                "messages": [
                    {
                        "role": "user",
                        "content": "My name is Anna Schmidt, write to anna.schmidt@acme.example.",
                    }
                ],
                "svc_task": "answer",
            }
        }
    )

    model: Annotated[str, Field(pattern=r"^[A-Za-z0-9_@][A-Za-z0-9_.:/@+-]{0,255}$")] = Field(
        description="`svc-demo`, `configured-upstream`, or a model that an upstream takes."
    )
    messages: Annotated[list[ChatMessage], Field(min_length=1)] = Field(description="The conversation so far.")
    stream: bool | None = Field(None, description="Refused when true (`streaming_not_supported`).")
    seed: int | None = Field(
        None,
        description="Passed on as it is; refused where it reads like private text, as every number of the protocol.",
    )
    n: Annotated[int, Field(ge=1, le=128)] | None = Field(None, description="How many choices.")
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = Field(None, description="Bounds the answer.")
    max_tokens: Annotated[int, Field(ge=1)] | None = Field(
        None, description="The older name of `max_completion_tokens`, which goes before it."
    )
    svc_task: Task | None = Field(None, description="What is to be done with the text. Never sent on.")
    svc_policy: Annotated[str, Field(min_length=1)] | None = Field(
        None, description="A policy, elsewhere `policy_id`. Without it, the default one. Never sent on."
    )
    svc_privacy_mode: PrivacyMode | None = Field(None, description="As `privacy_mode` in protect. Never sent on.")


class AnswerMessage(_Open):
    """The answer, restored."""

    role: Literal["assistant"]
    content: str | None = None


class ChoiceReply(_Open):
    """One answer of those asked for."""

    index: Count
    message: AnswerMessage
    finish_reason: str | None = Field(description="`content_filter` where the guard withheld the answer.")


class TokenUsageReply(_Open):
    """As the model counts."""

    prompt_tokens: Count
    completion_tokens: Count
    total_tokens: Count


class NoteReply(Reply):
    """The gateway's own member of the answer."""

    request_id: RequestId
    receipt: ReceiptReply
    route: RouteReply
    guard: GuardReply | None
    policy: PolicyRefReply


class ChatReply(_Open):
    """The answer of the model, restored, with the member `svc`. What else an upstream says passes through."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[ChoiceReply]
    usage: TokenUsageReply | None = None
    svc: NoteReply


class ModelReply(Reply):
    """A model that chat completions can ask for."""

    id: str
    object: Literal["model"]
    created: int = Field(description="Unix time.")
    owned_by: str = Field(description="`svc`, or the name of the upstream.")


class ModelListReply(Reply):
    object: Literal["list"]
    data: list[ModelReply]
