"""What the bodies are made of: words, numbers and the small objects that stand in several of them."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue

from gateway.models import LONGEST_TASK, RiskLevel, RouteDecision


def _without_surrogates(text: str) -> str:
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError("must be Unicode text without lone surrogates")
    return text


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


PlainText = Annotated[str, AfterValidator(_without_surrogates)]
Text = Annotated[str, Field(min_length=1), AfterValidator(_without_surrogates)]
Task = Annotated[str, Field(max_length=LONGEST_TASK)]
PolicyId = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[a-z0-9][a-z0-9-]*$")]
# JSON has one kind of number: 60.0 is 60 (RFC 8259 section 6). A word or a truth value is none.
WholeNumber = BeforeValidator(_whole)
Ttl = Annotated[int, Field(ge=60, le=86400, strict=True), WholeNumber]

RequestId = Annotated[str, Field(pattern=r"^req_[0-9a-f]{1,64}$", description="Names the request and its receipt.")]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256, in hex.")]
Count = Annotated[int, Field(ge=0)]
Counts = Annotated[dict[str, Count], Field(description="A number for each name.")]
Time = Annotated[str, Field(json_schema_extra={"format": "date-time"}, description="RFC 3339, UTC.")]


class RequestBody(BaseModel):
    """What a client sends. Unknown fields are refused; no error shows a value."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class Reply(BaseModel):
    """What a client gets. There are no members beside those that are described."""

    model_config = ConfigDict(extra="forbid")


class ReadElsewhere:
    """For a body that `model` describes, but that is read by somebody who knows more than a schema can say."""

    def __init__(self, model: type[BaseModel]) -> None:
        self._model = model

    def __get_pydantic_json_schema__(self, _: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(self._model.__pydantic_core_schema__)


def unsaid(schema: dict[str, Any]) -> None:
    """Takes a default out of a field's schema that says nothing but that the field was left out."""
    schema.pop("default", None)


class RiskReply(Reply):
    """How much harm the text could do if it leaked."""

    level: RiskLevel
    score: Annotated[int, Field(ge=0, le=100)]
    reasons: list[str] = Field(description="In words, without text of the source.")


class RouteReply(Reply):
    """Where the text may go: `direct` and `protected` anywhere, `shard` better in parts, `local` only inside."""

    decision: RouteDecision
    reasons: list[str]


class NoticeReply(Reply):
    """Something a person can act on."""

    code: str
    message: str


class PolicyRefReply(Reply):
    """One immutable version of a policy."""

    id: PolicyId
    version: Annotated[int, Field(ge=1)]
    hash: Digest


class SessionCredentials(RequestBody):
    """What opens a vault session, as protect or shard gave it."""

    session_id: Annotated[str, Field(min_length=1, max_length=128)]
    session_token: Annotated[str, Field(min_length=1, max_length=256)]


class SessionReply(Reply):
    """A vault session. Its token is shown here and kept nowhere; with it goes what the session holds."""

    session_id: Annotated[str, Field(pattern=r"^vs_[0-9a-f]{32}$")]
    session_token: str
    expires_at: Time


class GuardFindingReply(Reply):
    """Findings of one kind in what came back."""

    kind: str
    severity: str = Field(description="`low`, `medium` or `high`.")
    count: Annotated[int, Field(ge=1)]


class GuardReply(Reply):
    """What the guard said about the answer, and what was done: `pass`, `flag`, `redact` or `replace`."""

    action: str
    findings: list[GuardFindingReply]
