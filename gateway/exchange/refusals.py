"""Records requests that were refused or cancelled, so that the log has every request with text, sent or not."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256

from gateway.assessment.evidence import gather
from gateway.assessment.risk import rate
from gateway.detection import EntityType
from gateway.errors import GatewayError, Unauthorized
from gateway.models import Caller, PolicyRef, RefusedText, RiskLevel, RouteDecision
from gateway.policy import Policy
from gateway.receipts import OutcomeDraft, ReceiptDraft, ReceiptLog
from gateway.text.token_estimate import estimate
from gateway.wires import Conversation

_NOTHING = sha256(b"").hexdigest()
_RATE_SECONDS = 60.0
_MOST_KEYS = 10_000


@contextmanager
def described(conversation: Conversation, policy: Policy, types: Mapping[str, EntityType]) -> Iterator[None]:
    """Notes in every GatewayError raised inside what its refusal says of the conversation."""
    try:
        yield
    except GatewayError as error:
        size = sum(map(estimate, conversation.texts()))
        counts = Counter(entity.type for entity in error.hidden)
        risk = rate(gather(error.hidden, error.kept, types, policy, conversation.privacy_mode), size)
        error.refused = RefusedText(policy.ref, size, dict(sorted(counts.items())), risk.level)
        raise


class Refusals:
    """Writes the receipt and the outcome of refused requests. `default_policy` is what counts where none was chosen."""

    def __init__(
        self,
        receipts: ReceiptLog,
        default_policy: Callable[[], PolicyRef],
        *,
        engine_version: str,
        model_hash: str | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._receipts = receipts
        self._default_policy = default_policy
        self._engine = (engine_version, model_hash)
        self._clock = clock
        self._rated: dict[str, float] = {}

    async def record(
        self,
        error: Exception | asyncio.CancelledError,
        request_id: str,
        operation: str,
        identify: Callable[[], Caller],
        *,
        code: str = "internal_error",
    ) -> None:
        """Records a request that ended with `error`, unless it has a receipt; a GatewayError then names it.

        Unauthenticated requests leave no receipt; neither does any request while the log is unwritable. Of requests
        beyond the rate of their key, one in a minute does, or a loop would fill the disk. `code` describes an error
        that is no GatewayError.
        """
        if isinstance(error, GatewayError):
            # Identifying a caller with a wrong key again would count as another guess.
            if error.receipt is not None or isinstance(error, Unauthorized):
                return
            code = error.code
        try:
            owner = identify().key_id
            if code != "rate_limited" or self._is_due(owner):
                receipt = await self._receipts.append(self._draft(error, request_id, operation), owner)
                is_cancelled = isinstance(error, asyncio.CancelledError)
                outcome = OutcomeDraft("cancelled") if is_cancelled else OutcomeDraft("refused", code=code)
                self._receipts.append_outcome(request_id, outcome, owner)
                if isinstance(error, GatewayError):
                    error.receipt = receipt.ref
        except GatewayError:
            return

    def _draft(self, error: BaseException, request_id: str, operation: str) -> ReceiptDraft:
        refused = error.refused if isinstance(error, GatewayError) else None
        version, model_hash = self._engine
        return ReceiptDraft(
            request_id=request_id,
            operation=operation,
            policy=refused.policy if refused else self._default_policy(),
            engine_version=version,
            model_hash=model_hash,
            route=RouteDecision.BLOCKED.value,
            risk_level=(refused.risk if refused else RiskLevel.NONE).value,
            entity_counts=refused.entity_counts if refused else {},
            transformation_counts={},
            tokens_input=refused.tokens if refused else 0,
            tokens_external=0,
            protected_digest=_NOTHING,
        )

    def _is_due(self, key_id: str) -> bool:
        now = self._clock()
        if now - self._rated.get(key_id, -_RATE_SECONDS) < _RATE_SECONDS:
            return False
        if len(self._rated) >= _MOST_KEYS:
            self._rated.clear()
        self._rated[key_id] = now
        return True
