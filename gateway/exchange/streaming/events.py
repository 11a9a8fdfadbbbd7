"""Defines an event of a streamed body, as every framing reads it."""

from typing import NamedTuple


class Event(NamedTuple):
    """One event. `data` is empty for comments and other lines that no client reads as a message."""

    raw: bytes
    data: bytes = b""
    name: bytes = b""
