"""Decides in which destinations values may be restored, for the parsers that find the destinations."""

from collections.abc import Callable
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

type Allows = Callable[[str, bool], bool]
"""Whether values may be restored in an address; the second argument says that it is only a placeholder for one."""


@dataclass(frozen=True)
class RestoreScope:
    """Where values may be restored. `urls` is the policy's rule, `source_urls` are the protected source's URLs."""

    urls: Literal["source", "never", "always"]
    source_urls: frozenset[str] = field(default=frozenset(), repr=False)

    @cached_property
    def longest(self) -> int:
        """The length up to which a destination may be one of the source."""
        return max(map(len, self.source_urls), default=0) + _SLACK

    def allows(self, address: str, is_value: bool) -> bool:
        return self.urls == "source" and (is_value or address in self.source_urls)


@dataclass(slots=True, eq=False)
class Mark:
    """A placeholder in a text. `own` means of this session, `bracketed` that its spelling ends with `]`.

    `waits` counts the destinations that have yet to decide about it, `refused` are those that do not allow it.
    """

    name: str
    own: bool
    bracketed: bool
    waits: int = 0
    refused: list[str] = field(default_factory=list)

    @property
    def decided(self) -> bool:
        return not (self.waits and self.own) or bool(self.refused)


class Address:
    """A destination during parsing: its canonical spelling so far, and the placeholders that it decides about.

    Refuses its placeholders as soon as it is longer than `longest` and can no longer be allowed, so that a stream never
    holds back more text than the longest destination of the source.
    """

    def __init__(self, allows: Allows, longest: float) -> None:
        self._allows = allows
        self._longest = longest
        self._parts: list[str] = []
        self._length = 0
        # The indices of placeholders among the parts.
        self._names: list[int] = []
        self._waiting: list[Mark] = []
        self._closed = False

    def text(self, piece: str) -> None:
        if not self._closed:
            self._add(piece)

    def mark(self, mark: Mark, *, waits: bool = True) -> None:
        """Adds a placeholder. It waits for the decision if `waits`."""
        if self._closed:
            if waits:
                mark.refused.append("")
            return
        self._names.append(len(self._parts))
        if waits:
            mark.waits += 1
            self._waiting.append(mark)
        self._add(mark.name)

    def close(self) -> None:
        """Ends the destination and decides about its placeholders."""
        if self._names and not self._closed:
            address = "".join(self._parts).strip(BLANKS)
            bare = address.rstrip(_PUNCTUATION)
            address = bare if len(address) - len(bare) <= _SLACK else address[:-_SLACK]
            self._decide(address, allowed=self._allows(address, self._is_value()))
        self._closed = True

    def _add(self, piece: str) -> None:
        self._parts.append(piece)
        self._length += len(piece)
        if self._length > self._longest and not self._is_value():
            self._decide("", allowed=False)

    def _is_value(self) -> bool:
        """Returns whether this is only a placeholder: for an address, or after a harmless scheme."""
        if len(self._names) != 1:
            return False
        at = self._names[0]
        head, tail = "".join(self._parts[:at]).strip(BLANKS), "".join(self._parts[at + 1 :])
        if len(tail) > _SLACK or tail.strip(_PUNCTUATION + BLANKS):
            return False
        type = self._parts[at][1:].rpartition("_")[0]
        return type in _ADDRESS_TYPES if not head else head.lower() in _HARMLESS_SCHEMES

    def _decide(self, address: str, *, allowed: bool) -> None:
        self._closed = True
        self._parts.clear()
        for mark in self._waiting:
            mark.waits -= 1
            if not allowed:
                mark.refused.append(address)
        self._waiting.clear()
