"""However a streamed answer is cut, the client gets the same bytes, on every wire."""

import json
import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from gateway.exchange.streaming.framing import sequence_of
from gateway.policy.document import GuardDocument
from gateway.wires.anthropic_messages import WIRE as ANTHROPIC
from gateway.wires.base import Wire, Wires
from gateway.wires.bedrock_converse import WIRE as CONVERSE
from gateway.wires.bedrock_invoke import WIRE as INVOKE
from gateway.wires.chat_completions import WIRE as CHAT
from gateway.wires.code_assist import WIRE as CODE_ASSIST
from gateway.wires.cohere_chat import WIRE as COHERE
from gateway.wires.cohere_chat_v1 import WIRE as COHERE_V1
from gateway.wires.completions import WIRE as COMPLETIONS
from gateway.wires.gemini import WIRE as GEMINI
from gateway.wires.mistral_agents import WIRE as AGENTS
from gateway.wires.mistral_conversations import WIRE as CONVERSATIONS
from gateway.wires.mistral_fim import WIRE as FIM
from gateway.wires.ollama_chat import WIRE as OLLAMA
from gateway.wires.ollama_generate import WIRE as GENERATE
from gateway.wires.responses import WIRE as RESPONSES
from gateway.wires.vertex_anthropic import WIRE as VERTEX_ANTHROPIC
from tests.chunkings import ALL, CHUNKINGS
from tests.gateway.wires import test_anthropic_streams as anthropic
from tests.gateway.wires import test_bedrock_streams as bedrock
from tests.gateway.wires import test_code_assist as code_assist
from tests.gateway.wires import test_cohere_chat_v1 as cohere_v1
from tests.gateway.wires import test_cohere_streams as cohere
from tests.gateway.wires import test_completions as completions
from tests.gateway.wires import test_gemini_streams as gemini
from tests.gateway.wires import test_mistral_conversations as conversations
from tests.gateway.wires import test_mistral_streams as mistral
from tests.gateway.wires import test_ollama_streams as ollama
from tests.gateway.wires import test_responses_streams as responses
from tests.gateway.wires.replays import byte_chunks, plan, read_sse, replay, session, sse


def in_sequence(size: int) -> bytes:
    """The events of the Responses API as messages of a WebSocket are joined."""
    return sequence_of(*(json.dumps(event).encode() for event in read_sse(responses.stream(size))))


# The wire, its streams in deltas of different sizes, and what a plan has besides.
STREAMS: dict[str, tuple[Wire, Callable[[int], bytes], dict[str, Any]]] = {
    "chat": (CHAT, mistral.answer, {}),
    "completions": (COMPLETIONS, completions.stream, {}),
    "responses": (RESPONSES, responses.stream, {"request": responses.REQUEST}),
    "responses over a WebSocket": (RESPONSES, in_sequence, {"request": responses.REQUEST, "framing": "json-seq"}),
    "anthropic": (ANTHROPIC, lambda size: sse(anthropic.answer(size), named=True), {"guard": GuardDocument()}),
    "anthropic on vertex": (
        VERTEX_ANTHROPIC,
        lambda size: sse(anthropic.answer(size), named=True),
        {"guard": GuardDocument()},
    ),
    "gemini": (GEMINI, lambda size: gemini.framed(gemini.answer(size), "sse"), {"guard": GuardDocument()}),
    "code assist": (
        CODE_ASSIST,
        lambda size: gemini.framed(code_assist.wrapped(gemini.answer(size)), "sse"),
        {"guard": GuardDocument()},
    ),
    "cohere": (COHERE, cohere.answer, {}),
    "cohere's first version": (COHERE_V1, cohere_v1.answer, {"framing": "ndjson"}),
    "mistral's agents": (AGENTS, mistral.answer, {}),
    "mistral's code": (FIM, mistral.code, {}),
    "mistral's conversations": (CONVERSATIONS, conversations.answer, {}),
    "ollama": (OLLAMA, ollama.answer, {"framing": "ndjson"}),
    "ollama's generation": (GENERATE, ollama.generated, {"framing": "ndjson"}),
    "gemini in JSON": (
        GEMINI,
        lambda size: gemini.framed(gemini.answer(size), "json-array"),
        {"guard": GuardDocument(), "framing": "json-array"},
    ),
    "converse": (
        CONVERSE,
        lambda size: bedrock.framed(bedrock.answer(size)),
        {"guard": GuardDocument(), "framing": "eventstream"},
    ),
    "invoke": (
        INVOKE,
        lambda size: bedrock.chunked(anthropic.answer(size)),
        {"guard": GuardDocument(), "framing": "eventstream-chunks"},
    ),
}


def test_each_wire_that_streams_is_cut() -> None:
    streaming = {wire.id for wire in Wires.discover() if wire.stream is not None}
    assert {wire.id for wire, _, _ in STREAMS.values()} == streaming


def played(name: str, pieces: Iterable[bytes]) -> bytes:
    wire, _, more = STREAMS[name]
    return replay(wire, pieces, plan(session()[0], **more, note={"request_id": "r"}))[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_cut_into_bytes_and_anywhere(name: str) -> None:
    source = STREAMS[name][1](30)
    whole = played(name, [source])
    assert played(name, (source[at : at + 1] for at in range(len(source)))) == whole
    for cut in range(0, len(source), 1 if ALL else len(source) // 150):
        assert played(name, [source[:cut], source[cut:]]) == whole


@pytest.mark.slow
@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_in_random_chunks(name: str) -> None:
    dice = random.Random(14)
    sources = [STREAMS[name][1](size) for size in (2, 7, 30)]
    # Comments and pings may be anywhere between events.
    sources += [source.replace(b"event: ping", b": a comment\n\nevent: ping") for source in sources]
    whole = [played(name, [source]) for source in sources]
    for _ in range(CHUNKINGS):
        at = dice.randrange(len(sources))
        longest = dice.choice((20, 200, 2000))
        assert played(name, byte_chunks(sources[at], dice, longest)) == whole[at]
