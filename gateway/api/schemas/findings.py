"""Bodies about findings: why something was hidden or left in clear."""

from typing import Annotated, Literal

from pydantic import Field

from gateway.api.schemas.parts import Count, PolicyRefReply, Reply, RequestId
from gateway.api.schemas.text import AnalyzeRequest, EntityReply
from gateway.models import Action
from gateway.protection.reasons import Kept, Reason

_Reason = Annotated[Reason, Field(description="Why it was found; docs/explain.md describes each reason.")]


class ExplainRequest(AnalyzeRequest):
    pass


class ExplainedReply(EntityReply):
    """A finding in the text of the request. `start` and `end` count its Unicode code points."""

    reason: _Reason
    kept: Kept | None = Field(
        description="Null if it is hidden, else why it is left in clear: the rule of its type keeps it, its score is "
        "below `min_score`, or the policy's allow list or the caller's corrections have the value."
    )
    settings: list[str]
    """Settings that would change that: members of the policy such as `rules.PERSON`, or of a request (`svc_allow`)."""


class ExplainReply(Reply):
    request_id: RequestId
    findings: list[ExplainedReply] = Field(description="What is hidden and what is left in clear, sorted by `start`.")
    marked_text: str
    """The text with the numbers of the findings, from 1: `[1:Jane]` is hidden, `[2?:Bonn]` is left in clear."""
    policy: PolicyRefReply


class LocatedReply(Reply):
    """A finding in the body that was sent. If nothing was sent, `start` is null, and the pointer may end early."""

    type: str
    pointer: str | None = Field(description="JSON pointer (RFC 6901) to the protected string. Null outside the body.")
    at: Literal["value", "name"] = Field(description="Whether it is in the string, or in the name of that member.")
    start: Count | None = Field(description="Its first code point in the protected string or name.")
    placeholder: str | None = Field(description="Placeholder for the value, if it can be restored.")
    action: Action
    reason: _Reason


class FindingsReply(Reply):
    request_id: RequestId
    findings: list[LocatedReply] = Field(description="The findings, in the order of the texts.")
    complete: bool = Field(description="No, if there were too many to keep: none are listed then.")
    refusal: str | None = Field(description="Code of the error if the policy did not let the request leave.")
