"""Defines the field types and small objects that several bodies share."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue, SkipJsonSchema

from gateway.corrections.given import LONGEST, MOST
from gateway.detection.data_files import read_toml
from gateway.models import LONGEST_TASK, RiskLevel, RouteDecision
from gateway.policy.document import TypeName


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
# JSON does not distinguish 60.0 from 60 (RFC 8259 section 6). Strings and booleans are not numbers.
WholeNumber = BeforeValidator(_whole)
Ttl = Annotated[int, Field(ge=60, le=86400, strict=True), WholeNumber]

RequestId = Annotated[str, Field(pattern=r"^req_[0-9a-f]{1,64}$", description="Id of the request and of its receipt.")]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256, in hex.")]
Salt = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$", description="16 random bytes, in hex.")]
Count = Annotated[int, Field(ge=0)]
Counts = Annotated[dict[str, Count], Field(description="A count for each name.")]
Time = Annotated[str, Field(json_schema_extra={"format": "date-time"}, description="RFC 3339, UTC.")]


EXAMPLES: dict[str, Any] = read_toml(__file__, "examples")


def add_example(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Adds the example of a body, if there is one, to its schema."""
    schema |= {"example": EXAMPLES[model.__name__]} if model.__name__ in EXAMPLES else {}


class RequestBody(BaseModel):
    """A body that a client sends. Rejects unknown fields, with errors that contain no values."""

    model_config = ConfigDict(
        extra="forbid", hide_input_in_errors=True, use_attribute_docstrings=True, json_schema_extra=add_example
    )


class Reply(BaseModel):
    """A body that a client receives. Has no undocumented members."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class DocumentedAs:
    """Annotates a body that `model` documents but does not validate; the operation itself validates it."""

    def __init__(self, model: type[BaseModel]) -> None:
        self._model = model

    def __get_pydantic_json_schema__(self, _: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(self._model.__pydantic_core_schema__)


def omit_default(schema: dict[str, Any]) -> None:
    """Removes a default from a field's schema that only means that the field is absent."""
    schema.pop("default", None)


def absent(description: str) -> Any:
    """Returns the field of a member that not every body of its kind has."""
    return Field(None, description=description, json_schema_extra=omit_default)


class Page[T: BaseModel](Reply):
    """Entries of a list."""

    object: Literal["list"]
    data: list[T]
    total: Count = Field(description="Number of entries on all pages.")
    limit: Annotated[int, Field(ge=1, le=500)]
    offset: Count


class DeniedValue(RequestBody):
    """A value to hide."""

    type: TypeName = Field(description="As which type: one that detection knows, or any other, such as `PROJECT`.")
    value: Annotated[str, Field(min_length=1, max_length=LONGEST)]


SvcAllow = Annotated[list[Annotated[str, Field(min_length=1, max_length=LONGEST)]], Field(max_length=MOST)]
SvcDeny = Annotated[list[DeniedValue], Field(max_length=MOST)]
SVC_ALLOW = "Values to leave in clear where the policy's `may_allow` permits it, never secrets (docs/corrections.md)."
SVC_DENY = "Values to hide wherever they occur (docs/corrections.md)."


class CorrectionCountsReply(Reply):
    """How many corrections were asked for and had an effect. `stored` counts those of stored lists that had one."""

    asked: Count
    applied: Count
    stored: Count


class CorrectionsReply(Reply):
    """The corrections of the request, without values. A kind is absent if there were none."""

    allow: CorrectionCountsReply | SkipJsonSchema[None] = absent("Values left in clear.")
    deny: CorrectionCountsReply | SkipJsonSchema[None] = absent("Values hidden.")


class RiskReply(Reply):
    """How much harm a leak of the text could do."""

    level: RiskLevel
    score: Annotated[int, Field(ge=0, le=100)]
    reasons: list[str] = Field(description="Sentences that contain no source text.")


class RouteReply(Reply):
    """Where the text may go. `direct`, `protected`: anywhere. `shard`: anywhere, preferably in parts. `local`: only
    to surfaces inside the trust boundary. `blocked`: nowhere.
    """

    decision: RouteDecision
    reasons: list[str]


class NoticeReply(Reply):
    """A warning that a person can act on."""

    code: str
    message: str


class PolicyRefReply(Reply):
    """One immutable version of a policy."""

    id: PolicyId
    version: Annotated[int, Field(ge=1)]
    hash: Digest


class SessionCredentials(RequestBody):
    """Credentials of a vault session, as returned by protect or shard."""

    session_id: Annotated[str, Field(min_length=1, max_length=128)]
    session_token: Annotated[str, Field(min_length=1, max_length=256)]


class SessionReply(Reply):
    """A vault session. The gateway does not store the token; without it, the session's values are lost."""

    session_id: Annotated[str, Field(pattern=r"^vs_[0-9a-f]{32}$")]
    session_token: str
    expires_at: Time


class GuardFindingReply(Reply):
    """The guard's findings of one kind in the answer."""

    kind: str
    severity: str = Field(description="`low`, `medium` or `high`.")
    count: Annotated[int, Field(ge=1)]


class GuardReply(Reply):
    """The guard's verdict on the answer, `pass`, `flag`, `redact` or `replace`, and its findings."""

    action: str
    findings: list[GuardFindingReply]
