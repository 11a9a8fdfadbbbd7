"""The composition root: builds every part from the settings, and starts and stops them together."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from shutil import disk_usage
from types import TracebackType
from typing import Self

from gateway.auth.api_keys import KeyRing
from gateway.auth.callers import Callers
from gateway.auth.credential_digests import CredentialDigests
from gateway.auth.credentials import KeySearch
from gateway.auth.key_audit import KeyAudit
from gateway.auth.quotas import Quotas
from gateway.auth.rate_limit import RateLimiter
from gateway.config.installation_key import installation_key, replaced_key
from gateway.config.settings import Settings, SettingsError
from gateway.corrections.stored import StoredCorrections
from gateway.detection import builtin_detector
from gateway.errors import NotFound, Unavailable
from gateway.exchange.admit import Admission
from gateway.exchange.answer import Answers
from gateway.exchange.attachments import Attachments
from gateway.exchange.batches import Batches
from gateway.exchange.chat import ChatHandler
from gateway.exchange.earlier_answers import EarlierAnswers
from gateway.exchange.operations import Operations
from gateway.exchange.operator_edits import OperatorEdits
from gateway.exchange.protect import Protection
from gateway.exchange.recent_findings import RecentFindings
from gateway.exchange.records import Records
from gateway.exchange.socket_conversations import SocketConversations
from gateway.http.metrics import Readings, health, resident_bytes
from gateway.models import Caller, Scope
from gateway.placeholders import prepare
from gateway.policy.document import SessionDocument
from gateway.policy.registry import PolicyRegistry
from gateway.policy.storage import StoredPolicies
from gateway.protection.protector import Protector
from gateway.protection.value_digests import ValueDigests
from gateway.receipt_log.consistency import has_records
from gateway.receipt_log.interrupted import Interrupted
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.retention import Retention
from gateway.receipt_log.signing_key import signer_of
from gateway.receipts.verify import Check, Verification
from gateway.store import Store, open_store
from gateway.surfaces.base import SurfaceRegistry
from gateway.vault import Vault
from gateway.wires.base import Wires
from gateway.workers.detection_engines import open_engines
from gateway.workers.search_processes import Searches
from gateway.workers.thread_pool import Workers

_PURGE_SECONDS = 60.0
_WRITE_USE_SECONDS = 1.0
_DETECTION_TURNS = 11
"""How many times `detection_timeout_seconds` a request may take before it is sent."""
_BRIEF = 4096
"""Characters from which on a text takes more than two milliseconds, or a process of its own searches it."""


class Container:
    """Every part of a running gateway. Use it as an async context manager, which stops all parts on exit."""

    interrupted: Interrupted

    def __init__(
        self,
        settings: Settings,
        store: Store,
        keys: KeyRing,
        policies: PolicyRegistry,
        surfaces: SurfaceRegistry,
        searches: Searches | None,
    ) -> None:
        self.store = store
        self.keys = keys
        self.wires = Wires.discover()
        self.receipts = ReceiptLog(store, signer_of(store, settings.data_dir, settings.signing_key), settings.data_dir)
        self.vault = Vault(store)
        key = installation_key(settings, used=store.read_now(lambda stored: has_records(stored.receipts)))
        self._key = key
        self.value_digests = ValueDigests(key)
        self.corrections = StoredCorrections(store, key, lambda: replaced_key(settings))
        self.receipts.use_value_key(self.value_digests.mark)
        self.quotas = Quotas(store)
        self.key_audit = KeyAudit(store)
        self._limits = RateLimiter(settings.rate_limit_per_minute)
        self.callers = Callers(
            keys,
            self._limits,
            self.quotas,
            KeySearch.of(settings.api_key),
            _derived(key, b"caller"),
            CredentialDigests(key),
        )
        patterns, models = (searches.patterns, searches.models) if searches else (builtin_detector(), None)
        self.engines, model_hash = open_engines(settings, patterns, models)
        hash_key = _derived(key, b"hash")
        self.protector = Protector(self.engines, hash_key=hash_key)
        prepare(self.engines.types)
        timeout = settings.detection_timeout_seconds
        # With a model, threads wait for its process most of the time.
        threads, on_loop = (2, _BRIEF) if self.engines.are_patterns_only else (4, 0)
        self.workers = Workers(settings.workers or threads, settings.queue_limit, timeout, on_loop=on_loop)
        self.records = Records(
            self.receipts,
            self.value_digests,
            lambda: self.protection.policy(None).ref,
            engine_version=self.engines.version,
            model_hash=model_hash,
        )
        self._earlier = EarlierAnswers()
        self.recent_findings = RecentFindings()
        self.sockets = SocketConversations()
        self.batches = Batches(self.vault, key)
        self.attachments = Attachments()
        self._patterns = Protector(patterns, hash_key=hash_key)
        self.answers = Answers(
            self._patterns,
            self.engines.types,
            self.workers,
            self.records,
            self._earlier,
            self.sockets,
            self.batches,
        )
        self.edits = OperatorEdits(self.protector, self.workers, self.records)
        self._background: set[asyncio.Task[None]] = set()
        self._retention: asyncio.Task[None] | None = None
        self._unused: list[SurfaceRegistry] = []
        self._use(settings, policies, surfaces)

    def _use(self, settings: Settings, policies: PolicyRegistry, surfaces: SurfaceRegistry) -> None:
        """Builds what a reload replaces. Each request reads it once, and ends with the parts that it began with."""
        self.settings = settings
        self.policies = policies
        self.surfaces = surfaces
        self._limits.permit(settings.rate_limit_per_minute)
        self.protection = Protection(
            protector=self.protector,
            patterns=self._patterns,
            policies=policies,
            records=self.records,
            workers=self.workers,
            quotas=self.quotas,
            earlier=self._earlier,
            corrections=self.corrections,
            recent=self.recent_findings,
            sockets=self.sockets,
            batches=self.batches,
            attachments=self.attachments,
            installation_key=self._key,
            default_policy=settings.default_policy,
            local_available=surfaces.local_available,
        )
        self.admission = Admission(
            settings, self.callers, self.wires, surfaces, self._earlier, self.sockets, self.batches
        )
        longest = settings.session_max_ttl_seconds
        bounds = SessionDocument(
            default_ttl_seconds=settings.session_ttl_seconds or longest,
            max_ttl_seconds=longest,
            max_values=settings.session_max_values,
        )
        self.operations = Operations(self.protection, self.records, self.vault, bounds=bounds)
        self.chat = ChatHandler(
            self.admission, self.protection, self.answers, self.records, surfaces, streaming=settings.streaming
        )

    @classmethod
    async def start(cls, settings: Settings, searches: Searches | None = None) -> Self:
        """Opens the store and builds everything on top of it. Without `searches`, this process searches by itself.

        Raises SettingsError, and GatewayError for policies that cannot be used.
        """
        store = open_store(settings.make_data_dir(), settings.postgresql)
        try:
            keys = KeyRing(store)
            await keys.load()
            if settings.api_key is not None:
                keys.add_static(settings.api_key.get_secret_value(), Scope.OPERATOR)
            policies, surfaces = await asyncio.to_thread(_read, settings, store)
            container = cls(settings, store, keys, policies, surfaces, searches)
            # The log says if they do not verify.
            with suppress(Unavailable):
                container.corrections.check()
            container.interrupted = Interrupted(
                store, container.receipts, settings.data_dir, shared=settings.database is not None
            )
        except BaseException:
            store.close()
            raise
        for work in (container._purge(), container._write_use(), container.interrupted.close_all()):
            container._begin(work)
        container._retain()
        return container

    async def reload(self, settings: Settings) -> int:
        """Reads policies, upstreams and their keys anew, and uses them and the other settings of `RELOADED`.

        Returns how many policies there are. Raises SettingsError and GatewayError; then nothing has changed.
        """
        policies, surfaces = await asyncio.to_thread(_read, settings, self.store)
        before, unused = self.settings, self.surfaces
        self._use(settings, policies, surfaces)
        if settings.receipts_keep != before.receipts_keep:
            self._retain()
        self._unused.append(unused)
        self._begin(self._close(unused, before.longest_timeout + _DETECTION_TURNS * before.detection_timeout_seconds))
        return len(policies.list())

    async def _close(self, unused: SurfaceRegistry, seconds: float) -> None:
        """Closes surfaces once no request can use them any more."""
        await asyncio.sleep(seconds)
        self._unused.remove(unused)
        await unused.aclose()

    def _begin(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    def _retain(self) -> None:
        """Has old records deleted as the settings say."""
        if self._retention is not None:
            self._retention.cancel()
        keep = self.settings.receipts_keep
        self._retention = None if keep is None else self._begin(Retention(self.store, self.receipts, keep).run())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        background = [*self._background]
        for task in background:
            task.cancel()
        # A failure here must not keep the rest from being closed.
        await asyncio.gather(*background, return_exceptions=True)
        with suppress(Unavailable):
            await self._write_use_once()
        self.workers.close()
        self.attachments.close()
        self.engines.close()
        for surfaces in (self.surfaces, *self._unused):
            await surfaces.aclose()
        await asyncio.to_thread(self.store.close)
        self.interrupted.release()

    async def _purge(self) -> None:
        while True:
            await asyncio.sleep(_PURGE_SECONDS)
            # After a failure, such as of a full disk, the next attempt may succeed.
            with suppress(Unavailable):
                await self.vault.purge()
                await self.key_audit.forget()

    async def _write_use(self) -> None:
        while True:
            await asyncio.sleep(_WRITE_USE_SECONDS)
            with suppress(Unavailable):
                await self._write_use_once()

    async def _write_use_once(self) -> None:
        await self.quotas.write()
        await self.key_audit.write()

    @property
    def readings(self) -> Readings:
        """The metrics of this process."""
        data = self.settings.data_dir
        return {
            **health(self._is_ready),
            "detection_jobs": ("Texts that wait for detection or are being searched.", lambda: self.workers.under_way),
            "detection_jobs_limit": ("Most texts at once (`queue_limit`).", lambda: self.settings.queue_limit),
            "data_free_bytes": ("Free space for the files in `data_dir`.", lambda: disk_usage(data).free),
            "store_lag_seconds": ("For how long writes have been waiting for the store.", lambda: self.store.lag),
            "resident_memory_bytes": ("Resident memory of the gateway's process.", resident_bytes),
            "receipts_end": ("The number of the last record of the receipt log.", self._last_record),
        }

    def _is_ready(self) -> bool:
        with suppress(Unavailable):
            self.check()
            return True
        return False

    def _last_record(self) -> int:
        _, last = self.store.read_now(lambda stored: stored.receipts.bounds()) or (0, 0)
        return last

    def check(self) -> None:
        """Checks that requests can be served. Raises Unavailable if store, receipt log or corrections are unusable."""
        self.store.check()
        self.receipts.check()
        self.corrections.check()

    async def verify(self, request_id: str, caller: Caller) -> Verification:
        """Recomputes a receipt and the whole log, and checks that the policy the receipt names is still available."""
        verification = await self.receipts.verify(request_id, caller)
        receipt = (await self.receipts.get(request_id, caller)).as_dict()
        policy_hash = receipt.get("policy", {}).get("hash", "")
        detail = None
        try:
            await asyncio.to_thread(self.policies.by_hash, policy_hash)
        except NotFound:
            detail = "no document of a policy has the hash that the receipt names"
        return replace(verification, checks=(*verification.checks, Check("policy", detail)))


def _read(settings: Settings, store: Store) -> tuple[PolicyRegistry, SurfaceRegistry]:
    """Reads what a reload reads anew, and checks it. Raises SettingsError, and GatewayError for unusable policies."""
    settings.check_upstreams()
    policies = PolicyRegistry(settings.policies_dir, StoredPolicies(store))
    policies.get(settings.default_policy)
    try:
        return policies, SurfaceRegistry.discover(settings)
    except ValueError as error:
        raise SettingsError(f"upstreams: {error}") from None


def _derived(key: bytes, purpose: bytes) -> bytes:
    return sha256(b"privacy-gateway " + purpose + b"\x00" + key).digest()
