"""Keeps the values of each batch in the vault until its results are fetched, and restores what is said of batches.

Id and token of a batch's session are derived from the credential that its call was sent with, the upstream, and the
name that the provider gave the batch or file. So nothing in the store leads from one to the other, nothing opens the
values without the credential, and to another caller the batch is unknown.
"""

import hmac
from contextlib import suppress
from datetime import UTC, datetime

from gateway.errors import BadRequest, Forbidden, GatewayError, Gone, NotFound
from gateway.exchange.batch_access import BatchAccess
from gateway.exchange.messages import AnswerEnd
from gateway.exchange.state import Exchange
from gateway.exchange.streaming.result_lines import ResultLines
from gateway.http.strict_json import dump, parse_object
from gateway.placeholders import Placeholders, RestoreScope, conversation_key
from gateway.policy.registry import PolicyRegistry
from gateway.vault import OpenSession, Vault
from gateway.wires.base import Body
from gateway.wires.batches import BatchWire, is_id
from gateway.wires.members import objects_at

_DAY = 86400


class Batches:
    """The batches of all callers."""

    def __init__(self, vault: Vault, installation_key: bytes) -> None:
        self._vault = vault
        self._installation_key = installation_key

    def knows(self, access: BatchAccess, provider: str, name: object) -> bool:
        """Whether a batch or file is one of the caller's that is remembered, or was until a day ago."""
        return isinstance(name, str) and self._vault.exists(_credentials(access, provider, name)[0])

    async def begin(self, exchange: Exchange, policies: PolicyRegistry) -> None:
        """Sets the placeholders of a call on a batch. Raises GatewayError for a call that must not be forwarded."""
        access, wire = _of(exchange)
        call, provider = access.call, exchange.destination.provider
        name = call.id or wire.source(exchange.parsed)
        session = await self._open(exchange, name) if name else None
        is_unknown = bool(name) and session is None
        if is_unknown and (call.kind == "start" or (access.shared and not self.knows(access, provider, name))):
            raise NotFound("This key has sent no such batch or file, or the gateway no longer remembers it.")
        known, exchange.urls = (session.known, session.urls) if session is not None else ((), frozenset())
        own = b""
        if call.kind not in {"create", "start"} and exchange.parsed:
            raise BadRequest("This call takes no body; leave it out.")
        if call.kind in {"create", "start"}:
            _check(exchange)
            seed = f"batch\n{provider}\n{name or wire.seed(exchange.parsed)}"
            own = conversation_key(self._installation_key, exchange.caller.key_id, seed)
        elif session is not None:
            with suppress(NotFound):
                exchange.policy = policies.by_hash(session.about.get("policy", ""))
        exchange.placeholders = Placeholders(own, known)
        exchange.framing = "jsonl" if call.kind == "results" else None

    async def answered(self, exchange: Exchange, status: int, body: bytes, results: ResultLines) -> AnswerEnd:
        """Remembers the batch that an answer is about, and restores what it says. Raises Unavailable.

        `results` restores those that the answer has in itself.
        """
        _, wire = _of(exchange)
        try:
            answer = parse_object(body)
        except GatewayError:
            return AnswerEnd("unreadable_answer" if status < 400 else "upstream_error", status, body=body)
        before = dump(answer)
        if status < 400:
            await self._remember(exchange, answer)
        for result in wire.results_in(answer):
            results.restore(result)
        await self._restore(exchange, answer)
        if exchange.annotated and status < 400:
            wire.localize(answer)
        if exchange.annotated:
            wire.annotate(answer, exchange.note() if status < 400 else None)
        after = dump(answer)
        outcome = "answered" if status < 400 else "upstream_error"
        verdict = results.result(status).verdict
        action = verdict.action if verdict is not None else "pass"
        return AnswerEnd(outcome, status, action=action, body=body if after == before else after, verdict=verdict)

    async def _remember(self, exchange: Exchange, answer: Body) -> None:
        """Remembers what an answer says of batches, and takes those of other callers out of a list."""
        access, wire = _of(exchange)
        provider, kind, name = exchange.destination.provider, access.call.kind, wire.name_of(answer)
        if kind in {"create", "start"} and is_id(name):
            seconds = access.hours * 3600
            await self._store(exchange, str(name), seconds, {"policy": exchange.policy.hash}, with_values=True)
        elif kind == "delete":
            await self._forget(_credentials(access, provider, access.call.id)[0])
        elif kind == "list" and access.shared and wire.listed in answer:
            answer[wire.listed] = [
                each for each in objects_at(answer, wire.listed) if self.knows(access, provider, wire.name_of(each))
            ]
        for batch in (answer, *objects_at(answer, wire.listed)):
            new = [name for name in wire.results_of(batch) if not self.knows(access, provider, name)]
            id = wire.name_of(batch)
            if not new or not is_id(id) or (session := await self._open(exchange, str(id))) is None:
                continue
            left = session.grant.expires_at - datetime.now(UTC)
            for result in new:
                await self._store(exchange, result, int(left.total_seconds()), {"same_as": str(id)})

    async def _store(
        self, exchange: Exchange, name: str, seconds: int, about: dict[str, str], *, with_values: bool = False
    ) -> None:
        """Keeps the values of an exchange under a name, or the name of what has them."""
        access, _ = _of(exchange)
        id_and_token = _credentials(access, exchange.destination.provider, name)
        known, urls = (exchange.placeholders.entries(), exchange.urls) if with_values else ((), frozenset[str]())
        most = len(known) + len(urls) + len(about)
        await self._forget(id_and_token[0])
        session = self._vault.begin(exchange.caller, max(1, seconds), max_values=most, credentials=id_and_token)
        await self._vault.remember(session, known, urls, about)

    async def _forget(self, session_id: str) -> None:
        if self._vault.exists(session_id):
            with suppress(NotFound):
                await self._vault.delete(session_id)

    async def _open(self, exchange: Exchange, name: str) -> OpenSession | None:
        """Returns the session of a batch or file, or of the batch that a file has the results of; None if unknown."""
        access, _ = _of(exchange)
        with suppress(NotFound, Gone):
            session = await self._vault.open(
                *_credentials(access, exchange.destination.provider, name), exchange.caller
            )
            return await self._open(exchange, of) if (of := session.about.get("same_as")) else session
        return None

    async def _restore(self, exchange: Exchange, answer: Body) -> None:
        """Restores the strings of an answer, each batch in a list with its own values."""
        _, wire = _of(exchange)
        listed = objects_at(answer, wire.listed)
        for batch in listed or (answer,):
            texts = [text for text in wire.answer_texts(batch) if "[" in text.text]
            id = wire.name_of(batch)
            placeholders, urls = exchange.placeholders, exchange.urls
            if listed and texts:
                session = await self._open(exchange, str(id)) if is_id(id) else None
                known, urls = (session.known, session.urls) if session is not None else ((), frozenset())
                placeholders = Placeholders(b"", known)
            rules = RestoreScope(exchange.policy.restore.urls, urls)
            for text in texts:
                text.write(placeholders.restore(text.text, rules=rules).text)


def _check(exchange: Exchange) -> None:
    """Raises Forbidden and BadRequest if the values of a batch could not be kept until it ends."""
    access, _ = _of(exchange)
    if not access.hours:
        raise Forbidden("Batches are switched off here; the setting `batch_retention_hours` switches them on.")
    if exchange.policy.session.max_ttl_seconds < _DAY:
        message = (
            f"The policy `{exchange.policy.id}` keeps values for less than a day (`max_ttl_seconds` of its `session`), "
            "which a batch may take; send single requests, or use another policy."
        )
        raise Forbidden(message, code="blocked_by_policy")
    if not exchange.caller.identified:
        raise BadRequest("The values of a batch are kept for the sender of a credential; send one.")


def _of(exchange: Exchange) -> tuple[BatchAccess, BatchWire]:
    assert exchange.batch is not None
    assert isinstance(exchange.wire, BatchWire)
    return exchange.batch, exchange.wire


def _credentials(access: BatchAccess, provider: str, name: str) -> tuple[str, str]:
    """Returns the id and the token of the session of a batch or file."""
    place = f"{provider}\x00{name}".encode()
    identity, token = (
        hmac.digest(access.secret, purpose + place, "sha256").hex() for purpose in (b"id\x00", b"token\x00")
    )
    return f"vs_{identity[:32]}", f"vst_{token}"
