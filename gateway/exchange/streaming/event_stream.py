"""Divides a body of AWS's event streams (`application/vnd.amazon.eventstream`) into events.

A frame is: its length and that of its headers (four bytes each), their CRC-32, the headers, the payload, and the CRC-32
of all before. An event has the name of its frame as its only member: `{"contentBlockDelta": {…}}`. In the streams of
InvokeModel (`chunked`), the event is the JSON that a frame has in base64. Payloads have a member `p` of random length,
which hides the length of the texts from those who see the encrypted bytes; a frame that is written anew keeps its own.
"""

import base64
import binascii
import struct
from collections.abc import Iterator
from typing import Any
from zlib import crc32

import orjson

from gateway.errors import BadUpstream
from gateway.exchange.streaming.events import Event, EventReader, broke_off

# The limits of AWS for a frame and for its headers.
_LONGEST, _LONGEST_HEADERS = 16 * 1024 * 1024, 128 * 1024
_PRELUDE = struct.Struct(">III")
_AROUND = _PRELUDE.size + 4
# The sizes of the types of headers that have a fixed one; 6 and 7 are bytes and strings, with their length before them.
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
_COUNTED = (6, 7)
_EVENTS = frozenset(
    "messageStart contentBlockStart contentBlockDelta contentBlockStop messageStop metadata chunk".split()
)


class EventStream(EventReader):
    """Reads frames. A frame that is damaged, too long or of an unknown kind raises BadUpstream."""

    def __init__(self, *, chunked: bool = False) -> None:
        self._buffer = bytearray()
        self._chunked = chunked

    def feed(self, piece: bytes) -> Iterator[Event]:
        self._buffer += piece
        while len(self._buffer) >= _PRELUDE.size:
            length, headers, check = _PRELUDE.unpack_from(self._buffer)
            is_sound = crc32(self._buffer[:8]) == check and headers <= _LONGEST_HEADERS
            if not is_sound or not _AROUND + headers <= length <= _LONGEST:
                raise _invalid("a frame that is damaged or too long")
            if len(self._buffer) < length:
                return
            frame = bytes(self._buffer[:length])
            del self._buffer[:length]
            yield self._event(frame)

    def _event(self, frame: bytes) -> Event:
        headers, payload = _divided(frame)
        kind, name = headers.get(":message-type"), headers.get(":event-type", "")
        if kind == "error":
            # It has no payload, and AWS's SDKs raise what its headers say.
            return Event(frame)
        if kind == "exception":
            name = headers.get(":exception-type", "")
        if not (name.endswith("Exception") if kind == "exception" else kind == "event" and name in _EVENTS):
            raise _invalid("an event that the gateway does not know")
        body = _object(payload)
        if kind == "event" and (name == "chunk") != self._chunked:
            raise _invalid("an event of another kind of stream")
        if name != "chunk":
            return Event(frame, orjson.dumps({name: body}))
        try:
            return Event(frame, base64.b64decode(body["bytes"], validate=True))
        except (KeyError, TypeError, binascii.Error):
            raise _invalid("an event without bytes") from None

    def finish(self) -> Iterator[Event]:
        # Half a frame is never passed on.
        if self._buffer:
            raise broke_off()
        yield from ()

    def write(self, data: bytes, like: Event) -> bytes:
        body: dict[str, Any] = orjson.loads(data)
        name, members = next(iter(body.items()), ("", None))
        if len(body) == 1 and name.endswith("Exception"):
            return frame_of(name, orjson.dumps(members), "exception")
        if not self._chunked:
            return frame_of(name, orjson.dumps(members))
        kept = _object(_divided(like.raw)[1]) if like.raw else {}
        return frame_of("chunk", orjson.dumps({**kept, "bytes": base64.b64encode(data).decode()}))


def frame_of(name: str, payload: bytes, kind: str = "event") -> bytes:
    """Returns a frame with a JSON payload. `kind` is `event` or `exception`."""
    given = {f":{kind}-type": name, ":content-type": "application/json", ":message-type": kind}
    headers = b"".join(
        bytes((len(key),)) + key.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        for key, value in given.items()
    )
    prelude = struct.pack(">II", _AROUND + len(headers) + len(payload), len(headers))
    frame = prelude + struct.pack(">I", crc32(prelude)) + headers + payload
    return frame + struct.pack(">I", crc32(frame))


def _divided(frame: bytes) -> tuple[dict[str, str], bytes]:
    """Returns the headers of a frame that are strings, and its payload. Raises BadUpstream."""
    if crc32(frame[:-4]) != int.from_bytes(frame[-4:]):
        raise _invalid("a frame that is damaged")
    found: dict[str, str] = {}
    position, end = _PRELUDE.size, _PRELUDE.size + int.from_bytes(frame[4:8])
    try:
        while position < end:
            value = position + 1 + frame[position] + 1
            name, kind = frame[position + 1 : value - 1].decode(), frame[value - 1]
            if kind in _COUNTED:
                value, size = value + 2, int.from_bytes(frame[value : value + 2])
            else:
                size = _SIZES[kind]
            if name in found:
                raise _invalid("a frame with a header twice")
            found[name] = frame[value : value + size].decode() if kind == _COUNTED[1] else ""
            position = value + size
    except (KeyError, IndexError, UnicodeDecodeError):
        position = -1
    if position != end:
        raise _invalid("a frame whose headers cannot be read")
    return found, frame[end:-4]


def _object(payload: bytes) -> dict[str, Any]:
    try:
        body = orjson.loads(payload)
    except orjson.JSONDecodeError:
        body = None
    if not isinstance(body, dict):
        raise _invalid("an event that is not a JSON object")
    return body


def _invalid(what: str) -> BadUpstream:
    return BadUpstream(f"The upstream sent {what}.", code="upstream_invalid")
