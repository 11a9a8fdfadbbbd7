"""The state of one chat request between opening and closing."""

from dataclasses import dataclass, field

from gateway.assessment import Assessment
from gateway.exchange.destination import Destination
from gateway.guard import Verdict
from gateway.http.types import Field
from gateway.models import Caller, PrivacyMode
from gateway.placeholders import Placeholders, RestoreScope
from gateway.policy import Policy
from gateway.protection.protector import Protected
from gateway.receipts import OutcomeDraft, Receipt, shown_to
from gateway.wires import Body, Framing, Wire


@dataclass(slots=True)
class Exchange:
    """One request under way, from `Pipeline.open` to `Pipeline.close`. Exists in memory only and is never stored.

    `body` and `headers` are what may go to `destination`. `source` is the request as received, kept only where an
    operator may edit it; `edit` is the request id of that edit's receipt. `framing` is set if the answer may be a
    stream, `resumable` if a later request may continue it, `annotated` if the client gets the `svc` member with it.
    """

    request_id: str
    caller: Caller
    wire: Wire
    destination: Destination
    policy: Policy
    mode: PrivacyMode
    assessment: Assessment
    body: bytes = field(repr=False)
    headers: list[Field] = field(repr=False)
    receipt: Receipt
    protected: Protected = field(repr=False)
    placeholders: Placeholders = field(repr=False)
    scope: RestoreScope = field(repr=False)
    path: str = ""
    framing: Framing | None = None
    resumable: bool = False
    annotated: bool = False
    verdict: Verdict | None = None
    closed: bool = False
    source: bytes | None = field(default=None, repr=False)
    edit: str | None = None

    @property
    def streams(self) -> bool:
        """Whether a listener restores the answer on the fly: it may be a stream, and no guard has to see it whole."""
        is_held = self.policy.streaming.guard == "hold"
        is_held |= self.policy.guard.new_sensitive_value in {"redact", "replace"}
        return self.framing is not None and not is_held

    def note(self) -> Body:
        """Returns the `svc` member of a chat answer."""
        route, policy = self.assessment.route, self.policy.ref
        return {
            "request_id": self.request_id,
            "receipt": shown_to(self.caller, self.receipt.as_dict()),
            "route": {"decision": route.decision.value, "reasons": list(route.reasons)},
            "guard": self.verdict.as_dict() if self.verdict else None,
            "policy": {"id": policy.id, "version": policy.version, "hash": policy.hash},
        }

    def outcome(
        self,
        outcome: str,
        status: int | None = None,
        tokens: tuple[int, int] | None = None,
        *,
        code: str | None = None,
        sent: bool = False,
    ) -> OutcomeDraft:
        """Returns the outcome record. `sent` tells whether the request was sent, if it has an upstream at all."""
        size = self.protected.tokens[1] if sent and self.destination.url else 0
        return OutcomeDraft(outcome, status, tokens, self._guard_counts(), self.edit, code, size)

    def _guard_counts(self) -> dict[str, object] | None:
        """Returns the guard's action and its findings counted by rule, as an outcome record holds them."""
        if self.verdict is None:
            return None
        counts: dict[str, int] = {}
        for finding in self.verdict.findings:
            counts[finding.rule] = counts.get(finding.rule, 0) + finding.count
        return {"action": self.verdict.action, "findings": counts}
