"""Writes the receipts and outcomes of requests, so that the log has every request with text, sent or not."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from hashlib import sha256
from typing import Any

import orjson

from gateway.assessment import Assessment
from gateway.assessment.evidence import gather
from gateway.assessment.risk import rate
from gateway.detection import EntityType
from gateway.errors import GatewayError, Unauthorized
from gateway.exchange.state import Exchange
from gateway.guard import Verdict
from gateway.ids import new_request_id
from gateway.models import Caller, PolicyRef, ReceiptRef, RefusedText, RiskLevel, RouteDecision
from gateway.policy.model import Policy
from gateway.protection.applied_corrections import Applied
from gateway.protection.protector import Protected
from gateway.protection.value_digests import ValueDigests
from gateway.receipt_log.log import ReceiptLog
from gateway.receipts.drafts import PARTIES, OutcomeDraft, ReceiptDraft, parties
from gateway.receipts.records import Receipt
from gateway.text.token_estimate import estimate
from gateway.wires.base import Conversation

_RATE_SECONDS = 60.0
_MOST_KEYS = 10_000


@contextmanager
def described(conversation: Conversation, policy: Policy, types: Mapping[str, EntityType]) -> Iterator[None]:
    """Adds to every GatewayError raised inside the numbers that the receipt of its refusal needs."""
    try:
        yield
    except GatewayError as error:
        size = sum(map(estimate, conversation.texts()))
        counts = Counter(entity.type for entity in error.hidden)
        risk = rate(gather(error.hidden, error.kept, types, policy, conversation.privacy_mode), size)
        error.refused = RefusedText(policy.ref, size, dict(sorted(counts.items())), risk.level)
        raise


@dataclass(repr=False)
class Records:
    """Writes receipts, durable on return, and outcomes. `default_policy` is recorded where none was chosen."""

    receipts: ReceiptLog
    value_digests: ValueDigests
    default_policy: Callable[[], PolicyRef]
    _: KW_ONLY
    engine_version: str
    model_hash: str | None = None
    clock: Callable[[], float] = time.monotonic
    _rated: dict[str, float] = field(default_factory=dict, init=False)

    async def receipt(
        self,
        request_id: str,
        operation: str,
        caller: Caller,
        policy: Policy,
        content: bytes,
        protected: Protected | None = None,
        assessment: Assessment | None = None,
        *,
        crossed: bool,
        asked: Mapping[str, str] | None = None,
        files: Sequence[Mapping[str, str | int]] = (),
    ) -> Receipt:
        """Writes the receipt of an operation. `content` is digested, never kept.

        `asked` says who asked whom, `files` what became of attached files.
        """
        protected = protected or Protected()
        draft = ReceiptDraft(
            request_id,
            operation,
            policy.ref,
            self.engine_version,
            self.model_hash,
            route=(assessment.route.decision if assessment else RouteDecision.DIRECT).value,
            risk_level=(assessment.risk.level if assessment else RiskLevel.NONE).value,
            entity_counts=protected.counts(),
            transformation_counts=protected.actions(),
            tokens_input=protected.tokens[0],
            tokens_external=protected.tokens[1] if crossed else 0,
            protected_digest=sha256(content).hexdigest(),
            parties=asked or parties(api_key_id=caller.key_id, credential=caller.credential),
            corrections=self._corrections(protected.applied, caller.key_id) if protected.applied is not None else {},
            attachments=files,
        )
        digests = partial(self.value_digests.digests, tuple(protected.values))
        return await self.receipts.append(draft, caller.key_id, digests)

    def _corrections(self, applied: Applied, owner: str) -> dict[str, dict[str, int | str]]:
        """Returns the counts of a caller's corrections, and a keyed digest of those that had an effect."""
        found: dict[str, dict[str, int | str]] = {}
        values: dict[str, list[tuple[str, ...]]] = {
            "allow": sorted((value,) for value in applied.allowed),
            "deny": sorted(applied.denied),
        }
        for kind, counts in applied.counts().items():
            found[kind] = {**counts}
            if values[kind]:
                found[kind]["digest"] = self.value_digests.of_all(owner, kind, values[kind])
        return found

    async def edit(self, exchange: Exchange, body: bytes, size: int, operator: str) -> Receipt:
        """Writes the receipt of an operator's edit to `body`, whose texts have about `size` tokens."""
        first: dict[str, Any] = orjson.loads(exchange.receipt.record.body)
        draft = ReceiptDraft(
            new_request_id(),
            "edit",
            PolicyRef(**first["policy"]),
            self.engine_version,
            self.model_hash,
            route=first["route"],
            risk_level=first["risk_level"],
            tokens_external=size,
            protected_digest=sha256(body).hexdigest(),
            amends=exchange.receipt.request_id,
            parties={name: first[name] for name in PARTIES if name in first},
            operator=operator or None,
        )
        return await self.receipts.append(draft, exchange.caller.key_id)

    async def refused(
        self,
        error: Exception | asyncio.CancelledError,
        request_id: str,
        operation: str,
        identify: Callable[[], Caller],
        *,
        code: str = "internal_error",
        wire: str = "",
    ) -> ReceiptRef | None:
        """Records a request that ended with `error`, unless it has a receipt. Returns the receipt; the error names it.

        Unauthenticated requests leave no receipt; neither does any request while the log is unwritable. Of requests
        beyond the rate of their key, one in a minute does, or a loop would fill the disk. `code` describes an error
        that is no GatewayError. `wire` is the id of the wire that was called, if any.
        """
        if isinstance(error, GatewayError):
            if error.receipt is not None or isinstance(error, Unauthorized):
                return error.receipt
            code = error.code
        try:
            caller = identify()
            owner = caller.key_id
            if code != "rate_limited" or self._is_due(owner):
                draft = self._draft_refused(error, request_id, operation, caller, wire)
                is_cancelled = isinstance(error, asyncio.CancelledError)
                outcome = OutcomeDraft("cancelled") if is_cancelled else OutcomeDraft("refused", code=code)
                try:
                    receipt = await self.receipts.append(draft, owner)
                except asyncio.CancelledError:
                    # The receipt is queued already and will be written.
                    self.receipts.append_outcome(request_id, outcome, owner)
                    raise
                self.receipts.append_outcome(request_id, outcome, owner)
                if isinstance(error, GatewayError):
                    error.receipt = receipt.ref
                return receipt.ref
        except GatewayError:
            pass
        return None

    def end(
        self,
        exchange: Exchange,
        outcome: str,
        status: int | None = None,
        tokens: tuple[int, int] | None = None,
        *,
        code: str | None = None,
        sent: bool = False,
    ) -> None:
        """Records the outcome of an exchange, once. `sent` tells whether it was sent, if it has an upstream at all."""
        if exchange.outcome:
            return
        exchange.outcome = outcome
        size = exchange.protected.tokens[1] if sent and exchange.destination.url else 0
        took = None
        if exchange.released is not None:
            took = _ms(exchange.released - exchange.started), _ms(time.monotonic() - exchange.started)
        draft = OutcomeDraft(outcome, status, tokens, _guard_counts(exchange.verdict), exchange.edit, code, size, took)
        self.receipts.append_outcome(exchange.request_id, draft, exchange.caller.key_id)

    def _draft_refused(
        self, error: BaseException, request_id: str, operation: str, caller: Caller, wire: str
    ) -> ReceiptDraft:
        ours = error if isinstance(error, GatewayError) else GatewayError("")
        refused, known, applied = ours.refused, ours.parties, ours.applied
        if refused is None:
            refused = RefusedText(self.default_policy(), 0, {}, RiskLevel.NONE)
        return ReceiptDraft(
            request_id,
            operation,
            refused.policy,
            self.engine_version,
            self.model_hash,
            route=RouteDecision.BLOCKED.value,
            risk_level=refused.risk.value,
            entity_counts=refused.entity_counts,
            tokens_input=refused.tokens,
            corrections=self._corrections(applied, caller.key_id) if applied is not None else {},
            parties={**parties(api_key_id=caller.key_id, credential=caller.credential, wire=wire), **known},
        )

    def _is_due(self, key_id: str) -> bool:
        now = self.clock()
        if now - self._rated.get(key_id, -_RATE_SECONDS) < _RATE_SECONDS:
            return False
        if len(self._rated) >= _MOST_KEYS:
            self._rated.clear()
        self._rated[key_id] = now
        return True


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def _guard_counts(verdict: Verdict | None) -> dict[str, object] | None:
    """Returns the guard's action and its findings counted by rule, as an outcome record holds them."""
    if verdict is None:
        return None
    counts: Counter[str] = Counter()
    for finding in verdict.findings:
        counts[finding.rule] += finding.count
    return {"action": verdict.action, "findings": dict(counts)}
