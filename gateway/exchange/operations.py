"""The native operations: analyze, explain, protect, reconstruct, shard. They involve neither a wire nor an upstream."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from gateway.assessment import Assessment
from gateway.corrections.lists import Corrections
from gateway.errors import GatewayError
from gateway.exchange.protect import Protection
from gateway.exchange.records import Records, described
from gateway.http.strict_json import dump
from gateway.ids import current_request_id
from gateway.models import Action, Caller, Entity, PrivacyMode, SessionGrant, Transformation
from gateway.placeholders import Placeholders, RestoreScope, urls_with_placeholders
from gateway.policy.document import SessionDocument
from gateway.policy.model import Policy
from gateway.protection.applied_corrections import Applied, applied
from gateway.protection.explanation import Explanation, explain
from gateway.protection.protector import Protected
from gateway.receipts.records import Receipt, attach_to_errors
from gateway.sharding.splitter import MOST_COMPARTMENTS, Sharded, shard
from gateway.text.fields import MessageField, TextField
from gateway.text.token_estimate import estimate
from gateway.vault import OpenSession, Vault
from gateway.wires.base import Body, Conversation


@dataclass(frozen=True, slots=True)
class Question:
    """A text to analyze, protect or shard, with the caller's wishes."""

    text: str
    task: str | None = None
    policy_id: str | None = None
    mode: PrivacyMode | None = None
    allow: Any = field(default=None, repr=False)
    deny: Any = field(default=None, repr=False)

    def conversation(self) -> Conversation:
        """Returns the text as a conversation of one block; protecting it changes `body["text"]`."""
        body: Body = {"text": self.text}
        blocks: list[list[MessageField]] = [[TextField(body, "text", self.text)]]
        wishes = {"task": self.task, "policy_id": self.policy_id, "allow": self.allow, "deny": self.deny}
        return Conversation(body, "", False, blocks, "", mode=self.mode, **wishes)


@dataclass(frozen=True, slots=True)
class Analysis:
    """The entities of a text, sorted by start, and what the policy would do with each."""

    assessment: Assessment
    entities: Sequence[tuple[Entity, Action]]
    policy: Policy
    applied: Applied | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformed:
    """A text that was protected in a session, whose credentials restore it."""

    session: SessionGrant
    assessment: Assessment
    policy: Policy
    receipt: Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedText(Transformed):
    """A protected text."""

    text: str
    transformations: Sequence[Transformation]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardedText(Transformed):
    """A text in protected compartments."""

    sharded: Sharded


@dataclass(frozen=True, slots=True)
class Reconstruction:
    """A restored text or JSON value; `unresolved` are the placeholders that were left unchanged."""

    content: Any
    resolved: int
    unresolved: Sequence[str]
    receipt: Receipt


@dataclass(frozen=True, slots=True)
class ExplainedText:
    """The findings in a text, with their reasons."""

    explanation: Explanation
    policy: Policy


class Operations:
    """Runs the native operations with the same protection as chat."""

    def __init__(self, protection: Protection, records: Records, vault: Vault, *, bounds: SessionDocument) -> None:
        self._protection = protection
        self._records = records
        self._vault = vault
        self._bounds = bounds

    async def analyze(self, question: Question, caller: Caller) -> Analysis:
        """Finds and assesses the entities of a text. Creates no session and stores nothing."""
        protector, conversation = self._protection.protector, question.conversation()
        policy = self._protection.policy(question.policy_id, caller)
        corrections = self._protection.corrections(conversation, caller)

        def job() -> Analysis:
            (found,) = protector.find(
                conversation.blocks,
                policy,
                conversation.privacy_mode,
                block=False,
                remember_for=caller.remembered_as,
                corrections=corrections,
            )
            (spans,) = found.spans
            protected = Protected(list(spans), list(found.kept), tokens=(estimate(question.text), 0))
            assessment = self._protection.assess(protected, [question.text], conversation, policy)
            entities = [(span.entity(), span.action) for span in spans]
            entities += [(entity, Action.KEEP) for entity in found.kept]
            entities.sort(key=lambda each: (each[0].start, -each[0].end))
            had_effect = applied(corrections, conversation.blocks, [found]) if corrections is not None else None
            return Analysis(assessment, entities, policy, had_effect)

        with described(conversation, policy, protector.types):
            return await self._protection.work(job, caller, [question.text])

    async def explain(self, question: Question, caller: Caller) -> ExplainedText:
        """Says what is found in a text, and why. Creates no session and stores nothing."""
        protector, conversation = self._protection.protector, question.conversation()
        policy = self._protection.policy(question.policy_id, caller)
        mode, owner = conversation.privacy_mode, caller.remembered_as
        corrections = self._protection.corrections(conversation, caller)
        job = partial(explain, protector, question.text, policy, mode, remember_for=owner, corrections=corrections)
        with described(conversation, policy, protector.types):
            return ExplainedText(await self._protection.work(job, caller, [question.text]), policy)

    async def protect(
        self,
        question: Question,
        caller: Caller,
        *,
        ttl_seconds: int | None = None,
        credentials: tuple[str, str] | None = None,
    ) -> ProtectedText:
        """Protects a text in a new session, or in the one that `credentials` (id and token) open.

        A new session lasts `ttl_seconds`, one that is continued at least so long from now.

        Raises Forbidden where the policy blocks, NotFound and Gone for the session.
        """
        policy = self._protection.policy(question.policy_id, caller)
        conversation = question.conversation()
        corrections = self._protection.corrections(conversation, caller)
        session = await self._session(policy, caller, ttl_seconds, credentials)
        placeholders = Placeholders(session.placeholder_key, session.known)

        hide = partial(self._protection.hide, conversation, policy, placeholders, caller, advice=True)
        job = partial(hide, corrections=corrections)
        with described(conversation, policy, self._protection.protector.types):
            protected, assessment = await self._work(job, conversation, caller)
        text: str = conversation.body["text"]
        receipt = await self._records.receipt(
            current_request_id(), "protect", caller, policy, text.encode(), protected, assessment, crossed=True
        )
        with attach_to_errors(receipt):
            await self._vault.remember(session, placeholders.fresh(), protected.urls)
            grant = session.grant
            if credentials is not None and ttl_seconds is not None:
                ttl = _ttl(policy.session.within(self._bounds), ttl_seconds)
                grant = await self._vault.extend(*credentials, caller, ttl)
        return ProtectedText(
            text=text,
            transformations=protected.transformations,
            session=grant,
            assessment=assessment,
            policy=policy,
            receipt=receipt,
        )

    async def _work[T](
        self, job: Callable[[], tuple[Protected, T]], conversation: Conversation, caller: Caller
    ) -> tuple[Protected, T]:
        """Has a worker protect a text, and remembers for its caller what was found."""
        recent, request_id = self._protection.recent, current_request_id()
        try:
            protected, done = await self._protection.work(job, caller, conversation.texts())
        except GatewayError as error:
            recent.refuse(caller, request_id, error, conversation.body)
            raise
        recent.add(caller, request_id, protected, conversation.body)
        return protected, done

    async def reconstruct(self, content: Any, credentials: tuple[str, str], caller: Caller) -> Reconstruction:
        """Restores the session's own placeholders in a text or a JSON value, by the rules of the default policy."""
        policy = self._protection.policy(None, caller)
        session = await self._vault.open(*credentials, caller)
        placeholders = Placeholders(session.placeholder_key, session.known)
        rules = RestoreScope(policy.restore.urls, session.urls)
        restored = placeholders.restore_tree(content, rules=rules)
        receipt = await self._records.receipt(
            current_request_id(), "reconstruct", caller, policy, dump(content), crossed=False
        )
        unresolved = tuple(dict.fromkeys((*restored.withheld, *restored.unknown)))
        return Reconstruction(restored.value, restored.resolved, unresolved, receipt)

    async def shard(
        self,
        question: Question,
        caller: Caller,
        *,
        ttl_seconds: int | None = None,
        max_compartments: int | None = None,
    ) -> ShardedText:
        """Divides a text into protected compartments in a new session. A value found anywhere is hidden in all.

        Raises Unprocessable for a text that cannot be divided within the bounds, Forbidden where the policy blocks.
        """
        policy = self._protection.policy(question.policy_id, caller)
        conversation = question.conversation()
        corrections = self._protection.corrections(conversation, caller)
        session = await self._session(policy, caller, ttl_seconds)
        most = MOST_COMPARTMENTS if max_compartments is None else max_compartments
        job = partial(self._divide, conversation, policy, caller, session.placeholder_key, most, corrections)
        with described(conversation, policy, self._protection.protector.types):
            try:
                sharded, protected, assessment = await self._protection.work(job, caller, [question.text])
            except GatewayError as error:
                self._protection.recent.refuse(caller, current_request_id(), error, conversation.body)
                raise
        content = dump([each.protected_text for each in sharded.compartments])
        receipt = await self._records.receipt(
            current_request_id(), "shard", caller, policy, content, protected, assessment, crossed=True
        )
        with attach_to_errors(receipt):
            await self._vault.remember(session, sharded.entries, protected.urls)
        return ShardedText(
            sharded=sharded, session=session.grant, assessment=assessment, policy=policy, receipt=receipt
        )

    def _divide(
        self,
        conversation: Conversation,
        policy: Policy,
        caller: Caller,
        session_key: bytes,
        max_compartments: int,
        corrections: Corrections | None,
    ) -> tuple[Sharded, Protected, Assessment]:
        """Divides and assesses a text. Blocks: a job for `work`."""
        mode, protector, (text,) = conversation.privacy_mode, self._protection.protector, conversation.texts()
        (found,) = protector.find(
            conversation.blocks, policy, mode, remember_for=caller.remembered_as, corrections=corrections
        )
        (spans,) = found.spans
        rules = partial(shard, types=protector.types, policy=policy, mode=mode, session_key=session_key)
        sharded = rules(text, spans, found.kept, max_compartments=max_compartments)
        urls = [urls_with_placeholders(each.protected_text) for each in sharded.compartments]
        tokens = estimate(text), sum(each.tokens for each in sharded.compartments)
        protected = Protected(list(spans), list(found.kept), urls=frozenset().union(*urls), tokens=tokens)
        protected.values = dict.fromkeys(text[span.start : span.end] for span in spans)
        if corrections is not None:
            protected.applied = applied(corrections, conversation.blocks, [found])
            protected.own_types = protector.own_types(policy, corrections)
        return sharded, protected, self._protection.assess(protected, [text], conversation, policy)

    async def extend(self, credentials: tuple[str, str], caller: Caller, ttl_seconds: int | None) -> SessionGrant:
        """Lets a session last at least `ttl_seconds` from now, by the rules of the default policy."""
        rules = self._protection.policy(None, caller).session.within(self._bounds)
        return await self._vault.extend(*credentials, caller, _ttl(rules, ttl_seconds))

    async def _session(
        self, policy: Policy, caller: Caller, ttl_seconds: int | None, credentials: tuple[str, str] | None = None
    ) -> OpenSession:
        """Opens the session of `credentials`, or begins one."""
        if credentials is not None:
            return await self._vault.open(*credentials, caller)
        rules = policy.session.within(self._bounds)
        return self._vault.begin(caller, _ttl(rules, ttl_seconds), max_values=rules.max_values)


def _ttl(rules: SessionDocument, wanted: int | None) -> int:
    return min(wanted or rules.default_ttl_seconds, rules.max_ttl_seconds)
