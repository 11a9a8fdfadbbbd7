"""Keeps the values of native sessions, sealed under a token that is never stored.

The key of a session is derived from its token (HKDF-SHA256, RFC 5869), of which the store has only the SHA-256 digest.
Values are stored in rows encrypted with AES-256-GCM. The database alone opens nothing.

Each row is bound to its session, its owner, the session's end and its number, so that none of them can be changed
without the token.

Nonces are random, of 96 bits. They are unique under a key because few are drawn for one: a key is derived for one
token, one session and one end, so an extension, which seals all rows again, has a key of its own. A row holds at least
one value and a session at most 100,000 (the bound of `session_max_values`), so n < 2^17 rows are sealed with a key. Two
of them share a nonce with a probability of at most n(n-1)/2 / 2^96 < 2^-63. Counting would not be safer: a transaction
that fails after sealing may leave its row in the write-ahead log, and the next one would seal under its number.

Time never goes back (SteadyClock), and the latest is stored with the sessions: setting the clock back opens nothing
again, not after a restart either.
"""

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from hmac import compare_digest
from secrets import token_hex, token_urlsafe

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from gateway.errors import Conflict, Gone, InternalError, NotFound
from gateway.models import Caller, SessionGrant
from gateway.placeholders import Known
from gateway.store import Repositories, Sessions, Store
from gateway.store.rows import SealedRow, SessionRow
from gateway.workers.steady_clock import SteadyClock

# How long the gateway distinguishes an expired session from one that never existed.
TOMBSTONE = timedelta(hours=24)

_FORMAT = b"privacy-gateway vault v3"
_SESSION_ID = re.compile(r"vs_[0-9a-f]{32}")
_NOBODY = "vs_" + "0" * 32
_NONCE = 12
_PADDING = 256
_PURGE_CHUNK = 500


@dataclass(frozen=True, slots=True, repr=False)
class OpenSession:
    """A snapshot of a session whose token was presented. `rows` counts its sealed rows.

    `urls` are the protected forms of URLs in its source texts, `about` what else its owner keeps with it. `row` is set
    for a new session, which `remember` stores.
    """

    grant: SessionGrant
    placeholder_key: bytes
    known: tuple[Known, ...]
    urls: frozenset[str]
    owner: str
    rows: int = 0
    row: SessionRow | None = None
    about: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.known)} values>"


class Vault:
    """Sessions in the store. A session opens only for the key that created it, and only with its token."""

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = SteadyClock(clock)
        self._clock.now(store.read_now(lambda stored: stored.sessions.latest_time()))

    def begin(
        self,
        caller: Caller,
        ttl_seconds: int,
        *,
        max_values: int = 10_000,
        credentials: tuple[str, str] | None = None,
    ) -> OpenSession:
        """Begins an empty session, which `remember` stores. Its token exists only in the grant.

        `credentials` are an id and a token that only the caller's requests lead to; without them, both are random.
        """
        if ttl_seconds < 1 or max_values < 1:
            raise ValueError("ttl_seconds and max_values must be at least 1")
        session_id, token = credentials or ("vs_" + token_hex(16), "vst_" + token_urlsafe(32))
        expires_at = datetime.fromtimestamp(int(self._clock.now()) + ttl_seconds, UTC)
        row = SessionRow(session_id, _digest(token), caller.key_id, expires_at.timestamp(), max_values)
        grant = SessionGrant(session_id, token, expires_at)
        return OpenSession(grant, _derive(token, session_id, b"placeholders"), (), frozenset(), caller.key_id, row=row)

    async def open(self, session_id: str, session_token: str, caller: Caller) -> OpenSession:
        """Opens a session with everything it holds.

        Raises NotFound (`session_not_found`) for a wrong id, token or owner alike, Gone (`session_expired`) for the
        right ones after expiry, InternalError when stored values were changed.
        """
        digest = _digest(session_token)
        asked = session_id if _SESSION_ID.fullmatch(session_id) else _NOBODY

        def read(repositories: Repositories) -> tuple[SessionRow | None, bool, list[SealedRow]]:
            row, now = repositories.sessions.find(asked), self._now(repositories)
            is_open = row is not None and row.expires_at > now
            # Sealed rows are read only for a caller who can open them, so that every refusal takes the same work.
            may_open = _fits(row, digest, caller) and is_open
            return row, is_open, repositories.sessions.sealed(asked) if may_open else []

        row, is_open, sealed = await self._store.read(read)
        if row is None or not _fits(row, digest, caller):
            raise _unknown()
        if not is_open:
            raise _expired()
        grant = SessionGrant(asked, session_token, datetime.fromtimestamp(row.expires_at, UTC))
        seal = _Seal(grant, caller.key_id)
        known, urls, about = seal.open(sealed)
        key = _derive(session_token, asked, b"placeholders")
        return OpenSession(grant, key, known, urls, caller.key_id, len(sealed), about=about)

    def exists(self, session_id: str) -> bool:
        """Whether there is a session, or was until a day ago."""
        return self._store.read_now(lambda stored: stored.sessions.find(session_id)) is not None

    async def remember(
        self,
        session: OpenSession,
        entries: Sequence[Known],
        urls: Iterable[str] = (),
        about: Mapping[str, str] | None = None,
    ) -> None:
        """Adds values to a session in one sealed row, durable on return. Stores a new session first.

        Raises Conflict when the session is full, or when another value took one of the same placeholders since it was
        opened: discard what was protected and try again, which gives a longer placeholder. Raises Gone when the session
        has expired.
        """
        places = sorted(set(urls) - session.urls)
        size = len(entries) + len(places) + len(about or ())
        if not size and session.row is None:
            return
        session_id = session.grant.session_id
        seal = _Seal(session.grant, session.owner)
        content = _pack(entries, places, about or {})

        def write(repositories: Repositories) -> None:
            if session.row is not None:
                repositories.sessions.add(session.row)
            self._note_time(repositories)
            if not size:
                return
            found = self._as_opened(repositories, session)
            if found.held + size > found.max_values:
                raise Conflict("The session is full. Start a new one.", param="session")
            if found.rows > session.rows:
                added, *_ = seal.open(repositories.sessions.sealed(session_id, session.rows), session.rows)
                _refuse_other_values(entries, added)
            # Only here can no other process take the number of the row.
            repositories.sessions.append(session_id, seal.close(found.rows, content), size)

        await self._store.write(write)

    async def extend(self, session_id: str, session_token: str, caller: Caller, ttl_seconds: int) -> SessionGrant:
        """Lets a session last at least `ttl_seconds` from now, durable on return. It never ends earlier than it would.

        Raises what `open` raises, and Conflict when another request changed the session meanwhile.
        """
        session = await self.open(session_id, session_token, caller)

        def write(repositories: Repositories) -> SessionGrant:
            now = self._note_time(repositories)
            found = self._as_opened(repositories, session)
            ends = max(found.expires_at, float(int(now) + ttl_seconds))
            grant = SessionGrant(session_id, session_token, datetime.fromtimestamp(ends, UTC))
            if ends == found.expires_at:
                return grant
            old, new = _Seal(session.grant, session.owner), _Seal(grant, session.owner)
            sealed = repositories.sessions.sealed(session_id)
            again = [new.close(number, content) for number, content in enumerate(old.contents(sealed))]
            repositories.sessions.replace(session_id, ends, again)
            return grant

        return await self._store.write(write)

    async def revoke(self, session_id: str, session_token: str, caller: Caller) -> None:
        """Deletes a session and its values permanently. Raises what `open` raises."""
        await self.open(session_id, session_token, caller)
        await self._store.write(lambda repositories: repositories.sessions.delete(session_id))
        self._store.erase_deleted_soon()

    async def delete(self, session_id: str) -> None:
        """Deletes a session without its token, for commands that have the database anyway. Raises NotFound."""

        def write(repositories: Repositories) -> None:
            if repositories.sessions.find(session_id) is None:
                raise _unknown()
            repositories.sessions.delete(session_id)

        await self._store.write(write)
        self._store.erase_deleted_soon()

    async def purge(self) -> int:
        """Deletes the values of expired sessions permanently, then sessions that expired a day ago.

        Returns how many sessions lost their values.
        """
        now = await self._store.write(self._note_time)
        buried = now - TOMBSTONE.total_seconds()
        purged = await self._in_chunks(lambda sessions: sessions.empty_expired(now, _PURGE_CHUNK))
        removed = await self._in_chunks(lambda sessions: sessions.delete_emptied(buried, _PURGE_CHUNK))
        if purged or removed:
            self._store.erase_deleted_soon()
        return purged

    def _as_opened(self, repositories: Repositories, session: OpenSession) -> SessionRow:
        """Returns the row of a session. Raises Gone after its end, Conflict if it was extended since it was opened."""
        found = repositories.sessions.find(session.grant.session_id)
        if found is None or found.expires_at <= self._now(repositories):
            raise _expired()
        if found.expires_at != session.grant.expires_at.timestamp():
            raise _changed()
        return found

    def _now(self, repositories: Repositories) -> float:
        return self._clock.now(repositories.sessions.latest_time())

    def _note_time(self, repositories: Repositories) -> float:
        now = self._now(repositories)
        repositories.sessions.note_time(now)
        return now

    async def _in_chunks(self, delete: Callable[[Sessions], int]) -> int:
        """Repeats `delete` until nothing is left, each time in its own transaction."""
        total = 0
        while (some := await self._store.write(lambda repositories: delete(repositories.sessions))) > 0:
            total += some
        return total


def _fits(row: SessionRow | None, digest: bytes, caller: Caller) -> bool:
    token_hash, owner = (row.token_hash, row.owner) if row else (bytes(len(digest)), "")
    token_fits = compare_digest(token_hash, digest)
    return token_fits & compare_digest(owner.encode(), caller.key_id.encode()) & (row is not None)


def _refuse_other_values(entries: Iterable[Known], added: Iterable[Known]) -> None:
    """Raises Conflict if a concurrent request minted the same short placeholder for another value."""
    there = {entry.placeholder: entry for entry in added}
    if any(there.get(entry.placeholder, entry) != entry for entry in entries):
        raise _changed()


class _Seal:
    """Seals and opens the rows of a session."""

    def __init__(self, grant: SessionGrant, owner: str) -> None:
        end = str(int(grant.expires_at.timestamp())).encode()
        self._cipher = AESGCM(_derive(grant.session_token, grant.session_id, b"seal until " + end))
        self._bound = b"\x00".join((_FORMAT, grant.session_id.encode(), owner.encode(), end))

    def close(self, row: int, content: bytes) -> SealedRow:
        nonce = os.urandom(_NONCE)
        return SealedRow(row, nonce + self._cipher.encrypt(nonce, content, self._bound_to(row)))

    def contents(self, rows: Iterable[SealedRow], first: int = 0) -> Iterator[bytes]:
        """Yields what is in rows that begin with number `first`. Raises InternalError for any that was changed."""
        for number, (row, sealed) in enumerate(rows, first):
            try:
                if row != number:
                    raise InvalidTag
                content = self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], self._bound_to(row))
            except (InvalidTag, ValueError):
                raise InternalError("The stored values of this session are damaged. Start a new session.") from None
            yield content

    def open(
        self, rows: Iterable[SealedRow], first: int = 0
    ) -> tuple[tuple[Known, ...], frozenset[str], dict[str, str]]:
        """Returns the values and URLs in rows, and what else is kept with them; see `contents`."""
        known: dict[str, Known] = {}
        urls: set[str] = set()
        about: dict[str, str] = {}
        for content in self.contents(rows, first):
            opened = json.loads(content.decode("utf-8", "surrogatepass"))
            for entry in opened["known"]:
                known.setdefault(entry[0], Known(*entry))
            urls.update(opened["urls"])
            about.update(opened.get("about", {}))
        return tuple(known.values()), frozenset(urls), about

    def _bound_to(self, row: int) -> bytes:
        return b"\x00".join((self._bound, str(row).encode()))


def _pack(entries: Sequence[Known], urls: Sequence[str], about: Mapping[str, str]) -> bytes:
    """Serializes to JSON, padded so that the size reveals little about a value. Keeps lone surrogates."""
    known = [(entry.placeholder, entry.type, entry.value, entry.raw) for entry in entries]
    text = json.dumps(
        {"known": known, "urls": urls, **({"about": about} if about else {})}, separators=(",", ":"), ensure_ascii=False
    )
    content = text.encode("utf-8", "surrogatepass")
    return content.ljust(-(-len(content) // _PADDING) * _PADDING)


def _derive(token: str, session_id: str, purpose: bytes) -> bytes:
    info = b"\x00".join((_FORMAT, purpose))
    return HKDF(SHA256(), 32, salt=session_id.encode(), info=info).derive(token.encode("utf-8", "surrogatepass"))


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def _unknown() -> NotFound:
    return NotFound("There is no such session.", code="session_not_found", param="session")


def _changed() -> Conflict:
    return Conflict("Another request changed the session at the same time. Send the request again.", param="session")


def _expired() -> Gone:
    return Gone(
        "The session has expired, and its values are deleted. Start a new one.", code="session_expired", param="session"
    )
