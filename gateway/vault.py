"""The vault: what the placeholders of native sessions stand for, sealed under a token that is never stored.

The key of a session follows from its token (HKDF-SHA256, RFC 5869), of which the database has only SHA-256; the values
lie there in rows under AES-256-GCM, each bound to its session and its place. The database alone opens nothing.
"""

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from hmac import compare_digest
from secrets import token_hex, token_urlsafe

import sqlite_utils
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from gateway.errors import Conflict, Gone, InternalError, NotFound
from gateway.models import Caller, SessionGrant
from gateway.placeholders import Known
from gateway.store import Store

# How long an expired session is still told apart from one that never was.
TOMBSTONE = timedelta(hours=24)

_FORMAT = b"privacy-gateway vault v1"
_SESSION_ID = re.compile(r"vs_[0-9a-f]{32}")
_NOBODY = "vs_" + "0" * 32
_NONCE = 12
_PADDING = 256
_PURGE_CHUNK = 500


@dataclass(frozen=True, slots=True, repr=False)
class OpenSession:
    """A session whose token was shown, as it was when it was opened: `rows` are the times it had been added to.

    `urls` are the protected forms of URLs that its source texts held. `row` is what the store has yet to learn of a
    session that was only begun.
    """

    grant: SessionGrant
    placeholder_key: bytes
    known: tuple[Known, ...]
    urls: frozenset[str]
    owner: str
    rows: int = 0
    row: tuple[str, bytes, str, float, int] | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.known)} values>"


class Vault:
    """Sessions in the store. Only the key that made a session, with its token, opens it."""

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock

    async def create(self, caller: Caller, ttl_seconds: int, *, max_values: int = 10_000) -> OpenSession:
        """A new, empty session, durable on return. Raises Unavailable."""
        session = self.begin(caller, ttl_seconds, max_values=max_values)
        await self.remember(session, ())
        return replace(session, row=None)

    def begin(self, caller: Caller, ttl_seconds: int, *, max_values: int = 10_000) -> OpenSession:
        """A new, empty session, which exists once something is remembered in it.

        Its token is in the grant and nowhere else.
        """
        if ttl_seconds < 1 or max_values < 1:
            raise ValueError("a session has a lifetime and room for values")
        session_id, token = "vs_" + token_hex(16), "vst_" + token_urlsafe(32)
        expires_at = datetime.fromtimestamp(int(self._clock()) + ttl_seconds, UTC)
        row = (session_id, _digest(token), caller.key_id, expires_at.timestamp(), max_values)
        grant = SessionGrant(session_id, token, expires_at)
        return OpenSession(grant, _derive(token, session_id, b"placeholders"), (), frozenset(), caller.key_id, row=row)

    async def open(self, session_id: str, session_token: str, caller: Caller) -> OpenSession:
        """The session with everything it holds.

        Raises NotFound (`session_not_found`) for a wrong id, token or owner alike, Gone (`session_expired`) for the
        right ones too late, InternalError when the stored values were changed.
        """
        digest = _digest(session_token)
        asked = session_id if _SESSION_ID.fullmatch(session_id) else _NOBODY

        def read(db: sqlite_utils.Database) -> tuple[tuple[bytes, str, float] | None, list[tuple[int, bytes]]]:
            row = db.conn.execute(
                "SELECT token_hash, owner, expires_at FROM vault_sessions WHERE session_id = ?", [asked]
            ).fetchone()
            # The rows are read only for those whom they open to; what all others cause is the same work.
            if not _fits(row, digest, caller) or row[2] <= self._clock():
                return row, []
            rows = db.conn.execute("SELECT row, sealed FROM vault_rows WHERE session_id = ? ORDER BY row", [asked])
            return row, rows.fetchall()

        row, sealed = await self._store.read(read)
        if row is None or not _fits(row, digest, caller):
            raise NotFound("There is no such session.", code="session_not_found", param="session")
        expires_at = datetime.fromtimestamp(row[2], UTC)
        if row[2] <= self._clock():
            raise _expired()
        known, urls = _unseal(_derive(session_token, asked, b"seal"), asked, sealed)
        grant = SessionGrant(asked, session_token, expires_at)
        return OpenSession(
            grant, _derive(session_token, asked, b"placeholders"), known, urls, caller.key_id, len(sealed)
        )

    async def remember(self, session: OpenSession, entries: Sequence[Known], urls: Iterable[str] = ()) -> None:
        """Adds values to a session, durably, in one sealed row; one that was only begun exists from now on.

        Raises Conflict when the session is full, or got another value under one of the same placeholders since it was
        opened (what was made of it must not be used; trying again gives a longer placeholder); Gone when it expired
        meanwhile.
        """
        places = sorted(set(urls) - session.urls)
        size = len(entries) + len(places)
        if not size and session.row is None:
            return
        session_id = session.grant.session_id
        key = _derive(session.grant.session_token, session_id, b"seal")
        cipher = AESGCM(key)
        content = _pack(entries, places)
        now = self._clock()

        def write(db: sqlite_utils.Database) -> None:
            if session.row is not None:
                db.conn.execute(
                    "INSERT INTO vault_sessions (session_id, token_hash, owner, expires_at, max_values) "
                    "VALUES (?, ?, ?, ?, ?)",
                    session.row,
                )
            if size:
                add(db)

        def add(db: sqlite_utils.Database) -> None:
            found = db.conn.execute(
                "SELECT rows, held, max_values FROM vault_sessions WHERE session_id = ? AND expires_at > ?",
                [session_id, now],
            ).fetchone()
            if found is None:
                raise _expired()
            rows, held, most = found
            if held + size > most:
                raise Conflict("The session holds as many values as it may. Start a new one.", param="session")
            if rows > session.rows:
                newer = "SELECT row, sealed FROM vault_rows WHERE session_id = ? AND row >= ? ORDER BY row"
                added, _ = _unseal(key, session_id, db.conn.execute(newer, [session_id, session.rows]), session.rows)
                _refuse_other_values(entries, added)
            # The number of the row is settled only here, where no other process can take it.
            nonce = os.urandom(_NONCE)
            sealed = nonce + cipher.encrypt(nonce, content, _bound_to(session_id, rows))
            db.conn.execute(
                "INSERT INTO vault_rows (session_id, row, sealed) VALUES (?, ?, ?)", [session_id, rows, sealed]
            )
            db.conn.execute(
                "UPDATE vault_sessions SET rows = rows + 1, held = held + ? WHERE session_id = ?", [size, session_id]
            )

        await self._store.write(write)

    async def purge(self, now: datetime) -> int:
        """Deletes the values of expired sessions for good, and sessions whose tombstone is old. Returns how many of
        the former there were.
        """
        expired, buried = now.timestamp(), (now - TOMBSTONE).timestamp()

        def write(db: sqlite_utils.Database) -> int:
            found = db.conn.execute(
                "SELECT session_id FROM vault_sessions WHERE purged = 0 AND expires_at <= ? LIMIT ?",
                [expired, _PURGE_CHUNK],
            ).fetchall()
            db.conn.executemany("DELETE FROM vault_rows WHERE session_id = ?", found)
            db.conn.executemany("UPDATE vault_sessions SET purged = 1 WHERE session_id = ?", found)
            return len(found)

        def bury(db: sqlite_utils.Database) -> int:
            return db.conn.execute(
                "DELETE FROM vault_sessions WHERE session_id IN "
                "(SELECT session_id FROM vault_sessions WHERE purged = 1 AND expires_at <= ? LIMIT ?)",
                [buried, _PURGE_CHUNK],
            ).rowcount

        purged = 0
        while (some := await self._store.write(write)) > 0:
            purged += some
        removed = 0
        while (some := await self._store.write(bury)) > 0:
            removed += some
        if purged or removed:
            self._store.checkpoint_soon()
        return purged


def _fits(row: tuple[bytes, str, float] | None, digest: bytes, caller: Caller) -> bool:
    token_hash, owner, _ = row or (bytes(len(digest)), "", 0.0)
    token_fits = compare_digest(token_hash, digest)
    return token_fits & compare_digest(owner.encode(), caller.key_id.encode()) & (row is not None)


def _refuse_other_values(entries: Iterable[Known], added: Iterable[Known]) -> None:
    """Two requests at once may make the same short placeholder of two values; it must not open to the wrong one."""
    there = {entry.placeholder: entry for entry in added}
    if any(there.get(entry.placeholder, entry) != entry for entry in entries):
        raise Conflict("The session was added to at the same time. Send the request again.", param="session")


def _unseal(
    key: bytes, session_id: str, rows: Iterable[tuple[int, bytes]], first: int = 0
) -> tuple[tuple[Known, ...], frozenset[str]]:
    cipher = AESGCM(key)
    known: dict[str, Known] = {}
    urls: set[str] = set()
    for number, (row, sealed) in enumerate(rows, first):
        try:
            if row != number:
                raise InvalidTag
            opened = cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], _bound_to(session_id, row))
            content = json.loads(opened.decode("utf-8", "surrogatepass"))
        except (InvalidTag, ValueError):
            raise InternalError("The stored values of this session were damaged; it cannot be opened.") from None
        for entry in content["known"]:
            known.setdefault(entry[0], Known(*entry))
        urls.update(content["urls"])
    return tuple(known.values()), frozenset(urls)


def _pack(entries: Sequence[Known], urls: Sequence[str]) -> bytes:
    """JSON, padded so that the size tells little about a value. Lone surrogates of a value stay as they are."""
    known = [(entry.placeholder, entry.type, entry.value, entry.raw) for entry in entries]
    text = json.dumps({"known": known, "urls": urls}, separators=(",", ":"), ensure_ascii=False)
    content = text.encode("utf-8", "surrogatepass")
    return content.ljust(-(-len(content) // _PADDING) * _PADDING)


def _bound_to(session_id: str, row: int) -> bytes:
    return b"\x00".join((_FORMAT, session_id.encode(), str(row).encode()))


def _derive(token: str, session_id: str, purpose: bytes) -> bytes:
    info = b"\x00".join((_FORMAT, purpose))
    return HKDF(SHA256(), 32, salt=session_id.encode(), info=info).derive(token.encode("utf-8", "surrogatepass"))


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def _expired() -> Gone:
    return Gone("The session has expired, and what it held is deleted.", code="session_expired", param="session")
