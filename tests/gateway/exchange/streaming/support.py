"""Streams of chat completions, and the same messages as answers that come at once."""

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import orjson

from gateway.exchange.answer_guard import AnswerGuard
from gateway.exchange.messages import StreamPlan
from gateway.exchange.streaming import AnswerStream
from gateway.guard import GuardContext
from gateway.placeholders import Placeholders, RestoreScope, urls_with_placeholders
from gateway.policy.document import GuardDocument
from gateway.wires.chat_completions import WIRE

type Body = dict[str, Any]

NOTE = {"request_id": "r"}
SHARED = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
DONE = b"data: [DONE]\n\n"
LIMIT = 10**8


class Session:
    """The placeholders of a conversation. `{NAME}` in a text is replaced by one of them."""

    def __init__(self, source: str = "", **values: tuple[str, str]) -> None:
        self.placeholders = Placeholders(b"k" * 32)
        self.values = {name: value for name, (_, value) in values.items()}
        self.marks = {name: self.placeholders.mint(kind, value) for name, (kind, value) in values.items()}
        said = " ".join(self.marks.values()) + " " + self.write(source)
        request = orjson.dumps({"model": "m", "messages": [{"role": "user", "content": said}]})
        self.scope = RestoreScope("source", urls_with_placeholders(said))
        self._context = GuardContext(self.placeholders, self.scope, request, {})

    def write(self, text: str) -> str:
        """Returns what the upstream writes."""
        for name, mark in self.marks.items():
            text = text.replace(f"{{{name}}}", mark)
        return text

    def read(self, text: str) -> str:
        """Returns what the client is to read."""
        for name, value in self.values.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def stream(
        self, guard: GuardDocument | None = None, *, note: Body | None = NOTE, limit: int = LIMIT, hold: bool = False
    ) -> AnswerStream:
        rules = AnswerGuard(self._context, guard or GuardDocument())
        return AnswerStream(WIRE, StreamPlan(rules, "r", note=note, hold=hold), limit=limit)

    def whole(self, answer: Body, guard: GuardDocument | None = None) -> Body:
        """Restores an answer that comes at once."""
        rules = AnswerGuard(self._context, guard or GuardDocument())
        texts = WIRE.answer_texts(answer)
        verdict = rules.inspect(texts)
        for position, text in enumerate(texts):
            restored = rules.restored(text, verdict.redacted(position, text.text))
            if restored != text.text:
                text.write(restored)
        return answer


def played(stream: AnswerStream, pieces: Iterable[bytes]) -> bytes:
    return b"".join([*map(stream.feed, pieces), stream.finish()])


def event(body: Body) -> bytes:
    return b"data: " + orjson.dumps(body) + b"\n\n"


def chunk(delta: Body, index: int = 0, finish: str | None = None, **members: Any) -> Body:
    return {**SHARED, "choices": [{"index": index, "delta": delta, "finish_reason": finish, **members}]}


def text_stream(texts: Iterable[str], **members: Any) -> bytes:
    """A stream of one text, in the given pieces."""
    deltas = [event(chunk({"content": text}, **members)) for text in texts]
    return b"".join([event(chunk({"role": "assistant", "content": ""})), *deltas, event(chunk({}, 0, "stop")), DONE])


def in_pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def in_random_pieces[T: (str, bytes)](data: T, chance: random.Random, most: int) -> Iterator[T]:
    cuts = sorted({0, len(data), *(chance.randrange(len(data) + 1) for _ in range(chance.randint(1, most)))})
    for start, end in pairwise(cuts):
        yield data[start:end]


def bodies(data: bytes) -> list[Body]:
    """The bodies of all events but the last, which says that the stream is done."""
    found: list[Body] = []
    for raw in data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n\n"):
        lines = [line[5:].removeprefix(b" ") for line in raw.split(b"\n") if line.startswith(b"data:")]
        if lines and lines != [b"[DONE]"]:
            found.append(orjson.loads(b"\n".join(lines)))
    return found


def message(events: Sequence[Body]) -> Body:
    """Puts an answer together as the SDKs do."""
    choices: dict[int, Body] = {}
    result: Body = {"choices": choices}
    for body in events:
        result |= {name: body[name] for name in ("usage", "svc", "error") if body.get(name) is not None}
        for choice in body.get("choices", ()):
            into = choices.setdefault(choice["index"], {"index": choice["index"], "message": {}})
            _grow(into["message"], choice["delta"])
            _grow(into, {name: value for name, value in choice.items() if name not in {"index", "delta"}})
    return {**result, "choices": [choices[index] for index in sorted(choices)]}


def _grow(into: Body, delta: Body) -> None:
    for name, value in delta.items():
        if name == "obfuscation":
            continue
        if isinstance(value, dict):
            _grow(into.setdefault(name, {}), value)
        elif isinstance(value, list):
            _grow_list(into.setdefault(name, []), value)
        elif isinstance(value, str) and isinstance(into.get(name), str) and name not in {"role", "id", "type"}:
            into[name] += value
        elif value is not None or name not in into:
            into[name] = value


def _grow_list(into: list[Any], items: list[Any]) -> None:
    for item in items:
        known = isinstance(item, dict) and "index" in item
        if known and item["index"] < len(into):
            _grow(into[item["index"]], item)
        else:
            into.append(item)


def text_of(data: bytes) -> str:
    """The text of the first choice."""
    return "".join(
        choice["delta"].get("content") or ""
        for body in bodies(data)
        for choice in body.get("choices", ())
        if choice["index"] == 0
    )
