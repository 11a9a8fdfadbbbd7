"""Defines an event of a streamed body, and what the readers of all framings have in common."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

from gateway.errors import BadUpstream


class Event(NamedTuple):
    """One event. `data` is empty for comments and other lines that no client reads as a message."""

    raw: bytes
    data: bytes = b""
    name: bytes = b""


class EventReader(ABC):
    """Divides a body into events, and writes events in the same framing."""

    pause = b""
    """A keep-alive that clients ignore. Empty where the framing has none."""

    @abstractmethod
    def feed(self, piece: bytes) -> Iterator[Event]:
        """Adds a piece of the body and yields the events that are complete. Raises BadUpstream for a damaged one."""

    @abstractmethod
    def finish(self) -> Iterator[Event]:
        """Ends the body and yields the event that is left of it. Raises BadUpstream if the body broke off."""

    def close(self, *, early: bool = False) -> bytes:
        """Returns what follows the last event. `early` says that the answer ends before its body."""
        return b""

    @abstractmethod
    def write(self, data: bytes, like: Event) -> bytes:
        """Returns an event with other data, framed as `like` is."""


def broke_off() -> BadUpstream:
    """Returns the error for a body that ends within an event."""
    return BadUpstream("The upstream's answer broke off.", code="upstream_invalid")
