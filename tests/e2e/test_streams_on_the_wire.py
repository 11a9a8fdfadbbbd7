"""Streamed answers as bytes on a socket: however the upstream divides its events, the client gets one whole body."""

import json
import random
import time
from collections.abc import Iterable, Iterator

import pytest

from tests.e2e.entrances import Entrance
from tests.e2e.raw import answer_to
from tests.e2e.server import OPERATOR_KEY, Running
from tests.e2e.upstream import Recorded, Reply, Upstream
from tests.gateway.exchange.streaming.support import DONE, bodies, chunk, event, in_random_pieces, text_of, text_stream

from . import test_streaming
from .test_streaming import SAID, SSE, asked

# Fixtures.
served = test_streaming.served
entrance = test_streaming.entrance


def unchunked(answer: bytes) -> bytes:
    """The body of a chunked response (RFC 9112, section 7.1), after which nothing may follow."""
    head, _, rest = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    body = b""
    while True:
        size, _, rest = rest.partition(b"\r\n")
        length = int(size, 16)
        assert rest[length : length + 2] == b"\r\n"
        body, rest = body + rest[:length], rest[length + 2 :]
        if not length:
            assert rest == b""
            return body


def got(served: Running, upstream: Upstream, pieces: Iterable[bytes], *, pause: float = 0.01) -> bytes:
    def slowly(_: Recorded) -> Iterator[bytes]:
        for piece in pieces:
            yield piece
            time.sleep(pause)

    upstream.answer = lambda request: Reply(slowly(request), headers=SSE)
    body = json.dumps(asked()).encode()
    head = (
        "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\n"
        f"Authorization: Bearer {OPERATOR_KEY}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return unchunked(answer_to(int(served.url.rpartition(":")[2]), head.encode() + body))


WHOLE = text_stream(["Hello", ", it is I. ", "All of it."])


@pytest.mark.parametrize("cut", [1, 5, 7, 40, len(WHOLE) - 15, len(WHOLE) - 1])
def test_an_event_may_come_in_two_pieces(served: Running, upstream: Upstream, cut: int) -> None:
    body = got(served, upstream, [WHOLE[:cut], WHOLE[cut:]], pause=0.05)
    assert text_of(body) == "Hello, it is I. All of it."
    assert body.endswith(DONE)


def test_an_event_may_be_larger_than_a_read(served: Running, upstream: Upstream) -> None:
    large = "Large. " * 50_000
    body = got(served, upstream, [event(chunk({"content": large})) + event(chunk({}, 0, "stop")) + DONE])
    assert text_of(body) == large


@pytest.mark.parametrize("seed", range(5))
def test_pieces_may_be_cut_anywhere(served: Running, upstream: Upstream, seed: int) -> None:
    body = got(served, upstream, in_random_pieces(WHOLE, random.Random(seed), 40), pause=0.002)
    assert text_of(body) == "Hello, it is I. All of it."
    assert sum("svc" in each for each in bodies(body)) == 1


@pytest.mark.parametrize("page", [b"<html>busy</html>", b"[1]", b""])
def test_what_is_no_stream_is_no_answer(served: Running, upstream: Upstream, page: bytes) -> None:
    upstream.answer = lambda request: Reply(page, headers={"content-type": "text/html"})
    with served.client() as client:
        answer = client.post("/v1/chat/completions", json=asked())
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")


@pytest.mark.parametrize("entrance", ["proxy"], indirect=True)
def test_a_stream_that_the_client_did_not_request_is_restored_as_one(entrance: Entrance) -> None:
    with entrance.client() as client:
        answer = client.post("/v1/chat/completions", json=asked(stream=False))
    assert (answer.status_code, text_of(answer.content)) == (200, SAID)
    assert entrance.outcome(answer)["outcome"] == "answered"
