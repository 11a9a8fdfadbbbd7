"""An upstream that speaks every wire, says the first line of a text back, and keeps the digest of all that reached it.

Some answers are slow, break off or fail: which, a seed decides.
"""

import asyncio
import contextlib
import random
import re
from collections import Counter
from collections.abc import AsyncIterator
from hashlib import sha256
from itertools import batched
from typing import Any

import orjson

from benchmarks.mixed_calls import GARBAGE, PRIVATE
from scripts.try_clients.upstream import chat, gemini, messages, responses

type Json = Any

_CHUNKS_AT_ONCE = 8


class MixedUpstream:
    """The server, on a loopback port of its own and the event loop that started it."""

    def __init__(self, seed: int, *, faults: float = 0.05) -> None:
        """`faults` is the share of answers that break off, fail or are late."""
        self.crossed: Counter[str] = Counter()
        """How often a body with this SHA-256 digest arrived, with something in it."""
        self.leaks: list[str] = []
        """Paths of requests that held something private."""
        self.port = 0
        self._rng = random.Random(seed)
        self.faults = faults

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["MixedUpstream"]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 24)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"(?i)content-length: *([0-9]+)", head)
                body = await reader.readexactly(int(length[1]) if length else 0)
                path = head.split(b" ", 2)[1].decode()
                self._note(path, head, body)
                if not await self._answer(path, body, writer):
                    break
        writer.close()

    def _note(self, path: str, head: bytes, body: bytes) -> None:
        if body:
            self.crossed[sha256(body).hexdigest()] += 1
        if PRIVATE.search(head) or PRIVATE.search(body):
            self.leaks.append(path.partition("?")[0])

    async def _answer(self, path: str, body: bytes, writer: asyncio.StreamWriter) -> bool:
        """Answers a request. Returns whether the connection stays open."""
        fault = self._rng.random() < self.faults and self._rng.choice(["late", "error", "garbage", "broken"])
        if fault == "late":
            await asyncio.sleep(0.5)
        if fault in {"error", "garbage"}:
            status, said = (
                (b"503 Busy", b'{"error": {"message": "busy"}}') if fault == "error" else (b"200 OK", GARBAGE)
            )
            writer.write(b"HTTP/1.1 %s\r\ncontent-length: %d\r\n\r\n%s" % (status, len(said), said))
            return True
        asked = orjson.loads(body) if body else {}
        answer, events, named = answers(path, asked)
        if not (asked.get("stream") or ":streamGenerateContent" in path):
            said = orjson.dumps(answer)
            head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(said)
            writer.write(head + (said[: len(said) // 2] if fault == "broken" else said))
            return fault != "broken"
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        for some in batched(events[: len(events) // 2] if fault == "broken" else events, _CHUNKS_AT_ONCE):
            piece = b"".join(_event(event, named=named) for event in some)
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
            await asyncio.sleep(self._rng.uniform(0, 0.02))
        if fault != "broken":
            writer.write(b"0\r\n\r\n")
        return fault != "broken"


def _event(event: Json, *, named: bool) -> bytes:
    name = b"event: %s\n" % event["type"].encode() if named else b""
    return b"%sdata: %s\n\n" % (name, event.encode() if isinstance(event, str) else orjson.dumps(event))


def answers(path: str, asked: Json) -> tuple[Json, list[Json], bool]:
    """Returns the answer to a request, the same as events, and whether these have names."""
    place = path.partition("?")[0]
    if place.endswith("/chat/completions"):
        return chat(None, _line(asked["messages"][-1]["content"]))
    if place.endswith("/responses"):
        return responses(None, _line(asked["input"]))
    if place.endswith("/messages"):
        return messages(None, _line(asked["messages"][-1]["content"]))
    if "enerateContent" in place:
        return gemini(None, _line(asked["contents"][-1]["parts"][0]["text"]))
    if place.endswith("/completions"):
        choice = {"index": 0, "text": _line(asked["prompt"]), "logprobs": None, "finish_reason": "stop"}
        whole = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m", "choices": [choice]}
        return whole, [whole, "[DONE]"], False
    if place.endswith("/embeddings"):
        data = [{"object": "embedding", "index": 0, "embedding": [1.0, -0.5]}]
        return (
            {"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 3, "total_tokens": 3}},
            [],
            False,
        )
    if place.endswith("/moderations"):
        result = {"flagged": False, "categories": {}, "category_scores": {}, "category_applied_input_types": {}}
        return {"id": "modr-1", "model": "m", "results": [result]}, [], False
    return {}, [], False


def _line(text: str) -> str:
    return text.partition("\n")[0]
