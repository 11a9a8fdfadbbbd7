"""The path of an exchange: `open` protects the request, the caller forwards it, `close` guards and restores the answer.

Behind mitmproxy and in the ASGI application alike. The receipt is durable when `open` returns; nothing may leave
before.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256

from gateway.assessment import Assessment, Finding, assess
from gateway.auth.grants import permitted_policy
from gateway.auth.quotas import Quotas
from gateway.errors import BadRequest, BadUpstream, NotFound, UpstreamTimeout
from gateway.exchange.answers import Answers
from gateway.exchange.destination import Destination
from gateway.exchange.earlier_answers import EarlierAnswers
from gateway.exchange.header_policy import clean, forwarded_headers
from gateway.exchange.messages import StreamEnd, StreamPlan
from gateway.exchange.permissions import check_call, check_form, check_opaque, refusal
from gateway.exchange.refusals import described
from gateway.exchange.state import Exchange
from gateway.exchange.token_counts import size_after
from gateway.http.strict_json import dump
from gateway.http.types import Field
from gateway.models import Caller, RiskLevel, RouteDecision
from gateway.placeholders import Known, Placeholders, RestoreScope, conversation_key, urls_with_placeholders
from gateway.policy import Policy, PolicyRegistry
from gateway.protection.blocks import Found
from gateway.protection.protector import Protected, Protector
from gateway.protection.value_digests import ValueDigests
from gateway.receipts import OutcomeDraft, Receipt, ReceiptDraft, ReceiptLog, attach_to_errors
from gateway.sharding import Sharded, shard
from gateway.text.token_estimate import estimate
from gateway.wires import Body, Conversation, Wire
from gateway.workers.thread_pool import Workers

# Bytes. Shorter answers take a few milliseconds, less than handing them to another thread would cost.
_THREAD_THRESHOLD = 16 * 1024


class Pipeline:
    """Opens and closes exchanges. Keeps no state of any of them, but for answers that a later request may continue.

    `patterns` is a protector without the model of names: it takes microseconds and never mistakes a word for a name.
    `local_available` tells whether any surface is inside the trust boundary.
    """

    def __init__(
        self,
        *,
        protector: Protector,
        patterns: Protector,
        policies: PolicyRegistry,
        receipts: ReceiptLog,
        workers: Workers,
        quotas: Quotas,
        value_digests: ValueDigests,
        installation_key: bytes,
        default_policy: str,
        local_available: bool,
        engine_version: str,
        model_hash: str | None = None,
    ) -> None:
        self._protector = protector
        self._patterns = patterns
        self._policies = policies
        self._receipts = receipts
        self._workers = workers
        self._quotas = quotas
        self._value_digests = value_digests
        self._installation_key = installation_key
        self._default_policy = default_policy
        self._local_available = local_available
        self._engine = (engine_version, model_hash)
        self._answers = Answers(patterns, protector.types)
        self._earlier = EarlierAnswers()

    def policy(self, policy_id: str | None, caller: Caller | None = None, *, param: str = "policy_id") -> Policy:
        """Returns the policy named in the field `param`, else the default.

        Raises NotFound (`policy_not_found`); Forbidden if the caller's key does not permit it.
        """
        chosen = permitted_policy(caller, policy_id, self._default_policy, param)
        try:
            return self._policies.get(chosen)
        except NotFound as error:
            error.param = param
            raise

    async def analyze(self, conversation: Conversation, policy: Policy, caller: Caller) -> tuple[Found, Assessment]:
        """Finds what the policy would hide in a conversation of one block, and assesses it. Changes nothing."""

        def job() -> tuple[Found, Assessment]:
            mode = conversation.privacy_mode
            (found,) = self._protector.find(
                conversation.blocks, policy, mode, block=False, remember_for=caller.remembered_as
            )
            spans = [span for spans in found.spans for span in spans]
            texts = conversation.texts()
            size = sum(map(estimate, texts))
            return found, self._assess(spans, found.kept, texts, conversation, policy, size, advice=True)

        with described(conversation, policy, self._protector.types):
            return await self._work(job, caller, conversation)

    async def shard(
        self, text: str, conversation: Conversation, policy: Policy, caller: Caller, session_key: bytes, **bounds: int
    ) -> tuple[Sharded, Protected, Assessment]:
        """Divides the text of a conversation into protected compartments. A value found anywhere is hidden in all."""

        def job() -> tuple[Sharded, Protected, Assessment]:
            mode = conversation.privacy_mode
            (found,) = self._protector.find(conversation.blocks, policy, mode, remember_for=caller.remembered_as)
            spans = found.spans[0]
            sharded = shard(
                text,
                spans,
                found.kept,
                types=self._protector.types,
                policy=policy,
                mode=mode,
                session_key=session_key,
                **bounds,
            )
            size = estimate(text)
            assessment = self._assess(spans, found.kept, [text], conversation, policy, size, advice=True)
            urls = frozenset[str]().union(
                *(urls_with_placeholders(each.protected_text) for each in sharded.compartments)
            )
            external = sum(each.tokens for each in sharded.compartments)
            protected = Protected(list(spans), list(found.kept), urls=urls, tokens=(size, external))
            protected.values = dict.fromkeys(text[span.start : span.end] for span in spans)
            return sharded, protected, assessment

        with described(conversation, policy, self._protector.types):
            return await self._work(job, caller, conversation)

    async def protect(
        self, conversation: Conversation, policy: Policy, placeholders: Placeholders, caller: Caller
    ) -> tuple[Protected, Assessment]:
        """Protects the fields of a conversation in place."""

        def job() -> tuple[Protected, Assessment]:
            return self._protect(conversation, policy, placeholders, caller, advice=True)

        with described(conversation, policy, self._protector.types):
            return await self._work(job, caller, conversation)

    async def forwarded_headers(self, destination: Destination, caller: Caller) -> list[Field]:
        """Returns the header fields of a call without text. Raises BadRequest."""
        policy = self.policy(None, caller)

        def job() -> list[Field]:
            return forwarded_headers(
                destination, self._protector, policy, patterns=self._patterns, remember_for=caller.remembered_as
            )

        return await self._work(job, caller, destination=destination)

    async def _work[T](
        self,
        job: Callable[[], T],
        caller: Caller,
        conversation: Conversation | None = None,
        destination: Destination | None = None,
    ) -> T:
        """Has a worker do a job on texts, which count against the caller's quotas, and on the head of a call."""
        size = sum(map(len, conversation.texts())) if conversation is not None else 0
        self._quotas.charge(caller, characters=size)
        head = 0
        if destination is not None:
            head = len(destination.path) + len(destination.query) + sum(len(value) for _, value in destination.fields)
        return await self._workers.run(job, key=caller.key_id, cost=size + head)

    def _protect(
        self, conversation: Conversation, policy: Policy, placeholders: Placeholders, caller: Caller, *, advice: bool
    ) -> tuple[Protected, Assessment]:
        texts = conversation.texts()
        protected = self._protector.protect(
            conversation.blocks, policy, conversation.privacy_mode, placeholders, remember_for=caller.remembered_as
        )
        size, _ = protected.tokens
        assessment = self._assess(protected.hidden, protected.kept, texts, conversation, policy, size, advice=advice)
        if len(placeholders):
            after = [text for block in conversation.blocks for field in block for text in field.protected()]
            protected.tokens = size, size_after(size, after, protected, placeholders)
        return protected, assessment

    def _assess(
        self,
        hidden: Sequence[Finding],
        kept: Sequence[Finding],
        texts: Sequence[str],
        conversation: Conversation,
        policy: Policy,
        size: int,
        *,
        advice: bool,
    ) -> Assessment:
        return assess(
            hidden,
            kept=kept,
            texts=texts,
            types=self._protector.types,
            task=conversation.task,
            policy=policy,
            mode=conversation.privacy_mode,
            local_available=self._local_available,
            attachments=conversation.attachments,
            tokens=size,
            advice=advice,
        )

    async def open(
        self,
        wire: Wire,
        body: Body,
        caller: Caller,
        destination: Destination,
        *,
        request_id: str,
        operation: str = "chat",
        source: bytes | None = None,
        path: str = "",
        streams: bool = False,
        annotated: bool = False,
    ) -> Exchange:
        """Protects a parsed request in place and returns it as an exchange; its receipt is durable on return.

        `source` is the request as received; pass it where an operator may edit the request. `path` is that
        of the call. `streams` tells whether the answer may be a stream, `annotated` whether the client gets the
        gateway's `svc` member with it.

        Raises GatewayError for everything that must not be forwarded.
        """
        conversation = wire.read(body, f"{path}?{destination.query}" if destination.query else path)
        if conversation.stream and not (streams and wire.stream):
            message = "Streaming is off; send `stream` false, or have the operator switch on the setting `streaming`."
            raise BadRequest(message, code="streaming_not_supported", param="stream")
        check_call(wire, body, caller, destination, path)
        param = "svc_policy" if operation == "chat" else "policy_id"
        policy = self.policy(conversation.policy_id, caller, param=param)
        mode = conversation.privacy_mode
        continues, replays = conversation.continues, conversation.replays
        earlier = self._earlier.get(caller, destination.provider, continues, needed=replays)
        placeholders = self._placeholders(conversation, caller, earlier.known)
        memory = caller.remembered_as

        def job() -> tuple[Protected, Assessment, list[Field]]:
            # The model's name is forwarded unchanged.
            if not clean(destination.model, self._patterns, policy, remember_for=memory):
                raise BadRequest("`model` is not the name of a model.", param="model")
            protected, assessment = self._protect(conversation, policy, placeholders, caller, advice=False)
            hidden = [entry.value for entry in placeholders.entries()]
            headers = forwarded_headers(
                destination, self._protector, policy, mode, hidden, patterns=self._patterns, remember_for=memory
            )
            return protected, assessment, headers

        with described(conversation, policy, self._protector.types):
            check_form(conversation, policy)
            protected, assessment, headers = await self._work(job, caller, conversation, destination)
            wire.set_model(body, destination.model)
            crossing = b"" if conversation.only_reads else dump(body)
            check_opaque(placeholders, crossing)
        refused = refusal(assessment.route, destination)
        try:
            receipt = await self.record(
                request_id, operation, caller, policy, crossing, protected, assessment, crossed=refused is None
            )
        except asyncio.CancelledError:
            # What is queued is written all the same.
            self._receipts.append_outcome(request_id, OutcomeDraft("cancelled"), caller.key_id)
            raise
        exchange = Exchange(
            request_id,
            caller,
            wire,
            destination,
            policy,
            mode,
            assessment,
            crossing,
            headers,
            receipt,
            protected,
            placeholders,
            RestoreScope(policy.restore.urls, protected.urls | earlier.urls),
            source=source,
            path=path,
            framing=conversation.framing if conversation.stream else None,
            resumable=conversation.resumable,
            annotated=annotated,
        )
        if refused is not None:
            self._finish(exchange, exchange.outcome("refused", code=refused.code))
            refused.receipt = receipt.ref
            raise refused
        return exchange

    def _placeholders(self, conversation: Conversation, caller: Caller, known: Iterable[Known] = ()) -> Placeholders:
        key, before_seed = self._installation_key, conversation.before_seed
        opening = conversation_key(key, caller.key_id, conversation.opening) if before_seed else b""
        own = conversation_key(key, caller.key_id, conversation.seed)
        return Placeholders(own, known, opening_blocks=before_seed, opening_key=opening)

    async def record(
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
    ) -> Receipt:
        """Writes the receipt of an operation, durable on return. `content` is digested, never kept."""
        protected = protected or Protected()
        draft = ReceiptDraft(
            request_id=request_id,
            operation=operation,
            policy=policy.ref,
            engine_version=self._engine[0],
            model_hash=self._engine[1],
            route=(assessment.route.decision if assessment else RouteDecision.DIRECT).value,
            risk_level=(assessment.risk.level if assessment else RiskLevel.NONE).value,
            entity_counts=protected.counts(),
            transformation_counts=protected.actions(),
            tokens_input=protected.tokens[0],
            tokens_external=protected.tokens[1] if crossed else 0,
            protected_digest=sha256(content).hexdigest(),
        )
        digests = partial(self._value_digests.digests, tuple(protected.values))
        return await self._receipts.append(draft, caller.key_id, digests)

    def stream_plan(self, exchange: Exchange) -> StreamPlan:
        """Returns what a listener needs to restore a streamed answer on the fly."""
        return self._answers.plan(exchange)

    async def end(self, exchange: Exchange, end: StreamEnd) -> None:
        """Records the outcome of a streamed answer, after the guard's last look at all of it."""
        if sum(len(text.text) for text in end.texts) > _THREAD_THRESHOLD:
            await asyncio.to_thread(self._answers.review, exchange, end)
        else:
            self._answers.review(exchange, end)
        self._remember(exchange, end.ids)
        self._finish(exchange, exchange.outcome(end.outcome, end.status, end.tokens, sent=True))

    async def close(self, exchange: Exchange, status: int, body: bytes) -> bytes:
        """Guards the upstream's answer, restores it for the client, and records the outcome.

        An answer that is to get the gateway's `svc` member and is no JSON object raises BadUpstream
        (`upstream_invalid`). Otherwise an unreadable answer is returned unchanged, including its placeholders.
        """
        if len(body) > _THREAD_THRESHOLD:
            answer = await asyncio.to_thread(self._answers.restore, exchange, status, body)
        else:
            answer = self._answers.restore(exchange, status, body)
        self._remember(exchange, answer.ids)
        self._finish(exchange, exchange.outcome(answer.outcome, status, answer.tokens, sent=True))
        if exchange.annotated and answer.outcome == "unreadable_answer":
            raise BadUpstream("The upstream's answer is not a JSON object.", code="upstream_invalid")
        return answer.body

    def answered_by(self, caller: Caller, name: str) -> str:
        """Returns the provider of an earlier answer, empty if it is not remembered."""
        return self._earlier.provider(caller, name)

    def _remember(self, exchange: Exchange, names: Sequence[str]) -> None:
        if exchange.resumable and names:
            provider, known = exchange.destination.provider, exchange.placeholders.entries()
            self._earlier.remember(exchange.caller, provider, names, known, exchange.scope.source_urls)

    @contextmanager
    def answering(self, exchange: Exchange) -> Iterator[None]:
        """Records the exchange as failed if the surface or the closing fails, and names its receipt in the error."""
        with attach_to_errors(exchange.receipt):
            try:
                yield
            except BaseException as error:
                sent = isinstance(error, BadUpstream | UpstreamTimeout) and error.code != BadUpstream.default_code
                self.fail(exchange, "failed", sent=sent)
                raise

    def fail(self, exchange: Exchange, outcome: str, *, sent: bool = False) -> None:
        """Records that an opened exchange got no answer, and whether it was sent. Safe to call twice."""
        self._finish(exchange, exchange.outcome(outcome, sent=sent))

    def _finish(self, exchange: Exchange, draft: OutcomeDraft) -> None:
        if not exchange.closed:
            exchange.closed = True
            self._receipts.append_outcome(exchange.request_id, draft, exchange.caller.key_id)
