"""Calls of every wire and of the native API with private values in them, and a client that may vanish at any moment."""

import asyncio
import contextlib
import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from benchmarks.texts import prose

type Json = Any

PRIVATE = re.compile(rb"(?i)canary|4111[ -]?1111|@mail[0-9]+\.example\.org")
"""A value in every text, in the forms that a leak is likely to have."""

GARBAGE = b"{no json"
"""An occasional answer of the upstream. The proxy passes it on unchanged."""

_STREAMING = ("chat/completions", "responses", "messages", "gemini", "completions")
_QUIET = ("embeddings", "moderations")


@dataclass(frozen=True)
class Call:
    """A request, and what its answer has to say when it is complete."""

    kind: str
    path: str
    body: bytes
    sentence: str
    stream: bool = False
    method: str = "POST"


@dataclass
class Answer:
    """The result of a call; `complete` unless the client vanished or the connection broke."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    complete: bool = False

    @property
    def json(self) -> Json:
        return orjson.loads(self.body)


def sentence(rng: random.Random) -> str:
    """One line with an address, a card number and a name that say what they are."""
    number = rng.randrange(10**9)
    return f"My name is Anna Canary, write to canary.{number}@mail{number % 997}.example.org, card 4111 1111 1111 1111."


def text(rng: random.Random) -> tuple[str, str]:
    """A sentence, and a text of 0.2 to 8 KB, rarely of 60, which begins with it."""
    said = sentence(rng)
    size = 60_000 if rng.random() < 0.01 else int(200 * 40 ** rng.random())
    return said, f"{said}\n{prose(size, rng)}"


def wire_call(rng: random.Random) -> Call:
    """A call of a random wire, streamed or not."""
    said, whole = text(rng)
    kind = rng.choice((*_STREAMING, *_STREAMING, *_QUIET))
    stream = kind in _STREAMING and rng.random() < 0.5
    user = [{"role": "user", "content": whole}]
    body: Json
    path = f"/v1/{kind}"
    match kind:
        case "chat/completions":
            body = {"model": "gpt-5", "messages": user}
        case "responses" | "embeddings" | "moderations":
            body = {"model": "gpt-5", "input": whole}
        case "completions":
            body = {"model": "gpt-5", "prompt": whole}
        case "messages":
            body = {"model": "claude-x", "max_tokens": 100, "messages": user}
        case _:
            body = {"contents": [{"role": "user", "parts": [{"text": whole}]}]}
            path = "/v1beta/models/gemini-x:" + ("streamGenerateContent?alt=sse" if stream else "generateContent")
    if stream and kind != "gemini":
        body["stream"] = True
    return Call(kind, path, orjson.dumps(body), said if kind in _STREAMING else "", stream)


def spoken(call: Call, answer: Answer) -> str:
    """Returns the text of a complete answer of a wire."""
    if not call.stream:
        return "".join(_texts(answer.json))
    events = [line[6:] for line in answer.body.split(b"\n") if line.startswith(b"data: {")]
    return "".join(part for event in events for part in _pieces(orjson.loads(event)))


def _pieces(event: Json) -> Iterator[str]:
    kind = event.get("type", "")
    if kind.startswith("response."):
        yield from [event["delta"]] if kind == "response.output_text.delta" else []
    elif kind:
        yield from _texts(event.get("delta", {}))
    else:
        yield from _texts(event)


def _texts(value: Json) -> Iterator[str]:
    """Yields the texts in an answer, or in a piece of one, wherever wires have them."""
    if isinstance(value, dict):
        for name, member in value.items():
            if name in {"content", "text"} and isinstance(member, str):
                yield member
            elif name != "svc":
                yield from _texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)


class Client:
    """One connection after another to a listener. `origin` is put before each path, for a proxy."""

    def __init__(self, port: int, key: str, origin: str = "") -> None:
        self._port = port
        self._key = key
        self._origin = origin
        self._link: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(
        self, call: Call, *, vanish: float | None = None, answered: Callable[[Answer], object] = lambda _: None
    ) -> Answer:
        """Sends a call and reads the answer. The client is gone after `vanish` seconds.

        `answered` gets the head of the answer as soon as it is there.
        """
        answer = Answer()
        with contextlib.suppress(OSError, EOFError, TimeoutError, asyncio.LimitOverrunError):
            async with asyncio.timeout(60 if vanish is None else vanish):
                await self._send(call, answer, answered)
        if not answer.complete or answer.headers.get("connection") == "close":
            self.close()
        return answer

    def close(self) -> None:
        if self._link is not None:
            self._link[1].transport.abort()
            self._link = None

    async def _send(self, call: Call, answer: Answer, answered: Callable[[Answer], object]) -> None:
        if self._link is None:
            self._link = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 24)
        reader, writer = self._link
        host = self._origin.removeprefix("http://") or f"127.0.0.1:{self._port}"
        head = (
            f"{call.method} {self._origin}{call.path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {self._key}\r\n"
        )
        head += f"content-type: application/json\r\ncontent-length: {len(call.body)}\r\n\r\n"
        writer.write(head.encode() + call.body)
        await writer.drain()
        status, *fields = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        answer.status = int(status.split(" ")[1])
        answer.headers = {name.lower(): value for name, _, value in (each.partition(": ") for each in fields if each)}
        answered(answer)
        if answer.headers.get("transfer-encoding") == "chunked":
            while size := int(await reader.readuntil(b"\r\n"), 16):
                answer.body += (await reader.readexactly(size + 2))[:-2]
            await reader.readuntil(b"\r\n")
        elif "content-length" in answer.headers:
            answer.body = await reader.readexactly(int(answer.headers["content-length"]))
        else:
            answer.body = await reader.read()
        answer.complete = True


def native(kind: str, body: Json) -> Call:
    """A call of the native API."""
    return Call(kind, f"/v1/{kind}", json.dumps(body).encode(), "")
