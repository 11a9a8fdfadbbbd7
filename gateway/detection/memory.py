"""Remembers what was found in texts, so that what a client sends again is not searched again."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from secrets import token_bytes
from time import monotonic
from typing import Any

_MOST_CALLERS = 64
"""Callers of one kind that are remembered; the longest inactive is forgotten first."""
_IDLE_SECONDS = 3600.0
_ENTRY = 300
_FINDING = 160
"""Bytes that an entry and each of its findings take, about."""


@dataclass(slots=True)
class _Share:
    """The memory of one caller; the least recently used entry is forgotten first."""

    used: float
    size: int = 0
    entries: OrderedDict[bytes, tuple[Any, int]] = field(default_factory=OrderedDict)

    def trim(self, limit: int) -> None:
        while self.size > limit:
            _, (_, size) = self.entries.popitem(last=False)
            self.size -= size


class Memory:
    """Remembers findings per caller, by a keyed digest of what was searched.

    Holds offsets, types and scores, never text; the key is random and lives as long as the process. Callers share
    nothing: a caller can learn neither what others sent nor how much, since it cannot evict their entries. `capacity`
    bounds the bytes, in equal shares for the callers of the last hour. Each kind of caller id (`key_…`, `proxy_…`) has
    a capacity of its own, so that invented provider credentials take nothing from gateway keys.
    """

    def __init__(self, capacity: int = 12 << 20, *, clock: Callable[[], float] = monotonic) -> None:
        self._key = token_bytes(32)
        self._capacity = capacity
        self._clock = clock
        self._kinds: dict[str, OrderedDict[str, _Share]] = {}
        self._lock = threading.Lock()

    def digest(self, before: bytes, texts: Iterable[str]) -> bytes:
        """Returns the digest of texts that follow upon what has the digest `before`."""
        digest = blake2b(before, key=self._key, digest_size=24)
        for text in texts:
            data = text.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8))
            digest.update(data)
        return digest.digest()

    def get(self, caller: str, digest: bytes) -> Any | None:
        """Returns what the caller put, unless it was forgotten."""
        with self._lock:
            entries = self._share(caller).entries
            if (entry := entries.get(digest)) is None:
                return None
            entries.move_to_end(digest)
            return entry[0]

    def put(self, caller: str, digest: bytes, value: object, findings: int) -> None:
        """Remembers a value with so many findings."""
        with self._lock:
            share = self._share(caller)
            if digest not in share.entries:
                size = _ENTRY + _FINDING * findings
                share.entries[digest] = value, size
                share.size += size
                share.trim(self._capacity // len(self._kinds[_kind(caller)]))

    def _share(self, caller: str) -> _Share:
        """Returns the caller's share; creates one for a new caller and trims the others."""
        now = self._clock()
        shares = self._kinds.setdefault(_kind(caller), OrderedDict())
        share = shares.pop(caller, None)
        while shares and next(iter(shares.values())).used < now - _IDLE_SECONDS:
            shares.popitem(last=False)
        if share is None:
            if len(shares) >= _MOST_CALLERS:
                shares.popitem(last=False)
            for other in shares.values():
                other.trim(self._capacity // (len(shares) + 1))
            share = _Share(now)
        share.used = now
        shares[caller] = share
        return share


@dataclass(frozen=True, slots=True)
class Recall:
    """A memory as one caller sees it."""

    memory: Memory
    caller: str

    def digest(self, before: bytes, texts: Iterable[str]) -> bytes:
        return self.memory.digest(before, texts)

    def get(self, digest: bytes) -> Any | None:
        return self.memory.get(self.caller, digest)

    def put(self, digest: bytes, value: object, findings: int) -> None:
        self.memory.put(self.caller, digest, value, findings)


def _kind(caller: str) -> str:
    return caller.partition("_")[0]
