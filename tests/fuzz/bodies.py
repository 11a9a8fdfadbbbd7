"""Requests and answers of every wire, and coded bodies: whatever their shape, nothing private is sent."""

import asyncio
import gzip
import random
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import brotli
import orjson
import zstandard

from gateway.config.loading import load_settings
from gateway.container import Container
from gateway.errors import GatewayError
from gateway.exchange.destination import Destination
from gateway.exchange.state import Exchange
from gateway.exchange.streaming import AnswerStream
from gateway.http.content_encoding import decode
from gateway.http.strict_json import dump, parse_object
from gateway.models import Caller, Scope, Trust
from scripts.try_clients.upstream import chat, gemini, messages, responses
from tests.exchanges import protected_exchange
from tests.fuzz.mutation import ADDRESS, CARD, PRIVATE, mutated_bytes, mutated_json, quiet
from tests.gateway.wires.replays import byte_chunks

type Json = Any
type Check = Callable[[random.Random, int], int]
"""Runs one case on an input of at most about this many bytes, and returns its size."""

_SCHEMA = {"type": "object", "properties": {"to": {"type": "string", "description": PRIVATE}}, "required": ["to"]}
_CALL = {"id": "c1", "type": "function", "function": {"name": "send", "arguments": '{"to": "anna@acme.test"}'}}
REQUESTS: dict[str, Json] = {
    "/v1/chat/completions": {
        "model": "gpt-5",
        "messages": [
            {"role": "system", "content": "You help."},
            {"role": "user", "name": "anna", "content": [{"type": "text", "text": PRIVATE}]},
            {"role": "assistant", "content": None, "tool_calls": [_CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "Sent to anna@acme.test."},
            {"role": "user", "content": PRIVATE},
        ],
        "tools": [{"type": "function", "function": {"name": "send", "description": "Sends.", "parameters": _SCHEMA}}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": _SCHEMA}},
        "metadata": {"ticket": PRIVATE},
    },
    "/v1/responses": {
        "model": "gpt-5",
        "instructions": "You help.",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": PRIVATE}]},
            {"type": "function_call", "call_id": "c1", "name": "send", "arguments": '{"to": "anna@acme.test"}'},
            {"type": "function_call_output", "call_id": "c1", "output": "Sent."},
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": PRIVATE}]},
        ],
        "tools": [{"type": "function", "name": "send", "parameters": _SCHEMA}],
    },
    "/v1/messages": {
        "model": "claude-x",
        "max_tokens": 100,
        "system": [{"type": "text", "text": "You help.", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": PRIVATE}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "a", "input": {"a": PRIVATE}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": PRIVATE}]},
        ],
        "tools": [{"name": "send", "description": PRIVATE, "input_schema": _SCHEMA}],
    },
    "/v1beta/models/gemini-x:generateContent": {
        "systemInstruction": {"parts": [{"text": "You help."}]},
        "contents": [
            {"role": "user", "parts": [{"text": PRIVATE}]},
            {"role": "model", "parts": [{"functionCall": {"name": "send", "args": {"to": PRIVATE}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "send", "response": {"said": PRIVATE}}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "send", "parameters": _SCHEMA}]}],
        "generationConfig": {"temperature": 0.5, "stopSequences": ["a"]},
    },
    "/v1/completions": {"model": "gpt-5", "prompt": [PRIVATE, "b"], "suffix": PRIVATE, "stop": ["\n"]},
    "/v1/embeddings": {"model": "e", "input": [PRIVATE, "b"], "dimensions": 8},
    "/v1/moderations": {"model": "m", "input": [{"type": "text", "text": PRIVATE}]},
}  # fmt: skip
_CODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}


class _Pipeline:
    """A gateway without listeners, on an event loop of its own."""

    def __init__(self, loop: asyncio.AbstractEventLoop, container: Container) -> None:
        self._run = loop.run_until_complete
        self.container = container

    def open(self, path: str, content: bytes) -> Exchange:
        """Reads a body and protects it. Raises GatewayError."""
        wire = self.container.wires.serving("POST", path.partition("?")[0])
        assert wire is not None
        body = parse_object(content)
        model = wire.model(body, path)
        return self._run(
            protected_exchange(
                self.container,
                wire,
                body,
                Caller("key_fuzz", Scope.CLIENT),
                Destination(model if isinstance(model, str) else "", Trust.LOCAL),
                path=path,
                may_stream=True,
                annotated=True,
            )
        )


@contextmanager
def _pipeline(folder: Path) -> Iterator[_Pipeline]:
    loop = asyncio.new_event_loop()
    settings = load_settings(None, data_dir=folder / "data", detection="patterns")
    container = loop.run_until_complete(Container.start(settings))
    try:
        yield _Pipeline(loop, container)
    finally:
        loop.run_until_complete(container.__aexit__(None, None, None))
        loop.close()


def _content(rng: random.Random, body: Json, longest: int) -> bytes:
    content = orjson.dumps(mutated_json(rng, body))
    return mutated_bytes(rng, content, longest=longest) if rng.random() < 0.3 else content


@contextmanager
def requests(folder: Path) -> Iterator[Check]:
    """Private values of a request are never sent."""
    with _pipeline(folder) as pipeline:

        def check(rng: random.Random, longest: int) -> int:
            path = rng.choice([*REQUESTS])
            content = _content(rng, REQUESTS[path], longest)
            try:
                exchange = pipeline.open(path, content)
            except GatewayError as error:
                quiet(error)
            else:
                assert not [value for value in (CARD, ADDRESS) if value.encode() in exchange.body], "a value crosses"
                parse_object(exchange.body)
            return len(content)

        yield check


def _said(path: str, text: str) -> list[tuple[Json, list[Json], bool]]:
    """Answers to a request with a text and, where the wire has them, with a call: whole, as events, and named ones."""
    call = ("c1", "send", {"to": text, "n": [1, {"a": text}]})
    if path == "/v1/chat/completions":
        return [chat(None, text), chat(call, text)]
    if path == "/v1/responses":
        return [responses(None, text), responses(call, text)]
    if path == "/v1/messages":
        return [messages(None, text), messages(call, text)]
    if path == "/v1/completions":
        choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": "stop"}
        whole = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m", "choices": [choice]}
        return [(whole, [whole, "[DONE]"], False)]
    return [gemini(None, text), gemini(call, text)]


def _opened(pipeline: _Pipeline, *, stream: bool) -> list[tuple[Exchange, list[tuple[Json, list[Json], bool]]]]:
    """An exchange of each wire that answers in words, and answers that name its values."""
    found = []
    for path in [*REQUESTS][:5]:
        body, place = REQUESTS[path], path
        if stream and "gemini" in path:
            place = path.replace("generateContent", "streamGenerateContent?alt=sse")
        elif stream:
            body = {**body, "stream": True}
        exchange = pipeline.open(place, orjson.dumps(body))
        marks = " ".join(entry.placeholder for entry in exchange.placeholders.entries())
        found.append((exchange, _said(path, f"Dear {marks}, see https://a.example/?q={marks} [a]({marks}) `x`.")))
    return found


@contextmanager
def answers(folder: Path) -> Iterator[Check]:
    """An answer is restored, passed on as it is, or refused."""
    with _pipeline(folder) as pipeline:
        opened = _opened(pipeline, stream=False)

        def check(rng: random.Random, longest: int) -> int:
            exchange, said = rng.choice(opened)
            content = _content(rng, rng.choice(said)[0], longest)
            done = pipeline.container.answers.restore(exchange, 200, content)
            assert done.outcome != "restore_failed", "an answer could not be restored"
            return len(content)

        yield check


@contextmanager
def streams(folder: Path) -> Iterator[Check]:
    """A streamed answer is restored alike, no matter in which pieces it arrives."""
    with _pipeline(folder) as pipeline:
        opened = _opened(pipeline, stream=True)

        def check(rng: random.Random, longest: int) -> int:
            exchange, said = rng.choice(opened)
            _, events, named = rng.choice(said)
            if rng.random() < 0.7:
                events = [mutated_json(rng, event) if rng.random() < 0.1 else event for event in events]
            content = b"".join(_event(event, named=named) for event in events)
            if rng.random() < 0.6:
                content = mutated_bytes(rng, content, longest=longest)

            def played(pieces: Iterable[bytes]) -> tuple[bytes, str]:
                plan = pipeline.container.answers.plan(exchange)
                stream = AnswerStream(exchange.wire, plan, limit=1 << 24)
                got = b"".join([*map(stream.feed, pieces), stream.finish()])
                return got, stream.result(200).outcome

            whole = played([content])
            assert whole[1] != "restore_failed", "a stream could not be restored"
            assert played(byte_chunks(content, rng)) == whole, "it depends on the pieces"
            return len(content)

        yield check


def _event(event: Json, *, named: bool) -> bytes:
    kind = event.get("type") if isinstance(event, dict) else None
    name = b"event: %s\n" % kind.encode("utf-8", "replace") if named and isinstance(kind, str) else b""
    return b"%sdata: %s\n\n" % (name, event.encode() if isinstance(event, str) else orjson.dumps(event))


@contextmanager
def codings(_: Path) -> Iterator[Check]:
    """A coded body decodes within the limit, or is refused."""
    body = dump(REQUESTS["/v1/chat/completions"])

    def check(rng: random.Random, longest: int) -> int:
        name = rng.choice([*_CODERS])
        content = mutated_bytes(rng, _CODERS[name](body * rng.randint(1, 20)), longest=longest)
        limit = rng.randint(0, 20_000)
        try:
            assert len(decode(content, rng.choice((name, *_CODERS)), limit)) <= limit
        except GatewayError as error:
            quiet(error)
        return len(content)

    yield check
