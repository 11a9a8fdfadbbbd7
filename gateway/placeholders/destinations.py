"""Defines the state that the parsers of destinations share: placeholders and the destination being parsed."""

from dataclasses import dataclass, field
from typing import Literal

from gateway.placeholders.grammar import type_of

# Stands for a placeholder in what the readers keep of a text.
MARK = "\x00"
BLANKS = " \t\n\r\f\v"
# What may follow a destination and is no part of it; a destination of the source may have lost or gained some.
_PUNCTUATION = ").,;:!?*_~|]}'\"`>”’»"
SLACK = 16
# Schemes that lead to no server; the value alone is the whole address.
_QUIET = frozenset({"mailto:", "tel:", "sms:"})
_ADDRESSES = frozenset({"URL", "URL_WITH_CREDENTIALS", "CONNECTION_STRING"})


@dataclass(frozen=True, slots=True)
class RestoreScope:
    """Where values may be restored: `urls` is the policy's rule, `source_urls` what the protected source held."""

    urls: Literal["source", "never", "always"]
    source_urls: frozenset[str] = field(default=frozenset(), repr=False)


@dataclass(slots=True, eq=False)
class Mark:
    """A placeholder in a text. `own` means of this session; `bracketed` that it is written with a `]` at its end."""

    name: str
    own: bool
    bracketed: bool
    waits: int = 0
    closed: bool = False

    @property
    def decided(self) -> bool:
        return self.closed or not self.waits or not self.own


class Ledger:
    """The rule that destinations are judged by; without a scope it collects those that hold placeholders."""

    def __init__(self, scope: RestoreScope | None) -> None:
        self.scope = scope
        self.collected: set[str] = set()
        self._limit: float | None = None

    @property
    def limit(self) -> float:
        """How long a destination can be and still be one of the source."""
        if self._limit is None:
            longest = max(map(len, self.scope.source_urls), default=0) if self.scope else float("inf")
            self._limit = longest + SLACK
        return self._limit

    def allows(self, address: str, head: str | None, name: str) -> bool:
        """Whether values may be restored in `address`. `head` is what stands before its only placeholder `name`."""
        if self.scope is None:
            self.collected.add(address)
            return False
        if self.scope.urls != "source":
            return self.scope.urls == "always"
        alone = head is not None and (head in _QUIET or (not head and type_of(name) in _ADDRESSES))
        return alone or address in self.scope.source_urls


class Region:
    """A destination while it is read: its canonical spelling so far, and the placeholders that wait for its end.

    As soon as it cannot be allowed any more its placeholders are closed, so that no more text has to be waited for
    than the longest destination of the source has.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._parts: list[str] = []
        self._length = 0
        self._names: list[str] = []
        self._waiting: list[Mark] = []
        self._head = ""
        self._tail = 0
        self._alone = True
        self._settled = False

    def text(self, piece: str) -> None:
        if self._settled:
            return
        if self._names:
            self._tail += len(piece)
            self._alone = self._alone and self._tail <= SLACK and not piece.strip(_PUNCTUATION + BLANKS)
        self._add(piece)

    def mark(self, mark: Mark, *, waits: bool = True) -> None:
        if self._settled:
            mark.closed = mark.closed or waits
            return
        if self._names:
            self._alone = False
        else:
            self._head = "".join(self._parts).strip(BLANKS).lower()
        self._names.append(mark.name)
        if waits:
            mark.waits += 1
            self._waiting.append(mark)
        self._add(mark.name)

    def _add(self, piece: str) -> None:
        self._parts.append(piece)
        self._length += len(piece)
        alone = self._alone and bool(self._names) and (not self._head or self._head in _QUIET)
        if self._length > self._ledger.limit and not alone:
            self._settle(allowed=False)

    def close(self) -> None:
        """Ends the destination."""
        if self._settled or not self._names:
            self._settled = True
            return
        address = "".join(self._parts).strip(BLANKS)
        bare = address.rstrip(_PUNCTUATION)
        address = bare if len(address) - len(bare) <= SLACK else address[:-SLACK]
        self._settle(allowed=self._ledger.allows(address, self._head if self._alone else None, self._names[0]))

    def _settle(self, *, allowed: bool) -> None:
        self._settled = True
        self._parts.clear()
        for mark in self._waiting:
            mark.waits -= 1
            mark.closed = mark.closed or not allowed
        self._waiting.clear()
