"""What an exchange consists of: where it goes, under which terms, and what became of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from gateway.assessment import Assessment
from gateway.guard import Verdict
from gateway.http_types import Field
from gateway.models import Caller, PrivacyMode, Trust
from gateway.placeholders import Placeholders, RestoreScope
from gateway.policy import Policy
from gateway.protection import Found, Protected
from gateway.receipts import Receipt
from gateway.wires import Body, Wire


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a call is to go: the surface's id, its trust, and the model's name there."""

    surface: str
    trust: Trust
    model: str


@dataclass(slots=True)
class Exchange:
    """One crossing under way. Lives in memory for as long as the request is served and is never written down.

    `body` and `headers` are what may cross. `edit` is the receipt of what crossed instead, where an operator edited the
    request.
    """

    request_id: str
    caller: Caller
    wire: Wire
    policy: Policy
    mode: PrivacyMode
    assessment: Assessment
    body: bytes
    headers: list[Field] = field(repr=False)
    receipt: Receipt
    protected: Protected = field(repr=False)
    placeholders: Placeholders = field(repr=False)
    scope: RestoreScope = field(repr=False)
    verdict: Verdict | None = None
    closed: bool = False
    edit: str | None = None

    def note(self) -> Body:
        """The `svc` member of a chat answer."""
        route, policy = self.assessment.route, self.policy.ref
        return {
            "request_id": self.request_id,
            "receipt": self.receipt.as_dict(),
            "route": {"decision": route.decision.value, "reasons": list(route.reasons)},
            "guard": self.verdict.as_dict() if self.verdict else None,
            "policy": {"id": policy.id, "version": policy.version, "hash": policy.hash},
        }


@dataclass(frozen=True, slots=True)
class Terms:
    """What a message is protected under, and what it is for. `advice`: whether anybody reads warnings."""

    policy: Policy
    mode: PrivacyMode
    task: str | None = None
    local_available: bool = False
    attachments: Sequence[str] = ()
    advice: bool = True


@dataclass(slots=True)
class Done:
    """What protecting a message came to. `tokens` are estimates of the source and of what may cross."""

    protected: Protected = field(repr=False)
    assessment: Assessment
    urls: frozenset[str] = field(repr=False)
    tokens: tuple[int, int]


@dataclass(slots=True)
class Examined:
    """What stands in a text, nothing changed."""

    found: list[Found] = field(repr=False)
    assessment: Assessment
