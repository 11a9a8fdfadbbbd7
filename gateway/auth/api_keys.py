"""Keys: who may use the gateway. Secrets are shown once and kept as SHA-256; memory answers, the store remembers.

A fast hash is right for them: they are 256 random bits, not passwords, and nothing can be guessed.
"""

import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest
from secrets import token_hex, token_urlsafe
from typing import cast

import sqlite_utils

from gateway.errors import NotFound, Unauthorized, Unprocessable
from gateway.models import Caller, Scope
from gateway.store import Store

_PREFIX = "svck_"
_LONGEST_SECRET = 512
_IMPATIENCE_SECONDS = 0.05
_LONGEST_LABEL = 64
_INDEX = 8

# By the beginning of the digest: the whole digest, and whose it is.
type Keys = dict[bytes, tuple[bytes, Caller]]


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """What is known of a key, without its secret."""

    key_id: str
    label: str
    scope: Scope
    created_at: datetime
    revoked_at: datetime | None = None

    @property
    def active(self) -> bool:
        return self.revoked_at is None


class KeyRing:
    """The keys in the store, as of at most `poll_seconds` ago, and those given at start."""

    def __init__(self, store: Store, poll_seconds: float = 1.0) -> None:
        self._store = store
        self._poll_seconds = poll_seconds
        self._static: Keys = {}
        self._keys: Keys = {}
        self._revision: int | None = None
        self._checked = float("-inf")
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self._keys) + len(self._static)} keys>"

    async def load(self) -> None:
        """Reads the keys. Raises Unavailable."""
        self._adopt(*await self._store.read(_read_keys))

    @property
    def empty(self) -> bool:
        """Whether the store holds no active key (one given by `add_static` does not count)."""
        return not self._keys

    def add_static(self, secret: str, scope: Scope, key_id: str = "key_environment") -> None:
        """Accepts a secret that is not in the store, for the life of this process."""
        if not secret:
            raise ValueError("a key must not be empty")
        digest = _digest(secret)
        self._static[digest[:_INDEX]] = (digest, Caller(key_id, scope))

    def authenticate(self, secret: str) -> Caller:
        """Whose secret this is. Raises Unauthorized; Unavailable when it cannot be known whether keys were revoked."""
        if len(secret) <= _LONGEST_SECRET:
            digest = _digest(secret)
            self._refresh(self._poll_seconds)
            caller = self._known(digest)
            if caller is None:
                # It may have been made by another process this moment: a key that was just shown is to work.
                self._refresh(_IMPATIENCE_SECONDS)
                caller = self._known(digest)
            if caller is not None:
                return caller
        raise Unauthorized("The API key is missing or not valid.")

    def _known(self, digest: bytes) -> Caller | None:
        # What a look-up's time could tell is the beginning of a digest, which leads to no secret. The comparison that
        # decides takes the same time wherever the two differ.
        for keys in (self._keys, self._static):
            known = keys.get(digest[:_INDEX])
            if known is not None and compare_digest(known[0], digest):
                return known[1]
        return None

    async def create(self, label: str, scope: Scope) -> tuple[str, KeyRecord]:
        """A new key: its secret, which nobody can ask for again, and its record. Raises Unprocessable."""
        if not (0 < len(label) <= _LONGEST_LABEL and label.isprintable()):
            raise Unprocessable(f"A label has 1 to {_LONGEST_LABEL} printable characters.", param="label")
        secret = _PREFIX + token_urlsafe(32)
        now = datetime.now(UTC).replace(microsecond=0)
        record = KeyRecord("key_" + token_hex(8), label, scope, now)
        row = [record.key_id, label, scope.value, _digest(secret), now.isoformat()]

        def write(db: sqlite_utils.Database) -> None:
            db.conn.execute(
                "INSERT INTO keys (key_id, label, scope, secret_hash, created_at) VALUES (?, ?, ?, ?, ?)", row
            )
            db.conn.execute("UPDATE keys_revision SET revision = revision + 1")

        await self._store.write(write)
        await self.load()
        return secret, record

    async def list(self) -> tuple[KeyRecord, ...]:
        """Every key there ever was, oldest first."""

        def read(db: sqlite_utils.Database) -> list[tuple[str, str, str, str, str | None]]:
            columns = "key_id, label, scope, created_at, revoked_at"
            return db.conn.execute(f"SELECT {columns} FROM keys ORDER BY created_at, rowid").fetchall()  # noqa: S608

        return tuple(_record(*row) for row in await self._store.read(read))

    async def revoke(self, key_id: str) -> KeyRecord:
        """Ends a key for good; revoking it again changes nothing. Raises NotFound."""
        now = datetime.now(UTC).replace(microsecond=0).isoformat()

        def write(db: sqlite_utils.Database) -> tuple[str, str, str, str, str | None] | None:
            db.conn.execute("UPDATE keys SET revoked_at = ? WHERE key_id = ? AND revoked_at IS NULL", [now, key_id])
            db.conn.execute("UPDATE keys_revision SET revision = revision + 1")
            columns = "key_id, label, scope, created_at, revoked_at"
            found = db.conn.execute(f"SELECT {columns} FROM keys WHERE key_id = ?", [key_id]).fetchone()  # noqa: S608
            return cast("tuple[str, str, str, str, str | None] | None", found)

        row = await self._store.write(write) if key_id.isascii() else None
        if row is None:
            raise NotFound("There is no such key. `keys list` shows those there are.", param="key_id")
        await self.load()
        return _record(*row)

    def _refresh(self, seconds: float) -> None:
        """Asks the store whether another process changed the keys: some ten microseconds, once in `seconds` at most."""
        if time.monotonic() - self._checked < seconds:
            return
        with self._lock:
            if time.monotonic() - self._checked >= seconds:
                if self._store.read_now(_read_revision) != self._revision:
                    self._adopt(*self._store.read_now(_read_keys))
                self._checked = time.monotonic()

    def _adopt(self, revision: int, keys: Keys) -> None:
        self._revision, self._keys = revision, keys


def _read_revision(db: sqlite_utils.Database) -> int:
    return int(db.conn.execute("SELECT revision FROM keys_revision").fetchone()[0])


def _read_keys(db: sqlite_utils.Database) -> tuple[int, Keys]:
    rows = db.conn.execute("SELECT secret_hash, key_id, scope FROM keys WHERE revoked_at IS NULL")
    keys = {digest[:_INDEX]: (digest, Caller(key_id, Scope(scope))) for digest, key_id, scope in rows}
    return _read_revision(db), keys


def _record(key_id: str, label: str, scope: str, created_at: str, revoked_at: str | None) -> KeyRecord:
    revoked = datetime.fromisoformat(revoked_at) if revoked_at else None
    return KeyRecord(key_id, label, Scope(scope), datetime.fromisoformat(created_at), revoked)


def _digest(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()
