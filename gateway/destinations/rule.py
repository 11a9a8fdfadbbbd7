"""Defines the rule that decides about destinations, and what the parsers of destinations share."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

MARK = "\x00"
"""Represents a placeholder in the text that a parser keeps."""
BLANKS = " \t\n\r\f\v"
# May follow a destination without being part of it. A destination of the source may have gained or lost some.
_PUNCTUATION = ").,;:!?*_~|]}'\"`>”’»"
_SLACK = 16
# Schemes that contact no server: the value alone is the whole address.
_HARMLESS_SCHEMES = frozenset({"mailto:", "tel:", "sms:"})
_ADDRESS_TYPES = frozenset({"URL", "URL_WITH_CREDENTIALS", "CONNECTION_STRING"})


@dataclass(frozen=True, slots=True)
class RestoreScope:
    """Where values may be restored. `urls` is the policy's rule, `source_urls` are the protected source's URLs."""

    urls: Literal["source", "never", "always"]
    source_urls: frozenset[str] = field(default=frozenset(), repr=False)


@dataclass(slots=True, eq=False)
class Mark:
    """A placeholder in a text. `own` means of this session, `bracketed` that its spelling ends with `]`.

    `waits` counts the destinations that have yet to decide about it.
    """

    name: str
    own: bool
    bracketed: bool
    waits: int = 0
    closed: bool = False

    @property
    def decided(self) -> bool:
        return self.closed or not self.waits or not self.own


class UrlRule:
    """Decides which destinations may receive values. Without a scope, collects those that hold placeholders."""

    def __init__(self, scope: RestoreScope | None) -> None:
        self._scope = scope
        self.collected: set[str] = set()

    @cached_property
    def limit(self) -> float:
        """The length up to which a destination may be one of the source."""
        return max(map(len, self._scope.source_urls), default=0) + _SLACK if self._scope else float("inf")

    def allows(self, address: str, head: str | None, name: str) -> bool:
        """Returns whether values may be restored in `address`.

        `head` is the text before `name` if that is the only placeholder and nothing follows it, else None.
        """
        if self._scope is None:
            self.collected.add(address)
            return False
        if self._scope.urls != "source":
            return self._scope.urls == "always"
        alone = head is not None and (
            head in _HARMLESS_SCHEMES or (not head and name[1:].rpartition("_")[0] in _ADDRESS_TYPES)
        )
        return alone or address in self._scope.source_urls


class Destination:
    """A destination during parsing: its canonical spelling so far, and the placeholders that it decides about.

    Closes its placeholders as soon as it can no longer be allowed, so that a stream never holds back more text than
    the longest destination of the source.
    """

    def __init__(self, rule: UrlRule) -> None:
        self._rule = rule
        self._parts: list[str] = []
        self._length = 0
        self._names: list[str] = []
        self._waiting: list[Mark] = []
        self._head = ""
        self._tail = 0
        self._alone = True
        self._decided = False

    def text(self, piece: str) -> None:
        if self._decided:
            return
        if self._names:
            self._tail += len(piece)
            self._alone = self._alone and self._tail <= _SLACK and not piece.strip(_PUNCTUATION + BLANKS)
        self._add(piece)

    def mark(self, mark: Mark, *, waits: bool = True) -> None:
        """Adds a placeholder. It waits for the decision if `waits`."""
        if self._decided:
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
        alone = self._alone and bool(self._names) and (not self._head or self._head in _HARMLESS_SCHEMES)
        if self._length > self._rule.limit and not alone:
            self._decide(allowed=False)

    def close(self) -> None:
        """Ends the destination and decides about its placeholders."""
        if self._decided or not self._names:
            self._decided = True
            return
        address = "".join(self._parts).strip(BLANKS)
        bare = address.rstrip(_PUNCTUATION)
        address = bare if len(address) - len(bare) <= _SLACK else address[:-_SLACK]
        self._decide(allowed=self._rule.allows(address, self._head if self._alone else None, self._names[0]))

    def _decide(self, *, allowed: bool) -> None:
        self._decided = True
        self._parts.clear()
        for mark in self._waiting:
            mark.waits -= 1
            mark.closed = mark.closed or not allowed
        self._waiting.clear()
