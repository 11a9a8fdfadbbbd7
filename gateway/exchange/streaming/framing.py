"""Divides a streamed body into events.

These are server-sent events (WHATWG HTML, section 9.2), the items of a JSON array, lines of JSON, JSON text sequences
(RFC 7464), or the frames of AWS's event streams (`event_stream.py`).
"""

import re
from collections.abc import Callable, Iterator
from functools import partial

from gateway.exchange.streaming.event_stream import EventStream
from gateway.exchange.streaming.events import Event, EventReader, broke_off
from gateway.wires.base import Framing

MEDIA_TYPES: dict[Framing, tuple[str, ...]] = {
    "sse": ("text/event-stream",),
    "json-array": ("application/json",),
    # Ollama's and Cohere's names for the same.
    "ndjson": ("application/x-ndjson", "application/stream+json"),
    "json-seq": ("application/json-seq",),
    "eventstream": ("application/vnd.amazon.eventstream",),
    "eventstream-chunks": ("application/vnd.amazon.eventstream",),
}

# Two line ends in a row. Each is atomic: CR LF is one.
_BLANK_LINE = re.compile(rb"(?>\r\n|\r|\n)(?>\r\n|\r|\n)")
_QUOTE_OR_BRACKET = re.compile(rb'["{}\[\]]')
# Clients leave it out.
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SEPARATOR = b"\x1e"
# With a line end alone, a message with line ends inside would be divided.
_END_OF_TEXT = b"\n\x1e"
_IN_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)


class ServerSentEvents(EventReader):
    """Reads `text/event-stream`. Lines may end with CR LF, LF or CR."""

    # A comment.
    pause = b": held back\n\n"

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._searched = 0

    def feed(self, piece: bytes) -> Iterator[Event]:
        self._buffer += piece
        while (end := _BLANK_LINE.search(self._buffer, self._searched)) is not None:
            if end[0] == b"\r\n\r" and end.end() == len(self._buffer):
                # The blank line ends with the next piece. Clients that divide at CR LF CR LF must find all of it.
                break
            raw = bytes(self._buffer[: end.end()])
            del self._buffer[: end.end()]
            self._searched = 0
            yield _event(raw.removeprefix(_BYTE_ORDER_MARK))
        # A line end may continue in the next piece.
        self._searched = max(0, len(self._buffer) - 3)

    def finish(self) -> Iterator[Event]:
        raw, self._buffer = bytes(self._buffer), bytearray()
        if raw.strip():
            yield _event(raw.removeprefix(_BYTE_ORDER_MARK) + b"\n\n")

    def write(self, data: bytes, like: Event) -> bytes:
        kept = [line for line in like.raw.splitlines() if line and not line.startswith((b"data:", b"event:", b":"))]
        name = [b"event: " + like.name] if like.name else []
        return b"\n".join([*name, *kept, b"data: " + data, b"", b""])


class JsonArray(EventReader):
    """Reads a JSON array of objects, of which each is an event."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._position = self._depth = self._start = 0
        self._in_string = False
        # The event that is being read, and whether the client has got the opening bracket.
        self._current: Event | None = None
        self._is_open = False

    def feed(self, piece: bytes) -> Iterator[Event]:
        self._buffer += piece
        while self._find():
            char = self._buffer[self._position]
            self._position += 1
            if char in b"{[":
                if self._depth == 1:
                    self._start = self._position - 1
                self._depth += 1
            else:
                self._depth -= 1
                if self._depth == 1:
                    self._current = self._cut()
                    yield self._current
                    self._current, self._is_open = None, True

    def _find(self) -> bool:
        """Moves on to the next bracket outside strings and returns whether there is one."""
        while True:
            if self._in_string:
                rest = _IN_STRING.match(self._buffer, self._position)
                assert rest is not None
                self._position = rest.end()
                if self._buffer[self._position : self._position + 1] != b'"':
                    return False
                self._position += 1
                self._in_string = False
            found = _QUOTE_OR_BRACKET.search(self._buffer, self._position)
            self._position = len(self._buffer) if found is None else found.start()
            if found is None or found[0] != b'"':
                return found is not None
            self._position += 1
            self._in_string = True

    def _cut(self) -> Event:
        """Removes an item, with the brackets, commas and blanks before it, from the buffer."""
        raw, data = bytes(self._buffer[: self._position]), bytes(self._buffer[self._start : self._position])
        del self._buffer[: self._position]
        self._position = self._start = 0
        return Event(raw, data)

    def finish(self) -> Iterator[Event]:
        # Half an object is never passed on.
        if self._depth:
            raise broke_off()
        yield from ()

    def close(self, *, early: bool = False) -> bytes:
        if self._depth == 0 and not early:
            return bytes(self._buffer)
        return b"]" if self._is_open else b"[]"

    def write(self, data: bytes, like: Event) -> bytes:
        if like is self._current:
            return like.raw[: -len(like.data)] + data
        lead = b"," if self._is_open else b"["
        self._is_open = True
        return lead + data


class JsonLines(EventReader):
    """Reads lines of JSON. A line may end with CR LF."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._searched = 0

    def feed(self, piece: bytes) -> Iterator[Event]:
        self._buffer += piece
        while (end := self._buffer.find(b"\n", self._searched) + 1) > 0:
            raw = bytes(self._buffer[:end])
            del self._buffer[:end]
            self._searched = 0
            yield Event(raw, raw.strip())
        self._searched = len(self._buffer)

    def finish(self) -> Iterator[Event]:
        # The last line may have no end. One that breaks off is no JSON.
        raw, self._buffer = bytes(self._buffer), bytearray()
        if raw.strip():
            yield Event(raw, raw.strip())

    def write(self, data: bytes, like: Event) -> bytes:
        return data + b"\n"


class JsonSequence(EventReader):
    """Reads JSON text sequences. No JSON text holds the separator, so it can join the messages of a WebSocket."""

    def __init__(self) -> None:
        self._buffer = b""

    def feed(self, piece: bytes) -> Iterator[Event]:
        *complete, self._buffer = (self._buffer + piece).split(_END_OF_TEXT)
        for text in complete:
            yield Event(text + _END_OF_TEXT, text.removeprefix(SEPARATOR))

    def finish(self) -> Iterator[Event]:
        if self._buffer:
            raise broke_off()
        yield from ()

    def write(self, data: bytes, like: Event) -> bytes:
        return sequence_of(data)


def sequence_of(*texts: bytes) -> bytes:
    """Returns JSON texts as a sequence."""
    return b"".join(SEPARATOR + text + _END_OF_TEXT for text in texts)


def texts_of(sequence: bytes) -> list[bytes]:
    """Returns the JSON texts of a sequence."""
    return [text.removesuffix(b"\n") for text in sequence.split(SEPARATOR) if text]


_READERS: dict[Framing, Callable[[], EventReader]] = {
    "sse": ServerSentEvents,
    "json-array": JsonArray,
    "ndjson": JsonLines,
    "json-seq": JsonSequence,
    "eventstream": EventStream,
    "eventstream-chunks": partial(EventStream, chunked=True),
}


def reader(framing: Framing) -> EventReader:
    """Returns the reader of a framing."""
    return _READERS[framing]()


def _event(raw: bytes) -> Event:
    data, name = [], b""
    for line in raw.splitlines():
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif line.startswith(b"event:"):
            name = line[6:].strip()
    return Event(raw, b"\n".join(data), name)
