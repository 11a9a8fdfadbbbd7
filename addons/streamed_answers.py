"""Restores streamed answers as they pass, through mitmproxy's `flow.response.stream`.

The client gets the restored bytes; the flow keeps the upstream's, as everywhere.
"""

from asyncio import get_running_loop
from collections.abc import Callable
from time import perf_counter

from mitmproxy import http

from gateway.auth.credentials import scrub_secrets
from gateway.exchange.messages import AnswerEnd, StreamPlan
from gateway.exchange.streaming import AnswerStream
from gateway.exchange.streaming.framing import MEDIA_TYPES
from gateway.exchange.streaming.result_lines import ResultLines
from gateway.wires.base import Framing, Wire

# Bytes of an answer that operators see.
_SHOWN = 1024 * 1024


class StreamedAnswer:
    """The stream of one flow. mitmproxy calls it with each piece of the body, and with nothing at the end.

    It returns a list, since mitmproxy would send an empty piece as the chunk that ends the body.
    `secrets` are scrubbed. `keeps` tells whether the upstream's bytes are kept for operators.
    """

    def __init__(self, stream: AnswerStream | ResultLines, secrets: frozenset[bytes], *, keeps: bool) -> None:
        self._stream = stream
        self._secrets = secrets
        self._keeps = keeps
        self._received = bytearray()
        self.last_piece = get_running_loop().time()
        """When the upstream last sent anything, on the clock of the event loop."""
        self.sent = 0
        """The bytes that the client got."""
        self.seconds = 0.0
        """The time that restoring took."""

    def __call__(self, piece: bytes) -> list[bytes]:
        self.last_piece = get_running_loop().time()
        if self._keeps and len(self._received) < _SHOWN:
            self._received += piece
        start = perf_counter()
        ready = self._stream.feed(piece) if piece else self._stream.finish()
        if ready:
            ready = scrub_secrets(ready, self._secrets)
        self.seconds += perf_counter() - start
        self.sent += len(ready)
        return [ready] if ready else []

    @property
    def received(self) -> bytes:
        """The upstream's answer, as operators see it."""
        return scrub_secrets(bytes(self._received), self._secrets)

    def end(self, status: int) -> AnswerEnd:
        """Returns how the stream ended."""
        return self._stream.result(status)


def restorer(wire: Wire, plan: StreamPlan, limit: int) -> AnswerStream | ResultLines:
    """Returns what restores a streamed answer of at most `limit` bytes, or results whose lines have at most so many."""
    return ResultLines(wire, plan, limit=limit) if plan.framing == "jsonl" else AnswerStream(wire, plan, limit=limit)


def is_stream(flow: http.HTTPFlow, framing: Framing) -> bool:
    """Tells whether a response is the stream that was asked for, in a form that can be restored on the fly."""
    response = flow.response
    assert response is not None
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    is_plain = response.headers.get("content-encoding", "identity").lower() == "identity"
    # Clients of HTTP/1.0 cannot read chunks.
    can_stream = flow.request.http_version != "HTTP/1.0"
    is_kind = framing == "jsonl" or kind in MEDIA_TYPES[framing]
    return is_kind and response.status_code == 200 and is_plain and can_stream


def prepare_head(response: http.Response, answer: Callable[[bytes], list[bytes]]) -> None:
    """Has mitmproxy pass the body through `answer`, whose length is not known (RFC 9112 section 7.1)."""
    # Chunks are new in this version, and clients may not look for them in an answer of an older one.
    response.http_version = "HTTP/1.1"
    response.headers.pop("content-length", None)
    response.headers["transfer-encoding"] = "chunked"
    response.stream = answer
