"""Streamed bodies are divided into events and joined again, however they are cut."""

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import BadUpstream
from gateway.exchange.streaming.events import Event
from gateway.exchange.streaming.framing import JsonArray, reader, sequence_of, texts_of

ITEMS: list[dict[str, Any]] = [
    {"text": 'a "quoted" [bracket] {brace} \\', "n": [1, {"deep": ["]", "}"]}]},
    {},
    {"text": '\u2013 gr\u00fc\u00dfe \U0001f40d \\"', "end": "\\"},
]
# An array as providers write it, in one line, and with blanks where JSON allows them.
BODIES = [
    ("[" + "\n,\r\n".join(json.dumps(item, indent=2, ensure_ascii=False) for item in ITEMS) + "\n]\n").encode(),
    json.dumps(ITEMS).encode(),
    b" \n[ " + b" , ".join(json.dumps(item).encode() for item in ITEMS) + b" ] ",
]


def divided(pieces: list[bytes]) -> tuple[list[Any], bytes]:
    """Returns the items of a body, and the body as it is joined again."""
    divider = JsonArray()
    events = [event for piece in pieces for event in divider.feed(piece)]
    events += divider.finish()
    return [json.loads(event.data) for event in events], b"".join(event.raw for event in events) + divider.close()


@pytest.mark.parametrize("body", BODIES)
def test_an_array_is_divided_into_its_items(body: bytes) -> None:
    assert divided([body]) == (ITEMS, body)
    assert divided([body[at : at + 1] for at in range(len(body))]) == (ITEMS, body)
    for at in range(len(body)):
        assert divided([body[:at], body[at:]]) == (ITEMS, body)
    dice = random.Random(14)
    for _ in range(500):
        cuts = sorted(dice.sample(range(len(body)), 8))
        assert divided([body[a:b] for a, b in zip([0, *cuts], [*cuts, None], strict=True)]) == (ITEMS, body)


@pytest.mark.parametrize("body", [b"", b"[]", b" [ ]\n"])
def test_a_body_without_items_passes(body: bytes) -> None:
    assert divided([body]) == ([], body)


@pytest.mark.parametrize("body", [b"[", b'[{"a', b'[{"a": "]"', b'[ {"a": {}'])
def test_half_an_item_is_never_passed_on(body: bytes) -> None:
    """It would look complete otherwise."""
    for pieces, first in (([body], []), ([b'[{"b":1}', b"," + body[1:]], [{"b": 1}])):
        divider = JsonArray()
        assert [json.loads(event.data) for piece in pieces for event in divider.feed(piece)] == first
        with pytest.raises(BadUpstream):
            [*divider.finish()]


@pytest.mark.parametrize("body", BODIES)
def test_written_items_keep_the_array_whole(body: bytes) -> None:
    """Whether an item is written anew, comes before another, or is the last."""
    for anew in range(2 ** len(ITEMS)):
        for added in range(len(ITEMS) + 1):
            for ends in range(len(ITEMS) + 1):
                joined, expected = _rewritten(body, anew, added, ends)
                assert json.loads(joined) == expected


def _rewritten(body: bytes, anew: int, added: int, ends: int) -> tuple[bytes, list[Any]]:
    divider, passed = JsonArray(), b""
    expected: list[Any] = []
    earlier = Event(b"")
    for index, event in enumerate(divider.feed(body)):
        if index == ends:
            passed += divider.write(b'{"error":1}', Event(b"")) + divider.close(early=True)
            return passed, [*expected, {"error": 1}]
        if index and index == added:
            passed += divider.write(b'{"more":1}', earlier)
            expected.append({"more": 1})
        passed += divider.write(b'{"new":1}', event) if anew >> index & 1 else event.raw
        expected.append({"new": 1} if anew >> index & 1 else ITEMS[index])
        earlier = event
    if added == len(ITEMS):
        passed += divider.write(b'{"more":1}', earlier)
        expected.append({"more": 1})
    return passed + divider.close(), expected


def test_a_long_string_is_read_once() -> None:
    """In small pieces, too: the time would grow with the square of its length."""
    divider = JsonArray()
    pieces = [b'[{"data":"', *[b"x" * 100] * 20_000, b'"}]']
    assert [len(event.data) for piece in pieces for event in divider.feed(piece)] == [2_000_011]


def test_an_event_that_is_cut_off_is_read() -> None:
    divider = reader("sse")
    assert [*divider.feed(b'data: {"a":1}\n\ndata: {"b"')] == [Event(b'data: {"a":1}\n\n', b'{"a":1}')]
    assert [event.data for event in divider.finish()] == [b'{"b"']
    assert divider.close() == divider.close(early=True) == b""


def test_an_event_has_all_of_its_line_ends_wherever_they_are_cut() -> None:
    body = b'data: {"a":1}\r\n\r\ndata: {"b":2}\r\n\r\n'
    for at in range(len(body)):
        divider = reader("sse")
        found = [event.raw for piece in (body[:at], body[at:]) for event in divider.feed(piece)]
        assert found == [b'data: {"a":1}\r\n\r\n', b'data: {"b":2}\r\n\r\n'], at


@given(st.lists(st.sampled_from([b'{"a":1}', b'{\n "a": "\\u001e"\n}', b"{}"])), st.lists(st.integers(0, 60)))
def test_a_sequence_is_divided_wherever_it_is_cut(texts: list[bytes], cuts: list[int]) -> None:
    body = sequence_of(*texts)
    places = sorted(min(cut, len(body)) for cut in cuts)
    pieces = [body[a:b] for a, b in zip([0, *places], [*places, len(body)], strict=True)]
    stream = reader("json-seq")
    found = [event for piece in pieces for event in stream.feed(piece)]
    assert [event.data for event in found] == texts == texts_of(body)
    assert b"".join(event.raw for event in found) == body
    assert [*stream.finish()] == []
    assert (stream.close(), stream.write(b"{}", Event(b""))) == (b"", sequence_of(b"{}"))


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [b"", b"\n"])
def test_lines_are_divided_wherever_they_are_cut(end: bytes, last: bytes) -> None:
    texts = [b'{"a":1}', b"", '{"grüße": "–"}'.encode(), b"{}"]
    body = end.join(texts) + last
    for at in range(len(body)):
        lines = reader("ndjson")
        found = [event for piece in (body[:at], body[at:]) for event in lines.feed(piece)]
        found += lines.finish()
        assert [event.data for event in found] == texts
        assert b"".join(event.raw for event in found) == body
        assert (lines.close(), lines.write(b"{}", found[0])) == (b"", b"{}\n")


def test_a_long_line_is_read_once() -> None:
    lines = reader("ndjson")
    pieces = [b'{"data":"', *[b"x" * 100] * 20_000, b'"}\n']
    assert [len(event.data) for piece in pieces for event in lines.feed(piece)] == [2_000_011]


def test_half_a_text_of_a_sequence_is_never_passed_on() -> None:
    stream = reader("json-seq")
    assert [*stream.feed(sequence_of(b"{}")[:-1])] == []
    with pytest.raises(BadUpstream):
        next(stream.finish())
