"""Protects requests: reads them, hides what is private, decides on their route and writes their receipt."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from math import ceil
from time import monotonic

from gateway.assessment import Assessment, assess
from gateway.auth.key_permissions import permitted_policy
from gateway.auth.quotas import Quotas
from gateway.corrections.given import NONE, read_given
from gateway.corrections.lists import Corrections
from gateway.corrections.stored import StoredCorrections
from gateway.errors import BadRequest, GatewayError, NotFound
from gateway.exchange.attachments import Attachments, check_decided
from gateway.exchange.batch_access import BatchAccess
from gateway.exchange.batch_lines import LARGEST_TURN, LineProtection
from gateway.exchange.batches import Batches
from gateway.exchange.destination import Destination
from gateway.exchange.earlier_answers import EarlierAnswers
from gateway.exchange.header_policy import HeadSearch
from gateway.exchange.permissions import NO_MODEL, check_call, check_form, check_opaque, refusal
from gateway.exchange.recent_findings import RecentFindings
from gateway.exchange.records import Records, described
from gateway.exchange.socket_conversations import SocketConversations
from gateway.exchange.state import Exchange
from gateway.http.strict_json import dump
from gateway.http.types import Field
from gateway.models import Caller
from gateway.placeholders import Placeholders, conversation_key
from gateway.policy.model import Policy
from gateway.policy.registry import PolicyRegistry
from gateway.protection.protector import Protected, Protector
from gateway.text.token_estimate import estimate, weigh
from gateway.wires.base import Conversation
from gateway.wires.batches import BatchWire
from gateway.workers.thread_pool import Workers


class Protection:
    """Protects requests for the chat calls of both listeners, the ASGI application and the native operations.

    `patterns` is a protector without the model of names: it takes microseconds and never mistakes a word for a name.
    `local_available` tells whether any surface is inside the trust boundary.
    """

    def __init__(
        self,
        *,
        protector: Protector,
        patterns: Protector,
        policies: PolicyRegistry,
        records: Records,
        workers: Workers,
        quotas: Quotas,
        earlier: EarlierAnswers,
        corrections: StoredCorrections,
        recent: RecentFindings,
        sockets: SocketConversations,
        batches: Batches,
        attachments: Attachments,
        installation_key: bytes,
        default_policy: str,
        local_available: bool,
    ) -> None:
        self.protector = protector
        self.recent = recent
        self._patterns = patterns
        self._policies = policies
        self._records = records
        self._workers = workers
        self._quotas = quotas
        self._earlier = earlier
        self._stored_corrections = corrections
        self._sockets = sockets
        self._batches = batches
        self._attachments = attachments
        self._installation_key = installation_key
        self._default_policy = default_policy
        self._local_available = local_available

    async def protect(self, exchange: Exchange) -> None:
        """Protects a request for its destination. Its receipt is durable on return; nothing may leave before.

        Raises GatewayError for everything that must not be forwarded.
        """
        try:
            await self._protect(exchange)
        except GatewayError as error:
            self.recent.refuse(exchange.caller, exchange.request_id, error, exchange.parsed)
            # Nothing has found the name of the model to be free of private text.
            error.parties = {name: value for name, value in exchange.parties.items() if name != "model"}
            raise

    async def _protect(self, exchange: Exchange) -> None:
        conversation = self._read(exchange)
        if exchange.batch is not None:
            await self._batches.begin(exchange, self._policies)
        else:
            self._begin_session(exchange, conversation)
        with described(conversation, exchange.policy, self.protector.types):
            check_form(conversation, exchange.policy)
            if exchange.batch is not None:
                await self._hide_batch(exchange, exchange.batch, conversation)
            else:
                files = await self._attachments.decide(conversation, exchange.policy, exchange.caller)
                await self._hide(exchange, conversation)
                exchange.files = [each.recorded() for each in files]
                exchange.wire.set_model(exchange.parsed, exchange.destination.model)
                exchange.body = b"" if conversation.only_reads else dump(exchange.parsed)
                check_opaque((entry.value for entry in exchange.placeholders.entries()), exchange.body)
        self.recent.add(exchange.caller, exchange.request_id, exchange.protected, exchange.parsed)
        exchange.parsed = {}
        await self._write_receipt(exchange)

    def _read(self, exchange: Exchange) -> Conversation:
        """Reads the texts and wishes of a request, and checks that its caller may send it."""
        wire, query = exchange.wire, exchange.destination.query
        conversation = wire.read(exchange.parsed, f"{exchange.path}?{query}" if query else exchange.path)
        if exchange.connection:
            # Every answer on a WebSocket is a stream of messages.
            conversation.stream, conversation.framing = True, "json-seq"
        if conversation.stream and not (exchange.may_stream and wire.stream):
            message = "Chat completions are streamed with `SVC_STREAMING=true` only; set it, or send `stream` false."
            raise BadRequest(message, code="streaming_not_supported", param="stream")
        if exchange.batch is None or "model" in exchange.parsed:
            check_call(wire, exchange.parsed, exchange.caller, exchange.destination, exchange.path)
        param = "svc_policy" if exchange.operation == "chat" else "policy_id"
        exchange.policy = self.policy(conversation.policy_id, exchange.caller, param=param)
        exchange.corrections = self.corrections(conversation, exchange.caller)
        exchange.framing = conversation.framing if conversation.stream else None
        exchange.resumable = conversation.resumable
        return conversation

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

    def corrections(self, conversation: Conversation, caller: Caller) -> Corrections | None:
        """Returns the corrections that hold for a request, None if there are none.

        Its own need a gateway key; without one they are ignored. Raises Unprocessable for unusable ones, and
        Unavailable if stored ones cannot be trusted.
        """
        given = read_given(conversation.allow, conversation.deny) if caller.has_key else NONE
        lists = self._stored_corrections.of(caller.key_id)
        return Corrections(given, lists) if given or lists else None

    def _begin_session(self, exchange: Exchange, conversation: Conversation) -> None:
        """Derives the placeholders of the conversation, with those of the earlier answer that it continues."""
        earlier = self._sockets.get(exchange.connection, conversation.continues)
        if earlier is None:
            earlier = self._earlier.get(
                exchange.caller, exchange.destination.provider, conversation.continues, needed=conversation.replays
            )
        key, caller, before_seed = self._installation_key, exchange.caller.key_id, conversation.before_seed
        if earlier.key:
            before_seed = 0
        opening = conversation_key(key, caller, conversation.opening) if before_seed else b""
        own = earlier.key or conversation_key(key, caller, conversation.seed)
        if earlier.key or conversation.seed != conversation.opening:
            # A conversation without a text of a user begins like others do.
            exchange.session_key = own
        exchange.placeholders = Placeholders(own, earlier.known, opening_blocks=before_seed, opening_key=opening)
        exchange.urls = earlier.urls

    async def _hide(self, exchange: Exchange, conversation: Conversation) -> None:
        """Hides private values in the texts, and searches the head of the call for them."""
        policy, destination, placeholders = exchange.policy, exchange.destination, exchange.placeholders
        corrections = exchange.corrections
        denials = corrections.denials() if corrections is not None else None
        head = HeadSearch(policy, self.protector, self._patterns, exchange.caller.remembered_as, denials)

        def job() -> tuple[Protected, Assessment, list[Field]]:
            # Names of models are forwarded unchanged.
            if not all(head.is_clean(name, self._patterns) for name in {destination.model, *conversation.names}):
                raise BadRequest(NO_MODEL, param="model")
            protected, assessment = self.hide(
                conversation, policy, placeholders, exchange.caller, advice=False, corrections=corrections
            )
            hidden = [entry.value for entry in placeholders.entries()]
            return protected, assessment, head.forwarded_headers(destination, hidden, conversation.privacy_mode)

        found = await self.work(job, exchange.caller, conversation.texts(), destination)
        exchange.protected, exchange.assessment, exchange.headers = found
        exchange.urls |= exchange.protected.urls

    async def _hide_batch(self, exchange: Exchange, access: BatchAccess, head: Conversation) -> None:
        """Hides private values in what a call on a batch has, each request of a new batch on its own."""
        wire, body = exchange.wire, exchange.parsed
        assert isinstance(wire, BatchWire)
        policy = exchange.policy
        names = HeadSearch(policy, self.protector, self._patterns, exchange.caller.remembered_as)
        most = min(policy.session.max_values, access.values)
        is_name = partial(names.is_clean, search=self._patterns)
        lines = LineProtection(exchange, head, hide=self.hide, is_name=is_name, most=most)
        sent: list[bytes] = []
        if access.call.kind == "create":
            requests = wire.requests(body)
            done = [b""]
            while done:
                job = partial(lines.turn, requests)
                done, size = await self._workers.run(job, key=exchange.caller.key_id, cost=LARGEST_TURN)
                self._quotas.charge(exchange.caller, characters=size, requests=len(done) - (not sent and bool(done)))
                sent += done
        await self._hide(exchange, head)
        lines.totals.add(exchange.protected, exchange.assessment)
        exchange.protected, exchange.assessment = lines.totals.protected, lines.totals.assessment
        if head.only_reads:
            exchange.body = b""
            return
        exchange.body, kind = wire.assembled(body, sent)
        if kind is not None:
            exchange.headers = [field for field in exchange.headers if field[0] != kind[0]] + [kind]

    async def forwarded_headers(self, exchange: Exchange) -> list[Field]:
        """Returns the header fields of a call without text. Raises BadRequest."""
        exchange.policy = self.policy(None, exchange.caller)
        head = HeadSearch(exchange.policy, self.protector, self._patterns, exchange.caller.remembered_as)
        job = partial(head.forwarded_headers, exchange.destination)
        return await self.work(job, exchange.caller, destination=exchange.destination)

    async def work[T](
        self,
        job: Callable[[], T],
        caller: Caller,
        texts: Sequence[str] = (),
        destination: Destination | None = None,
    ) -> T:
        """Has a worker do a job on texts, which count against the caller's quotas, and on the head of a call."""
        size = sum(map(len, texts))
        self._quotas.charge(caller, characters=size)
        head = destination.head_size if destination is not None else 0
        return await self._workers.run(job, key=caller.key_id, cost=size + head)

    def hide(
        self,
        conversation: Conversation,
        policy: Policy,
        placeholders: Placeholders,
        caller: Caller,
        *,
        advice: bool,
        corrections: Corrections | None = None,
    ) -> tuple[Protected, Assessment]:
        """Protects the fields of a conversation in place, and assesses it. Blocks: a job for `work`."""
        check_decided(conversation)
        texts = conversation.texts()
        protected = self.protector.protect(
            conversation.blocks,
            policy,
            conversation.privacy_mode,
            placeholders,
            remember_for=caller.remembered_as,
            corrections=corrections,
        )
        assessment = self.assess(protected, texts, conversation, policy, advice=advice)
        if len(placeholders):
            after = [text for block in conversation.blocks for field in block for text in field.protected()]
            size, _ = protected.tokens
            protected.tokens = size, _size_after(size, after, protected, placeholders)
        return protected, assessment

    def assess(
        self,
        protected: Protected,
        texts: Sequence[str],
        conversation: Conversation,
        policy: Policy,
        *,
        advice: bool = True,
    ) -> Assessment:
        """Rates the risk of a conversation, whose texts were these, and decides on its route."""
        return assess(
            protected.hidden,
            kept=protected.kept,
            texts=texts,
            types=self.protector.types,
            task=conversation.task,
            policy=policy,
            mode=conversation.privacy_mode,
            local_available=self._local_available,
            attachments=conversation.attachments,
            tokens=protected.tokens[0],
            advice=advice,
        )

    async def _write_receipt(self, exchange: Exchange) -> None:
        """Writes the receipt. Raises Forbidden, which names it, if the route does not allow the destination."""
        refused = refusal(exchange.assessment.route, exchange.destination)
        try:
            exchange.receipt = await self._records.receipt(
                exchange.request_id,
                exchange.operation,
                exchange.caller,
                exchange.policy,
                exchange.body,
                exchange.protected,
                exchange.assessment,
                crossed=refused is None,
                asked=exchange.parties,
                files=exchange.files,
            )
            exchange.released = monotonic()
        except asyncio.CancelledError:
            # The receipt is queued already and will be written.
            self._records.end(exchange, "cancelled")
            raise
        if refused is not None:
            self._records.end(exchange, "refused", code=refused.code)
            refused.receipt = exchange.receipt.ref
            raise refused


def _size_after(size: int, after: Sequence[str], protected: Protected, placeholders: Placeholders) -> int:
    """Estimates the tokens of the protected texts, from the source's estimate if only placeholders were inserted."""
    minted = [each.placeholder for each in protected.transformations if each.placeholder is not None]
    known = [placeholders.get(placeholder) for placeholder in minted]
    values = [entry.value for entry in known if entry is not None]
    if len(values) < len(protected.transformations):
        return sum(map(estimate, after))
    return max(1, ceil(size - weigh(" ".join(values)) + weigh(" ".join(minted))))
