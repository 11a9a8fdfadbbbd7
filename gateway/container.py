"""The composition root: builds every part from the settings, starts and stops them together, and knows who calls whom.

Both entrances ask it the same things: who is this, where may it go, what may cross.
"""

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from hashlib import sha256
from types import TracebackType
from typing import Any, Self

from gateway.api.error_handlers import unknown_path
from gateway.auth.api_keys import KeyRing
from gateway.auth.rate_limit import RateLimiter
from gateway.concurrency.thread_pool import Workers
from gateway.config.installation_key import installation_key
from gateway.config.settings import Settings
from gateway.detection import Detector
from gateway.detection.engine_factory import open_engines
from gateway.detection.engines import Finder
from gateway.errors import NotFound, Unauthorized
from gateway.http.strict_json import dump, parse_object
from gateway.http.types import Field
from gateway.ids import new_request_id
from gateway.models import Caller, Scope, Trust
from gateway.pipeline.exchange import Destination, Exchange
from gateway.pipeline.header_policy import CREDENTIALS, Envelope
from gateway.pipeline.operations import Operations, Question
from gateway.pipeline.pipeline import Pipeline
from gateway.placeholders import prepare
from gateway.policy import PolicyRegistry, SessionRules, SqlitePolicies
from gateway.protection.protector import Protector
from gateway.receipts import Check, ReceiptLog, Verification
from gateway.receipts.key_loading import signer_of
from gateway.receipts.queries import has_records
from gateway.store import Store
from gateway.surfaces import Surface, SurfaceRegistry, UpstreamConfig, UpstreamSurface
from gateway.vault import Vault
from gateway.wires import Body, Wire, Wires

_PURGE_SECONDS = 60.0
# Between the words of a credential, and the names and values of cookies.
_PARTS = re.compile(r"[\s;=,:]+")


class Service:
    """Every part of a running gateway. Use as an async context manager, which stops it."""

    def __init__(
        self, settings: Settings, store: Store, keys: KeyRing, policies: PolicyRegistry, patterns: Finder
    ) -> None:
        self.settings = settings
        self.store = store
        self.keys = keys
        self.policies = policies
        self.wires = Wires.discover()
        self.surfaces = SurfaceRegistry.discover(settings)
        self.receipts = ReceiptLog(store, signer_of(store, settings.data_dir), settings.data_dir)
        self.vault = Vault(store)
        self.limits = RateLimiter(settings.rate_limit_per_minute)
        key = installation_key(settings, used=store.read_now(has_records))
        self.engines, model_hash = open_engines(settings, patterns)
        hash_key = _derived(key, b"hash")
        self.protector = Protector(self.engines, hash_key=hash_key)
        prepare(self.engines.types)
        self.workers = Workers(settings.workers, settings.queue_limit, settings.detection_timeout_seconds)
        self.pipeline = Pipeline(
            protector=self.protector,
            patterns=Protector(patterns, hash_key=hash_key),
            policies=policies,
            receipts=self.receipts,
            workers=self.workers,
            installation_key=key,
            default_policy=settings.default_policy,
            engine_version=self.engines.version,
            model_hash=model_hash,
        )
        longest = settings.session_max_ttl_seconds
        bounds = SessionRules(settings.session_ttl_seconds or longest, longest, settings.session_max_values)
        self.operations = Operations(
            self.pipeline, self.vault, local_available=self.surfaces.local_available, bounds=bounds
        )
        self._caller_key = _derived(key, b"caller")
        self._purging: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, settings: Settings, patterns: Finder | None = None) -> Self:
        """Opens the store and everything that stands on it. `patterns`: what searches for them, if it is there yet.

        Raises SettingsError, and GatewayError for policies that cannot be used.
        """
        settings.check_upstreams()
        store = Store.open(settings.make_data_dir() / "gateway.db")
        try:
            keys = KeyRing(store)
            await keys.load()
            if settings.api_key is not None:
                keys.add_static(settings.api_key.get_secret_value(), Scope.OPERATOR)
            policies = await asyncio.to_thread(PolicyRegistry, settings.policies_dir, SqlitePolicies(store))
            service = cls(settings, store, keys, policies, patterns or Detector())
            service.pipeline.policy(None)
        except BaseException:
            store.close()
            raise
        service._purging = asyncio.create_task(service._purge())
        return service

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._purging is not None:
            self._purging.cancel()
            with suppress(asyncio.CancelledError):
                await self._purging
        self.workers.close()
        self.engines.close()
        await self.surfaces.aclose()
        await asyncio.to_thread(self.store.close)

    async def _purge(self) -> None:
        while True:
            await asyncio.sleep(_PURGE_SECONDS)
            await self.vault.purge(datetime.now(UTC))

    def check(self) -> None:
        """Whether requests can be served. Raises Unavailable if the store does not answer, or its log is broken."""
        self.store.check()
        self.receipts.check()

    async def first_key(self) -> str | None:
        """An operator key, made if there is none yet and none comes from the environment."""
        if self.settings.api_key is not None or not self.keys.empty:
            return None
        secret, _ = await self.keys.create("first operator", Scope.OPERATOR)
        return secret

    def authenticate(self, authorization: str | None, svc_key: str | None) -> Caller:
        """Who calls the gateway listener: `X-SVC-Key`, else `Authorization: Bearer`.

        Raises Unauthorized, and TooManyRequests beyond the key's rate.
        """
        secret = svc_key
        if secret is None and authorization is not None:
            scheme, _, value = authorization.partition(" ")
            secret = value.strip() if scheme.lower() == "bearer" else None
        if not secret:
            raise Unauthorized("Send a key as `Authorization: Bearer …` or `X-SVC-Key`.")
        caller = self.keys.authenticate(secret)
        self.limits.check(caller.key_id)
        return caller

    def upstream_for(self, model: object) -> tuple[UpstreamConfig, str] | None:
        """The upstream for a model and its name there; None where a surface of our own answers."""
        surface, name = self.surfaces.resolve(model)
        return (surface.config, name) if isinstance(surface, UpstreamSurface) else None

    async def cross_to_upstream(
        self,
        wire: Wire,
        body: Body,
        caller: Caller,
        upstream: tuple[UpstreamConfig, str],
        fields: Sequence[Field],
        *,
        request_id: str,
    ) -> tuple[str, Exchange]:
        """A call on the gateway listener, protected for a configured upstream, and the address it goes to.

        Where the client brought its gateway key as `X-SVC-Key`, its `Authorization` is the upstream's and crosses.
        """
        config, model = upstream
        own = self._brings_own_credential(fields)
        exchange = await self.pipeline.open(
            wire,
            body,
            caller,
            Destination(config.name, config.trust, model),
            envelope=Envelope(
                fields,
                credential=None if own else config.api_key,
                credentials=frozenset({b"authorization"}) if own else frozenset(),
            ),
            local_available=self.surfaces.local_available,
            request_id=request_id,
        )
        return config.endpoint(), exchange

    def _brings_own_credential(self, fields: Sequence[Field]) -> bool:
        """Whether `Authorization` is the upstream's. A key of ours in it, by mistake, is not and stays here."""
        given = {name.lower(): value for name, value in fields}
        return b"x-svc-key" in given and b"authorization" in given and not self._holds_our_key(given[b"authorization"])

    def _holds_our_key(self, value: bytes) -> bool:
        return any(map(self.keys.is_ours, _PARTS.split(value.decode("latin-1"))))

    async def cross_to_host(
        self, wire: Wire, body: Body, url: str, query: str, fields: Sequence[Field], *, request_id: str
    ) -> tuple[str, Exchange]:
        """A call on the proxy listener, protected on its way to where the client sent it, with its credentials."""
        model = body.get("model")
        exchange = await self.pipeline.open(
            wire,
            body,
            self._proxied_caller(fields),
            Destination("proxy", Trust.EXTERNAL, model if isinstance(model, str) else ""),
            envelope=Envelope(fields, query, credentials=CREDENTIALS),
            local_available=self.surfaces.local_available,
            request_id=request_id,
        )
        return _with_query(url, query), exchange

    async def cross_harmless(
        self, method: str, url: str, path: str, query: str, fields: Sequence[Field]
    ) -> tuple[str, list[Field]]:
        """Address and headers of a call that carries no text by its nature.

        Raises NotFound (`unknown_route`) for any other.
        """
        if not self.wires.harmless(method, path):
            message = "The gateway does not know this call and does not let it leave."
            raise NotFound(message, code="unknown_route")
        caller = self._proxied_caller(fields)
        envelope = Envelope(fields, query, credentials=CREDENTIALS)
        return _with_query(url, query), await self.pipeline.admit(envelope, self.pipeline.policy(None), caller)

    def _proxied_caller(self, fields: Sequence[Field]) -> Caller:
        """Who calls through the proxy: the owner of `X-SVC-Key`, else whoever has the key that goes to the provider.

        The provider's key tells clients apart and stays unknown; those who send none are one caller. Raises
        Unauthorized for a key that is not valid, and for one of ours in the provider's place, where a stranger would
        read it.
        """
        given = {name.lower(): value for name, value in fields}
        sent = [given[name] for name in sorted(CREDENTIALS - {b"cookie"}) if name in given]
        if any(self._holds_our_key(value) for name, value in fields if name.lower() in CREDENTIALS):
            raise Unauthorized("A key of the gateway stands where the provider's belongs; nothing was sent.")
        if b"x-svc-key" in given:
            return self.authenticate(None, given[b"x-svc-key"].decode("latin-1"))
        key_id = "proxy_" + sha256(self._caller_key + b"\n".join(sent)).hexdigest()[:16]
        return Caller(key_id, Scope.CLIENT, identified=any(sent))

    async def verify(self, request_id: str, caller: Caller) -> Verification:
        """A receipt and the log it stands in, recomputed; and whether the policy it names can be shown."""
        verification = await self.receipts.verify(request_id, caller)
        receipt = (await self.receipts.get(request_id, caller)).as_dict()
        policy_hash = receipt.get("policy", {}).get("hash", "")
        try:
            await asyncio.to_thread(self.policies.by_hash, policy_hash)
            check = Check("policy", ok=True)
        except NotFound:
            check = Check("policy", ok=False, detail="no document of a policy has the hash that the receipt names")
        return replace(verification, checks=(*verification.checks, check))

    async def playground(self, question: Question, caller: Caller) -> dict[str, Any]:
        """Protects a text, has the demo answer it, guards and restores the answer. The same input, the same words."""
        wire = self.wires.serving("POST", "/v1/chat/completions")
        surface, model = self.surfaces.resolve("svc-demo")
        assert wire is not None
        body: Body = {"model": model, "messages": [{"role": "user", "content": question.text}]}
        settings = {"svc_task": question.task, "svc_policy": question.policy_id, "svc_privacy_mode": question.mode}
        body |= {name: value for name, value in settings.items() if value is not None}
        exchange, answer, closed = await self._answer_here(wire, body, caller, surface, model, operation="playground")
        restored = parse_object(closed)
        note = exchange.note()
        return {
            "request_id": exchange.request_id,
            "protected_text": body["messages"][0]["content"],
            "protected_answer": _said(answer),
            "guard": note["guard"],
            "reconstructed_text": _said(restored),
            "risk": asdict(exchange.assessment.risk),
            "route": note["route"],
            "receipt": note["receipt"],
        }

    async def chat(self, body: Body, caller: Caller, path: str, fields: Sequence[Field]) -> tuple[int, bytes, str]:
        """A chat-completions call served without mitmproxy: by the demo, or through httpx by an upstream.

        Returns status, body and request id.
        """
        wire = self.wires.serving("POST", path)
        if wire is None:
            raise unknown_path(path)
        surface, model = self.surfaces.resolve(body.get("model"))
        if isinstance(surface, UpstreamSurface):
            request_id = new_request_id()
            _, exchange = await self.cross_to_upstream(
                wire, body, caller, (surface.config, model), fields, request_id=request_id
            )
            with self.pipeline.answering(exchange):
                reply = await surface.send(exchange.body, exchange.headers)
                return (
                    reply.status,
                    await self.pipeline.close(exchange, reply.status, reply.body, annotate=True),
                    request_id,
                )
        exchange, _, closed = await self._answer_here(wire, body, caller, surface, model)
        return 200, closed, exchange.request_id

    async def _answer_here(
        self, wire: Wire, body: Body, caller: Caller, surface: Surface, model: str, *, operation: str = "chat"
    ) -> tuple[Exchange, Body, bytes]:
        """One exchange with a surface of our own: how it went, what the surface said, and that restored."""
        exchange = await self.pipeline.open(
            wire,
            body,
            caller,
            Destination(surface.id, surface.trust, model),
            local_available=self.surfaces.local_available,
            request_id=new_request_id(),
            operation=operation,
        )
        annotate = operation == "chat"
        with self.pipeline.answering(exchange):
            answer = await surface.complete(body)
            return exchange, answer, await self.pipeline.close(exchange, 200, dump(answer), annotate=annotate)


def _with_query(url: str, query: str) -> str:
    return f"{url}?{query}" if query else url


def _said(answer: Body) -> Any:
    return answer["choices"][0]["message"]["content"]


def _derived(key: bytes, purpose: bytes) -> bytes:
    return sha256(b"privacy-gateway " + purpose + b"\x00" + key).digest()
