"""AWS's event streams are read and written as botocore does, and damaged ones end the answer."""

import base64
import json
import random
import struct
from typing import Any
from zlib import crc32

import pytest

from gateway.errors import BadUpstream
from gateway.exchange.streaming.event_stream import EventStream, frame_of
from gateway.exchange.streaming.events import Event
from tests.lazy import Lazy

eventstream = Lazy("botocore.eventstream")

DELTA = {"contentBlockIndex": 0, "delta": {"text": "Grüße"}, "p": "abcd"}
FRAMES = [
    frame_of("messageStart", b'{"role":"assistant","p":"ab"}'),
    frame_of("contentBlockDelta", json.dumps(DELTA).encode()),
    frame_of("throttlingException", b'{"message":"Wait."}', "exception"),
]
EVENTS: list[dict[str, Any]] = [
    {"messageStart": {"role": "assistant", "p": "ab"}},
    {"contentBlockDelta": DELTA},
    {"throttlingException": {"message": "Wait."}},
]


def framed(headers: bytes, payload: bytes = b"{}", *, length: int = 0, claimed: int | None = None) -> bytes:
    """Returns a frame with sound checks, whatever its headers are."""
    size = len(headers) if claimed is None else claimed
    prelude = struct.pack(">II", length or 16 + len(headers) + len(payload), size)
    frame = prelude + struct.pack(">I", crc32(prelude)) + headers + payload
    return frame + struct.pack(">I", crc32(frame))


def header(name: str, value: str, kind: int = 7) -> bytes:
    return bytes((len(name),)) + name.encode() + bytes((kind,)) + struct.pack(">H", len(value)) + value.encode()


def chunk(payload: bytes) -> bytes:
    return frame_of("chunk", payload)


def test_frames_are_read_wherever_they_are_cut() -> None:
    body, dice = b"".join(FRAMES), random.Random(47)
    for at in range(200):
        cuts = sorted(dice.sample(range(len(body)), 8)) if at else []
        stream = EventStream()
        pieces = [body[a:b] for a, b in zip([0, *cuts], [*cuts, None], strict=True)]
        found = [event for piece in pieces for event in stream.feed(piece)]
        assert [json.loads(event.data) for event in found] == EVENTS
        assert [event.raw for event in found] == FRAMES
        assert [*stream.finish()] == []


def test_botocore_reads_what_is_written() -> None:
    buffer = eventstream.EventStreamBuffer()
    plain, chunked = EventStream(), EventStream(chunked=True)
    (like,) = chunked.feed(chunk(b'{"bytes":"e30=","p":"abc"}'))
    for body in EVENTS:
        buffer.add_data(plain.write(json.dumps(body).encode(), Event(b"")))
    for given in (like, Event(b"")):
        buffer.add_data(chunked.write(b'{"type":"ping"}', given))
    buffer.add_data(chunked.write(json.dumps(EVENTS[2]).encode(), like))
    found: list[Any] = [event.to_response_dict() for event in buffer]
    names = [each["headers"].get(":event-type") or each["headers"][":exception-type"] for each in found]
    assert names == [
        "messageStart",
        "contentBlockDelta",
        "throttlingException",
        "chunk",
        "chunk",
        "throttlingException",
    ]
    assert [json.loads(each["body"]) for each in found[:3]] == [next(iter(event.values())) for event in EVENTS]
    ping = base64.b64encode(b'{"type":"ping"}').decode()
    assert [json.loads(each["body"]) for each in found[3:5]] == [{"bytes": ping, "p": "abc"}, {"bytes": ping}]
    assert [each["status_code"] for each in found] == [200, 200, 400, 200, 200, 400]


def test_an_error_in_headers_passes() -> None:
    sent = header(":message-type", "error") + header(":error-code", "x") + header(":error-message", "Failed.")
    assert [*EventStream().feed(framed(sent, b""))] == [Event(framed(sent, b""))]


def test_headers_of_every_type_are_skipped() -> None:
    sizes = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
    others = b"".join(b"\x01" + bytes((65 + kind, kind)) + b"\xff" * size for kind, size in sizes.items())
    others += header("b", "x", 6)
    sent = others + header(":event-type", "metadata") + header(":message-type", "event")
    assert [event.data for event in EventStream().feed(framed(sent))] == [b'{"metadata":{}}']


def flipped(frame: bytes, at: int) -> bytes:
    return frame[:at] + bytes((frame[at] ^ 1,)) + frame[at + 1 :]


EVENT = header(":message-type", "event")


@pytest.mark.parametrize(
    "frame",
    [
        *(flipped(FRAMES[1], at) for at in (0, 3, 5, 9, 14, 60, len(FRAMES[1]) - 1)),
        framed(b"", b"", length=15),
        framed(b"", b"", length=16 * 1024 * 1024 + 1),
        framed(b"", b"", claimed=4),
        framed(b"", b"", claimed=128 * 1024 + 1, length=1024 * 1024),
        framed(b"\x05abc"),
        framed(EVENT + b"\x01a\x0a"),
        framed(EVENT + b"\x01a"),
        framed(EVENT + b"\x01a\x07\x00\xff"),
        framed(EVENT + b"\x01\xff\x07\x00\x01a"),
        framed(EVENT + header(":event-type", "metadata") * 2),
        framed(EVENT),
        framed(b""),
        framed(EVENT + header(":event-type", "initial-response")),
        framed(header(":message-type", "exception") + header(":exception-type", "metadata")),
        frame_of("metadata", b"[]"),
        frame_of("metadata", b"{"),
        frame_of("metadata", b'{}, "x": {}'),
        chunk(b'{"bytes":"e30="}'),
    ],
)
def test_what_is_damaged_or_unknown_is_refused(frame: bytes) -> None:
    stream = EventStream()
    assert [event.raw for event in stream.feed(FRAMES[0])] == [FRAMES[0]]
    with pytest.raises(BadUpstream):
        [*stream.feed(frame), *stream.finish()]


@pytest.mark.parametrize("payload", [b"{}", b'{"bytes":7}', b'{"bytes":"e30"}', b'{"bytes":"\xff"}', b'{"bytes":"*"}'])
def test_a_chunk_without_an_event_is_refused(payload: bytes) -> None:
    with pytest.raises(BadUpstream):
        [*EventStream(chunked=True).feed(chunk(payload))]
    with pytest.raises(BadUpstream):
        [*EventStream(chunked=True).feed(FRAMES[0])]


def test_half_a_frame_is_never_passed_on() -> None:
    for at in range(1, len(FRAMES[1])):
        stream = EventStream()
        assert [*stream.feed(FRAMES[1][:at])] == []
        with pytest.raises(BadUpstream):
            [*stream.finish()]
