"""Replays streamed answers as an upstream sends them, and shows them to the official SDK."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import httpx2

from gateway.exchange.answer_guard import AnswerGuard
from gateway.exchange.messages import AnswerEnd, StreamPlan
from gateway.exchange.streaming import AnswerStream
from gateway.guard import GuardContext
from gateway.placeholders import Placeholders, RestoreScope
from gateway.policy.document import GuardDocument, RestoreDocument
from gateway.wires.base import Body, Wire
from tests.lazy import Lazy

openai = Lazy("openai")

CARD = "4111 1111 1111 1111"
MAIL = "anna.schmidt@acme.test"
QUOTED = 'O\'Neil "Annie" \\ Schmidt'


def session() -> tuple[Placeholders, dict[str, str]]:
    """Returns a session and the placeholders of its values."""
    placeholders = Placeholders(b"k" * 32)
    types = {CARD: "CREDIT_CARD", MAIL: "EMAIL_ADDRESS", QUOTED: "PERSON"}
    return placeholders, {value: placeholders.mint(kind, value) for value, kind in types.items()}


def written(text: str, of: Mapping[str, str]) -> str:
    """Returns a text, or a document, with placeholders for values, also in documents inside it."""
    for value, placeholder in of.items():
        quoted = json.dumps(value, ensure_ascii=False)[1:-1]
        for spelled in (json.dumps(quoted, ensure_ascii=False)[1:-1], quoted, value):
            text = text.replace(spelled, placeholder)
    return text


def plan(placeholders: Placeholders, request: Any = None, guard: Any = None, **more: Any) -> StreamPlan:
    """Returns a plan. Without a `GuardDocument`, its guard lets everything pass but what `guard` names."""
    if not isinstance(guard, GuardDocument):
        guard = GuardDocument(**{**dict.fromkeys(GuardDocument.model_fields, "off"), **(guard or {})})
    body = json.dumps(request or {}, ensure_ascii=False, separators=(",", ":")).encode()
    context = GuardContext(placeholders, RestoreScope("source"), body, {})
    return StreamPlan(AnswerGuard(context, guard, more.pop("restore", RestoreDocument())), "req_1", **more)


def replay(wire: Wire, pieces: Iterable[bytes], of: StreamPlan) -> tuple[bytes, AnswerEnd]:
    """Returns what the client gets for the pieces of a body, and how it ended."""
    stream = AnswerStream(wire, of, limit=1 << 24)
    got = b"".join([*(stream.feed(piece) for piece in pieces), stream.finish()])
    return got, stream.result(200)


def sse(events: Iterable[Body | str], *, named: bool = False) -> bytes:
    """Returns the events as a body. With `named`, each has its type as its name."""
    lines = []
    for event in events:
        data = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
        name = f"event: {event['type']}\n" if named and not isinstance(event, str) else ""
        lines.append(f"{name}data: {data}\n\n")
    return "".join(lines).encode()


def read_sse(body: bytes) -> list[Body]:
    """Returns the events of a body."""
    found = []
    for block in body.decode().split("\n\n"):
        data = [line[6:] for line in block.split("\n") if line.startswith("data: ")]
        if data and data[0] != "[DONE]":
            found.append(json.loads("\n".join(data)))
    return found


def chunks(text: str, dice: random.Random, longest: int = 12) -> Iterator[str]:
    """Divides a text at random."""
    position = 0
    while position < len(text):
        end = position + dice.randint(1, longest)
        yield text[position:end]
        position = end


def byte_chunks(body: bytes, dice: random.Random, longest: int = 200) -> Iterator[bytes]:
    """Divides a body at random, also inside characters."""
    position = 0
    while position < len(body):
        end = position + dice.randint(1, longest)
        yield body[position:end]
        position = end


def client(answer: Callable[[Body], tuple[str, bytes]]) -> Any:
    """Returns an SDK client whose upstream is `answer`, which returns a media type and a body."""

    def handle(request: httpx2.Request) -> httpx2.Response:
        kind, content = answer(json.loads(request.content or b"{}"))
        return httpx2.Response(200, headers={"content-type": kind}, content=content)

    return openai.OpenAI(
        api_key="k",
        base_url="http://upstream.test/v1",
        http_client=httpx2.Client(transport=httpx2.MockTransport(handle)),
    )
