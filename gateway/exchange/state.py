"""The state of one chat request in the gateway's process, from its admission to its outcome."""

from dataclasses import dataclass, field
from time import monotonic

from gateway.assessment import Assessment
from gateway.corrections.lists import Corrections
from gateway.exchange.batch_access import BatchAccess
from gateway.exchange.destination import Destination
from gateway.guard import Verdict
from gateway.http.types import Field
from gateway.models import Caller
from gateway.placeholders import Placeholders
from gateway.policy.model import Policy
from gateway.protection.protector import Protected
from gateway.receipts.client_view import shown_to
from gateway.receipts.drafts import parties
from gateway.receipts.records import Receipt
from gateway.wires.base import Body, Framing, Wire


@dataclass(slots=True)
class Exchange:
    """One request under way. Exists in memory only and is never stored.

    Admission sets the fields up to `annotated`. `path` is that of the call, `parsed` the parsed body until it has been
    protected, `source` the request as received, kept only where an operator may edit it. `may_stream` permits a
    streamed answer; `annotated` says that the client gets the `svc` member with its answer. `batch` is set for a call
    on a batch.

    Protection sets the others: `corrections` are those that hold for the caller, `body` and `headers` what may go to
    `destination`. `files` is what the receipt holds of attached files.
    `urls` are the URLs with placeholders in the source texts, including those of the answer that the
    request continues. `framing` is set if the answer may be a stream, `resumable` if a later request may continue it.
    `edit` is the request id of the receipt of an operator's edit. `connection` is the id of the WebSocket that the
    request came on, `session_key` the placeholder key that its later turns have, too. `outcome` is set once it is
    recorded. `started` and `released` are the times of admission and of the receipt, on the monotonic clock.
    """

    request_id: str
    wire: Wire
    caller: Caller
    destination: Destination
    parsed: Body = field(repr=False)
    path: str = field(default="", repr=False)
    operation: str = "chat"
    source: bytes | None = field(default=None, repr=False)
    may_stream: bool = False
    annotated: bool = False
    connection: str = ""
    batch: BatchAccess | None = field(default=None, repr=False)

    policy: Policy = field(init=False, repr=False)
    corrections: Corrections | None = field(default=None, init=False, repr=False)
    placeholders: Placeholders = field(init=False, repr=False)
    protected: Protected = field(init=False, repr=False)
    assessment: Assessment = field(init=False, repr=False)
    body: bytes = field(init=False, repr=False)
    headers: list[Field] = field(init=False, repr=False)
    urls: frozenset[str] = field(init=False, repr=False)
    files: list[dict[str, str | int]] = field(default_factory=list, init=False, repr=False)
    receipt: Receipt = field(init=False, repr=False)
    framing: Framing | None = None
    resumable: bool = False
    session_key: bytes = field(default=b"", repr=False)
    verdict: Verdict | None = None
    edit: str | None = None
    outcome: str = ""
    started: float = field(default_factory=monotonic)
    released: float | None = None

    @property
    def streams(self) -> bool:
        """Whether a listener restores the answer on the fly: it may be a stream, and no guard has to see it whole."""
        is_held = self.policy.streaming.guard == "hold"
        is_held |= self.policy.guard.new_sensitive_value in {"redact", "replace"}
        return self.framing is not None and not is_held

    @property
    def parties(self) -> dict[str, str]:
        """Who asked whom, for the receipt."""
        destination = self.destination
        return parties(
            api_key_id=self.caller.key_id,
            credential=self.caller.credential,
            wire=self.wire.id if self.operation == "chat" else "",
            upstream=destination.provider or destination.surface,
            model=destination.model,
        )

    def note(self) -> Body:
        """Returns the `svc` member of a chat answer."""
        route, policy = self.assessment.route, self.policy.ref
        applied = self.protected.applied
        corrections = applied.counts() if applied is not None else None
        return {
            "request_id": self.request_id,
            "receipt": shown_to(self.caller, self.receipt.as_dict()),
            "route": {"decision": route.decision.value, "reasons": list(route.reasons)},
            "guard": self.verdict.as_dict() if self.verdict else None,
            "policy": {"id": policy.id, "version": policy.version, "hash": policy.hash},
            **({"corrections": corrections} if corrections else {}),
        }
