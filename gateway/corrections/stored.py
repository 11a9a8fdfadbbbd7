"""Keeps the allow and deny lists of keys and of everyone in the store.

A running gateway notices changes by other processes within `POLL_SECONDS`; a request reads the lists from memory. Lists
that do not verify are never used: requests are refused, and the gateway is not ready, until they are restored or reset.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hmac import compare_digest
from itertools import chain
from secrets import token_bytes, token_hex
from typing import Literal

from gateway.corrections.given import Denied, plain
from gateway.corrections.lists import OwnerLists, matcher_of
from gateway.corrections.sealing import KEY_SIZE, Sealing, unwrap, wrap
from gateway.errors import Conflict, Unavailable, Unprocessable
from gateway.policy.patterns import ExpressionError
from gateway.store import Repositories, Store
from gateway.store.repeated_failures import RepeatedFailures
from gateway.store.rows import CorrectionRow, CorrectionsHead

type Kind = Literal["allow", "deny"]

EVERYONE = ""
"""The owner of the lists that hold for all callers."""
POLL_SECONDS = 0.1
MOST_ENTRIES = 1000
"""Entries of one list."""
MOST_IN_ALL = 10_000
MOST_TYPES = 32
"""Types in one deny list."""
BROKEN_REMEDY = (
    "if `installation_key` was changed in the settings, restart the gateway; else restore data_dir from a backup, or "
    "delete all lists with `allow reset`"
)
_BROKEN = "corrections_broken"


@dataclass(frozen=True, slots=True)
class StoredCorrection:
    """An entry of a list without its value. `type` is empty for an allowed value of any type."""

    correction_id: str
    owner: str
    kind: Kind
    type: str
    created_at: str


class _Opened:
    """All rows of one snapshot, verified. Raises Unavailable (`corrections_broken`)."""

    def __init__(self, stored: Repositories, installation_keys: Iterable[bytes], key: bytes | None = None) -> None:
        self.head, self.rows = stored.corrections.head(), stored.corrections.all()
        self.key = self._key_of(installation_keys, key)
        self.sealing = Sealing(self.key) if self.key is not None else None

    def _key_of(self, installation_keys: Iterable[bytes], known: bytes | None) -> bytes | None:
        head = self.head
        if head.wrapped is None:
            if self.rows or head.mac is not None or head.revision < 0:
                raise _broken()
            return None
        wrapped = [each for each in (head.wrapped, head.previous) if each]
        unwrapped = (unwrap(each, installation_key) for installation_key in installation_keys for each in wrapped)
        for key in chain([known], unwrapped):
            if key is not None and compare_digest(Sealing(key).mac(head.revision, self.rows), head.mac or b""):
                return key
        raise _broken()

    def value_of(self, row: CorrectionRow) -> Denied:
        value = self.sealing.open(row) if self.sealing is not None else None
        if value is None:
            raise _broken()
        return Denied(row.type, value)

    def of(self, owner: str, kind: Kind) -> list[CorrectionRow]:
        return [row for row in self.rows if (row.owner, row.kind) == (owner, kind)]


class StoredCorrections:
    """The lists as requests need them, and their changes."""

    def __init__(
        self, store: Store, installation_key: bytes, replaced: Callable[[], bytes | None] = lambda: None
    ) -> None:
        """`replaced` reads the installation key that has taken the place of this one, if any has."""
        self._store = store
        self._installation_key = installation_key
        self._replaced = replaced
        self._failures = RepeatedFailures(
            "the allow and deny lists do not verify, so every request is refused: %s", "the allow and deny lists verify"
        )
        self._lock = threading.Lock()
        self._checked = float("-inf")
        self._revision: int | None = None
        self._key: bytes | None = None
        self._lists: Mapping[str, OwnerLists] | None = {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def check(self) -> None:
        """Raises Unavailable (`corrections_broken`) if the lists do not verify."""
        self.of(EVERYONE)

    def of(self, key_id: str) -> tuple[OwnerLists, ...]:
        """Returns the lists that hold for a caller. Raises Unavailable (`corrections_broken`) if they do not verify."""
        if time.monotonic() - self._checked >= POLL_SECONDS:
            self._refresh()
        if self._lists is None:
            raise _broken()
        if not self._lists:
            return ()
        return tuple(self._lists[owner] for owner in (key_id, EVERYONE) if owner in self._lists)

    def _refresh(self) -> None:
        with self._lock:
            if self._store.read_now(lambda stored: stored.corrections.revision()) != self._revision:
                try:
                    opened = self._store.read_now(lambda stored: _Opened(stored, self._keys(), self._key))
                    lists = _lists(opened)
                except Unavailable as error:
                    if error.code == _BROKEN:
                        self._lists, self._revision, self._checked = None, None, time.monotonic()
                        self._failures.add(_BROKEN)
                    raise
                self._failures.end()
                self._lists, self._key, self._revision = lists, opened.key, opened.head.revision
            self._checked = time.monotonic()

    def _keys(self) -> Iterator[bytes]:
        """Yields the installation key that this process has, and then the newest one."""
        yield self._installation_key
        if (newest := self._replaced()) is not None:
            yield newest

    async def add(self, owner: str, kind: Kind, values: Iterable[str], type: str = "") -> int:
        """Adds values to a list: to allow them as entities of `type`, or of any, or to deny them as such.

        Returns how many are new. Raises Conflict beyond the bounds of lists, Unprocessable for values that together
        cannot be searched for.
        """
        wanted = [*values]

        def work(stored: Repositories) -> int:
            opened = _Opened(stored, [self._installation_key])
            key = opened.key or token_bytes(KEY_SIZE)
            sealing = Sealing(key)
            now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            digests = sealing.digests_of(owner)
            known = {_mark(opened, row) for row in opened.of(owner, kind)}
            fresh, denied = list[CorrectionRow](), list[Denied]()
            for value in wanted:
                mark = type, digests.digest(value) if kind == "allow" else plain(value)
                if mark not in known:
                    known.add(mark)
                    row = CorrectionRow(f"cor_{token_hex(8)}", owner, kind, type, now, digests.digest(value))
                    fresh.append(row if kind == "allow" else sealing.seal(row, value))
                    denied.append(Denied(type, value))
            _check_bounds(opened, owner, kind, fresh, denied)
            if fresh:
                stored.corrections.add(fresh)
                self._close(stored, opened, key, [*opened.rows, *fresh])
            return len(fresh)

        return await self._store.write(work)

    async def remove(self, owner: str, kind: Kind, values: Iterable[str], type: str | None = None) -> int:
        """Removes values from a list, of `type` only if it is given. Returns how many entries that were."""
        wanted = [*values]

        def chosen(opened: _Opened) -> list[CorrectionRow]:
            if opened.sealing is None:
                return []
            digests = opened.sealing.digests_of(owner)
            marks = {digests.digest(value) if kind == "allow" else plain(value) for value in wanted}
            rows = [row for row in opened.of(owner, kind) if type in (None, row.type)]
            return [row for row in rows if _mark(opened, row)[1] in marks]

        return await self._delete(chosen)

    async def remove_ids(self, ids: Iterable[str], kind: Kind) -> int:
        """Removes entries of a kind by their ids. Returns how many there were."""
        wanted = frozenset(ids)
        return await self._delete(
            lambda opened: [row for row in opened.rows if row.correction_id in wanted and row.kind == kind]
        )

    async def forget(self, owner: str) -> int:
        """Removes both lists of a key. Returns how many entries there were."""
        return await self._delete(lambda opened: [row for row in opened.rows if row.owner == owner])

    async def reset(self) -> None:
        """Deletes all lists, also those that do not verify."""

        def work(stored: Repositories) -> None:
            stored.corrections.delete([row.correction_id for row in stored.corrections.all()])
            stored.corrections.set_head(CorrectionsHead(max(0, stored.corrections.revision()) + 1))

        await self._store.write(work)
        self._store.erase_deleted_soon()

    async def rewrap(self, new: bytes, *, done: bool) -> None:
        """Prepares the lists for a new installation key; once it is in place, `done` ends the use of the old one."""

        def work(stored: Repositories) -> None:
            opened = _Opened(stored, [new if done else self._installation_key])
            if opened.key is not None:
                previous = None if done else opened.head.wrapped
                stored.corrections.set_head(opened.head._replace(wrapped=wrap(opened.key, new), previous=previous))

        await self._store.write(work)

    async def entries(self, kind: Kind) -> tuple[StoredCorrection, ...]:
        """Returns the entries of a kind, oldest first."""
        opened = await self._store.read(lambda stored: _Opened(stored, [self._installation_key]))
        rows = sorted((row for row in opened.rows if row.kind == kind), key=lambda row: (row.created_at, row))
        return tuple(StoredCorrection(row.correction_id, row.owner, kind, row.type, row.created_at) for row in rows)

    async def _delete(self, choose: Callable[[_Opened], list[CorrectionRow]]) -> int:
        def work(stored: Repositories) -> int:
            opened = _Opened(stored, [self._installation_key])
            gone = choose(opened)
            if gone and opened.key is not None:
                ids = {row.correction_id for row in gone}
                stored.corrections.delete(ids)
                left = [row for row in opened.rows if row.correction_id not in ids]
                self._close(stored, opened, opened.key, left)
            return len(gone)

        count = await self._store.write(work)
        if count:
            self._store.erase_deleted_soon()
        return count

    def _close(self, stored: Repositories, opened: _Opened, key: bytes, rows: Sequence[CorrectionRow]) -> None:
        """Counts a change, and makes the MAC over the rows that are left."""
        revision = opened.head.revision + 1
        wrapped = opened.head.wrapped or wrap(key, self._installation_key)
        mac = Sealing(key).mac(revision, rows)
        stored.corrections.set_head(CorrectionsHead(revision, wrapped, opened.head.previous, mac))


def count_entries(stored: Repositories, installation_key: bytes) -> int:
    """Returns how many entries all lists have. Raises Unavailable (`corrections_broken`) if they do not verify."""
    opened = _Opened(stored, [installation_key])
    _lists(opened)
    return len(opened.rows)


def _mark(opened: _Opened, row: CorrectionRow) -> tuple[str, bytes | str]:
    """Returns what tells the entries of a list apart."""
    return row.type, row.content if row.kind == "allow" else plain(opened.value_of(row).value)


def _check_bounds(
    opened: _Opened, owner: str, kind: Kind, fresh: Sequence[CorrectionRow], values: Iterable[Denied]
) -> None:
    """Raises Conflict beyond the bounds of lists, Unprocessable for values that together cannot be searched for."""
    own = opened.of(owner, kind)
    if len(own) + len(fresh) > MOST_ENTRIES:
        raise Conflict(f"A list has at most {MOST_ENTRIES} entries; remove some first.")
    if len(opened.rows) + len(fresh) > MOST_IN_ALL:
        raise Conflict(f"All lists together have at most {MOST_IN_ALL} entries; remove some first.")
    if kind == "deny":
        denied = [*map(opened.value_of, own), *values]
        if len({each.type for each in denied}) > MOST_TYPES:
            raise Conflict(f"A deny list has at most {MOST_TYPES} types; use one that it has.")
        try:
            if (matcher := matcher_of(denied)) is not None:
                matcher.compile()
        except ExpressionError:
            raise Unprocessable("The values together are too long to be searched for; remove some first.") from None


def _lists(opened: _Opened) -> dict[str, OwnerLists]:
    """Returns the lists of each owner, as requests need them."""
    if opened.sealing is None:
        return {}
    found: dict[str, OwnerLists] = {}
    for owner in {row.owner for row in opened.rows}:
        allowed: dict[bytes, frozenset[str]] = {}
        for row in opened.of(owner, "allow"):
            # Without a type it holds for all, whatever other entries say.
            types = allowed.get(row.content)
            is_any = not row.type or types == frozenset()
            allowed[row.content] = frozenset() if is_any else (types or frozenset()) | {row.type}
        denied = tuple(map(opened.value_of, opened.of(owner, "deny")))
        mark = opened.sealing.mac(opened.head.revision, [row for row in opened.rows if row.owner == owner])
        found[owner] = OwnerLists(opened.sealing.digests_of(owner), allowed, denied, mark)
    return found


def _broken() -> Unavailable:
    message = "The stored allow and deny lists do not verify, so no request is served. Operators:"
    return Unavailable(f"{message} {BROKEN_REMEDY}.", code=_BROKEN)
