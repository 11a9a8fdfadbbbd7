"""The bodies of the native endpoints, as pydantic models. Unknown fields are refused."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from gateway.models import Action, PrivacyMode, RiskLevel, RouteDecision


def _without_surrogates(text: str) -> str:
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError("must be Unicode text without lone surrogates")
    return text


type Text = Annotated[str, Field(min_length=1), AfterValidator(_without_surrogates)]
type Task = Annotated[str, Field(max_length=4000)]
type PolicyId = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[a-z0-9][a-z0-9-]*$")]
type Ttl = Annotated[int, Field(ge=60, le=86400, strict=True)]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SessionCredentials(_Request):
    """Credentials of a vault session, as protect gave them."""

    session_id: Annotated[str, Field(min_length=1, max_length=128)]
    session_token: Annotated[str, Field(min_length=1, max_length=256)]


class AnalyzeRequest(_Request):
    text: Text
    task: Task | None = None
    policy_id: PolicyId | None = None
    privacy_mode: PrivacyMode | None = None


class ProtectRequest(AnalyzeRequest):
    session_ttl_seconds: Ttl | None = None
    session: SessionCredentials | None = None


class ShardRequest(AnalyzeRequest):
    session_ttl_seconds: Ttl | None = None
    max_compartments: Annotated[int, Field(ge=2, le=8, strict=True)] | None = None


class ReconstructRequest(_Request):
    """Exactly one of `text` and `content`."""

    text: Annotated[str, AfterValidator(_without_surrogates)] | None = None
    content: Any = None
    session: SessionCredentials


class RiskReply(_Reply):
    level: RiskLevel
    score: Annotated[int, Field(ge=0, le=100)]
    reasons: list[str]


class RouteReply(_Reply):
    decision: RouteDecision
    reasons: list[str]


class EntityReply(_Reply):
    """A finding; offsets are Unicode code points of the text as sent."""

    type: str
    start: int
    end: int
    score: float
    recognizer: str
    action: Action


class NoticeReply(_Reply):
    code: str
    message: str


class PolicyRefReply(_Reply):
    id: str
    version: int
    hash: str


class AnalyzeReply(_Reply):
    request_id: str
    risk: RiskReply
    route: RouteReply
    entities: list[EntityReply]
    task_categories: list[str]
    warnings: list[NoticeReply]
    policy: PolicyRefReply


class TransformationReply(_Reply):
    """What became of one finding. Offsets are code points of the source and of the protected text."""

    type: str
    action: Action
    placeholder: str | None = None
    start: int
    end: int
    protected_start: int
    protected_end: int
    score: float


class SessionReply(_Reply):
    session_id: str
    session_token: str
    expires_at: datetime


class ProtectReply(_Reply):
    request_id: str
    protected_text: str
    transformations: list[TransformationReply]
    session: SessionReply
    risk: RiskReply
    route: RouteReply
    warnings: list[NoticeReply]
    policy: PolicyRefReply
    receipt: dict[str, Any]


class Health(_Reply):
    status: Literal["ok"]
    version: str
