"""Creates, checks, rotates and revokes API keys. A secret is shown once and stored as its SHA-256 digest.

A fast hash is enough, because a secret is 256 random bits rather than a password. Requests are answered from memory.
"""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from hmac import compare_digest
from secrets import token_hex, token_urlsafe
from typing import NamedTuple

from gateway.auth.key_permissions import grant_json, stored_grant
from gateway.errors import NotFound, Unauthorized, Unprocessable
from gateway.models import UNRESTRICTED, Caller, Grant, Scope
from gateway.store import Repositories, Store
from gateway.store.rows import KeyRow
from gateway.workers.steady_clock import SteadyClock

_PREFIX = "svck_"
_LONGEST_SECRET = 512
_LONGEST_LABEL = 64
_INDEX = 8


class _Known(NamedTuple):
    digest: bytes
    caller: Caller
    expires_at: float = math.inf


# From the first bytes of a digest.
type Keys = dict[bytes, _Known]


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """A key without its secret. `previous_until` is when the secret ends that it had before it was rotated."""

    key_id: str
    label: str
    scope: Scope
    created_at: datetime
    revoked_at: datetime | None = None
    expires_at: datetime | None = None
    grant: Grant = UNRESTRICTED
    previous_until: datetime | None = None

    @property
    def active(self) -> bool:
        return self.revoked_at is None


class KeyRing:
    """The keys in the store, at most `poll_seconds` out of date, and those given at start."""

    def __init__(self, store: Store, poll_seconds: float = 1.0, clock: SteadyClock | None = None) -> None:
        self._store = store
        # A clock that is set back does not bring an expired key back; nor does a restart then, if the vault was used.
        self._clock = clock or SteadyClock()
        self._seen = 0.0
        self._poll_seconds = poll_seconds
        self._static: Keys = {}
        self._keys: Keys = {}
        self._revision: int | None = None
        self._checked = float("-inf")
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self._keys) + len(self._static)} keys>"

    async def load(self) -> None:
        """Loads the keys. Raises Unavailable."""
        self._adopt(*await self._store.read(_read_keys))

    @property
    def empty(self) -> bool:
        """Whether the store holds no active key; those added by `add_static` do not count."""
        return not self._keys

    def add_static(self, secret: str, scope: Scope, key_id: str = "key_environment") -> None:
        """Accepts a secret that is not in the store, for the lifetime of this process."""
        if not secret:
            raise ValueError("a key must not be empty")
        digest = _digest(secret)
        self._static[digest[:_INDEX]] = _Known(digest, Caller(key_id, scope, label="environment"))

    def authenticate(self, secret: str) -> Caller:
        """Returns the caller with this secret.

        Raises Unauthorized (`key_expired` for a key that was valid), and Unavailable if revocations cannot be read.
        """
        known = None
        if len(secret) <= _LONGEST_SECRET:
            digest = _digest(secret)
            self._refresh(self._poll_seconds)
            known = self._known(digest)
            if known is None:
                # Another process may have just created it, even since the last look.
                self._refresh(0)
                known = self._known(digest)
        if known is None:
            raise Unauthorized("The API key is missing or not valid.")
        if known.expires_at < math.inf and known.expires_at <= self._clock.now(self._seen):
            expired = Unauthorized("The API key has expired. Ask the operator for a new one.", code="key_expired")
            expired.caller = known.caller
            raise expired
        return known.caller

    def key_id(self, secret: str) -> str:
        """Returns the id of the key with this secret, whether or not it has expired; empty if there is none."""
        known = self._known(_digest(secret)) if len(secret) <= _LONGEST_SECRET else None
        return known.caller.key_id if known is not None else ""

    def _known(self, digest: bytes) -> _Known | None:
        # The time of the look-up could reveal the first bytes of a digest, which lead to no secret. The comparison
        # that decides takes constant time.
        for keys in (self._keys, self._static):
            known = keys.get(digest[:_INDEX])
            if known is not None and compare_digest(known.digest, digest):
                return known
        return None

    async def create(
        self,
        label: str,
        scope: Scope,
        grant: Grant = UNRESTRICTED,
        lifetime: timedelta | None = None,
        *,
        show: Callable[[str], object] = lambda _: None,
    ) -> tuple[str, KeyRecord]:
        """Creates a key. Returns its secret, which cannot be shown again, and its record. Raises Unprocessable.

        `scope` is `client` or `operator`; the grant restricts it further. `show` gets the secret before the key is
        stored; if it raises, there is no key.
        """
        if not (0 < len(label) <= _LONGEST_LABEL and label.isprintable()):
            raise Unprocessable(f"A label has 1 to {_LONGEST_LABEL} printable characters.", param="label")
        if _PREFIX in label:
            raise Unprocessable("A label shows in the log, so it cannot be a key.", param="label")
        secret = _PREFIX + token_urlsafe(32)
        show(secret)
        now = _now()
        expires_at = self._latest() + lifetime if lifetime is not None else None
        record = KeyRecord("key_" + token_hex(8), label, scope, now, None, expires_at, grant)
        end = expires_at.isoformat() if expires_at else None
        row = KeyRow(record.key_id, label, scope.value, _digest(secret), now.isoformat(), grant_json(grant), None, end)
        await self._store.write(lambda repositories: repositories.keys.add(row))
        await self.load()
        return secret, record

    async def list(self) -> tuple[KeyRecord, ...]:
        """Returns all keys, including revoked ones, oldest first."""
        rows, previous = await self._store.read(lambda stored: (stored.keys.all(), stored.keys.previous()))
        now = self._latest()
        ends: dict[str, datetime] = {}
        for each in previous:
            end = datetime.fromisoformat(each.ends_at)
            if end > max(now, ends.get(each.key_id, now)):
                ends[each.key_id] = end
        return tuple(replace(_record(row), previous_until=ends.get(row.key_id)) for row in rows)

    async def rotate(self, key_id: str, overlap: timedelta, lifetime: timedelta | None = None) -> tuple[str, KeyRecord]:
        """Gives a key a new secret, which cannot be shown again; the previous one ends after `overlap`.

        Id, label and grant stay, and so does whatever the key owns. Without a `lifetime`, the expiry stays too.
        Raises NotFound, also for a revoked key, and Unprocessable for an expired one without a `lifetime`.
        """
        secret, now = _PREFIX + token_urlsafe(32), self._latest()

        def work(stored: Repositories) -> KeyRecord | None:
            row = next((row for row in stored.keys.active() if row.key_id == key_id), None)
            if row is None:
                return None
            old = _time(row.expires_at)
            new = now + lifetime if lifetime is not None else old
            if new is not None and new <= now:
                raise Unprocessable("The key has expired; give it a new lifetime with `--expires`.", param="expires")
            ends = now + overlap if old is None else min(now + overlap, old)
            expires_at = new.isoformat() if new is not None else None
            rotated = stored.keys.rotate(key_id, _digest(secret), now.isoformat(), ends.isoformat(), expires_at)
            return replace(_record(rotated), previous_until=ends) if rotated else None

        record = await self._store.write(work)
        if record is None:
            raise NotFound("There is no such key, or it is revoked. `keys list` shows all.", param="key_id")
        await self.load()
        return secret, record

    async def revoke(self, key_id: str) -> KeyRecord:
        """Revokes a key for good; revoking it again changes nothing. Raises NotFound."""
        now = _now().isoformat()
        row = None
        if key_id.isascii():
            row = await self._store.write(lambda repositories: repositories.keys.revoke(key_id, now))
        if row is None:
            raise NotFound("There is no such key. `keys list` shows the existing ones.", param="key_id")
        await self.load()
        return _record(row)

    async def bound_to(self, policy: str) -> tuple[str, ...]:
        """Returns the ids of the keys that permit this policy only and are neither revoked nor expired."""
        now = self._latest()
        keys = (key for key in await self.list() if key.active and (key.expires_at is None or key.expires_at > now))
        return tuple(key.key_id for key in keys if key.grant.policies == (policy,))

    def _latest(self) -> datetime:
        """Returns the time that lifetimes count from. It is ahead of a clock that was ahead and is set back."""
        return max(_now(), datetime.fromtimestamp(int(self._clock.now(self._seen)), UTC))

    def _refresh(self, seconds: float) -> None:
        """Checks whether another process changed the keys, unless that was done less than `seconds` ago.

        Takes some ten microseconds.
        """
        if time.monotonic() - self._checked < seconds:
            return
        with self._lock:
            if time.monotonic() - self._checked >= seconds:
                if self._store.read_now(_read_revision) != self._revision:
                    self._adopt(*self._store.read_now(_read_keys))
                self._checked = time.monotonic()

    def _adopt(self, revision: int, keys: Keys, seen: float) -> None:
        self._revision, self._keys, self._seen = revision, keys, seen


async def users_of(policy: str, keys: KeyRing, default_policy: str) -> list[str]:
    """Returns what would have no policy without this one, in words."""
    default = ["the setting `default_policy`"] if policy == default_policy else []
    return [*default, *(f"the key `{key_id}`" for key_id in await keys.bound_to(policy))]


def _read_revision(repositories: Repositories) -> int:
    return repositories.keys.revision()


def _read_keys(repositories: Repositories) -> tuple[int, Keys, float]:
    by_id = {row.key_id: _known(row) for row in repositories.keys.active()}
    keys = {known.digest[:_INDEX]: known for known in by_id.values()}
    for row in repositories.keys.previous():
        ends = datetime.fromisoformat(row.ends_at).timestamp()
        keys[row.secret_hash[:_INDEX]] = _Known(row.secret_hash, by_id[row.key_id].caller, ends)
    return repositories.keys.revision(), keys, repositories.sessions.latest_time()


def _known(row: KeyRow) -> _Known:
    expires_at = _time(row.expires_at)
    caller = Caller(row.key_id, Scope(row.scope), grant=stored_grant(row.terms), label=row.label)
    return _Known(row.secret_hash, caller, expires_at.timestamp() if expires_at else math.inf)


def _record(row: KeyRow) -> KeyRecord:
    created, grant = datetime.fromisoformat(row.created_at), stored_grant(row.terms)
    times = _time(row.revoked_at), _time(row.expires_at)
    return KeyRecord(row.key_id, row.label, Scope(row.scope), created, *times, grant)


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _digest(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()
