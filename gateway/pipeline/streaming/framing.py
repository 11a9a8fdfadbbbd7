"""Divides a streamed body into events: server-sent events (WHATWG HTML, section 9.2) or the items of a JSON array."""

import re
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from gateway.wires import Framing

# Two line ends in a row. Each is atomic: CR LF is one.
_BLANK_LINE = re.compile(rb"(?>\r\n|\r|\n)(?>\r\n|\r|\n)")
_LINE_END = re.compile(rb"\r\n|\r|\n")
_QUOTE_OR_BRACKET = re.compile(rb'["{}\[\]]')
_STRING_END = re.compile(rb'(?:[^"\\]|\\.)*+"', re.DOTALL)


class Event(NamedTuple):
    """One event. `data` is empty for comments and other lines that no client reads as a message."""

    raw: bytes
    data: bytes = b""
    name: bytes = b""


class EventReader(Protocol):
    """Divides a body that arrives in pieces."""

    def feed(self, piece: bytes) -> Iterator[Event]:
        """Adds a piece and yields the events that are complete."""
        ...

    def finish(self) -> Iterator[Event]:
        """Ends the body and yields what is left of it."""
        ...

    def write(self, data: bytes, like: Event) -> bytes:
        """Returns an event with other data, framed as `like` is."""
        ...


class ServerSentEvents:
    """Reads `text/event-stream`. Lines may end with CR LF, LF or CR."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._searched = 0

    def feed(self, piece: bytes) -> Iterator[Event]:
        self._buffer += piece
        while (end := _BLANK_LINE.search(self._buffer, self._searched)) is not None:
            raw = bytes(self._buffer[: end.end()])
            del self._buffer[: end.end()]
            self._searched = 0
            yield _event(raw)
        # A line end may continue in the next piece.
        self._searched = max(0, len(self._buffer) - 3)

    def finish(self) -> Iterator[Event]:
        raw, self._buffer = bytes(self._buffer), bytearray()
        if raw.strip():
            yield _event(raw + b"\n\n")

    def write(self, data: bytes, like: Event) -> bytes:
        kept = [line for line in _LINE_END.split(like.raw) if line and not line.startswith((b"data:", b"event:", b":"))]
        name = [b"event: " + like.name] if like.name else []
        return b"\n".join([*name, *kept, b"data: " + data, b"", b""])


class JsonArray:
    """Reads a JSON array of objects, of which each is an event."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._position = self._depth = self._start = 0

    def feed(self, piece: bytes) -> Iterator[Event]:
        self._buffer += piece
        while (found := _QUOTE_OR_BRACKET.search(self._buffer, self._position)) is not None:
            char, self._position = found[0], found.end()
            if char == b'"':
                end = _STRING_END.match(self._buffer, self._position)
                if end is None:
                    self._position = found.start()
                    return
                self._position = end.end()
            elif char in b"{[":
                if self._depth == 1:
                    self._start = found.start()
                self._depth += 1
            else:
                self._depth -= 1
                if self._depth == 1:
                    yield Event(*self._cut(), b"")
        if self._depth <= 1 and self._position:
            self._position = len(self._buffer)

    def _cut(self) -> tuple[bytes, bytes]:
        """Removes an item, with the brackets, commas and blanks before it, from the buffer."""
        raw, data = bytes(self._buffer[: self._position]), bytes(self._buffer[self._start : self._position])
        del self._buffer[: self._position]
        self._position = self._start = 0
        return raw, data

    def finish(self) -> Iterator[Event]:
        raw, self._buffer = bytes(self._buffer), bytearray()
        # Half an object is never passed on.
        yield Event(raw if self._depth == 0 else b"]")

    def write(self, data: bytes, like: Event) -> bytes:
        lead = like.raw[: -len(like.data)] if like.data else b""
        return (lead or b",") + data


def reader(framing: Framing) -> EventReader:
    """Returns the reader of a framing."""
    return ServerSentEvents() if framing == "sse" else JsonArray()


def _event(raw: bytes) -> Event:
    data, name = [], b""
    for line in _LINE_END.split(raw):
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif line.startswith(b"event:"):
            name = line[6:].strip()
    return Event(raw, b"\n".join(data), name)
