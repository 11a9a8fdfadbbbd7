"""Streamed answers as operators read them: few events, with each text in one piece."""

import json
from typing import Any

import pytest

from addons.joined_stream import events_of, joined
from gateway.wires.base import Wires
from tests.gateway.wires.replays import sse
from tests.gateway.wires.test_bedrock_streams import chunked, delta, framed, stop

WIRES = Wires.discover()
SAID = "Dear [PERSON_7KQ2M], it is done."
ARGUMENTS = '{"to": "[EMAIL_ADDRESS_X4T9P]"}'

type Body = dict[str, Any]


def pieces(text: str) -> list[str]:
    return [text[start : start + 5] for start in range(0, len(text), 5)]


def shown(wire: str, data: bytes) -> list[Body]:
    found = WIRES.named(wire)
    assert found is not None
    assert found.stream is not None
    return joined(events_of(data), found.stream)


def chat_chunk(delta: Body, finish_reason: str | None = None) -> Body:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}


def test_chat_completions() -> None:
    call = {"index": 0, "id": "call_1", "function": {"name": "send", "arguments": ""}}
    events: list[Any] = [
        chat_chunk({"role": "assistant", "content": ""}),
        *(chat_chunk({"content": piece}) for piece in pieces(SAID)),
        chat_chunk({"tool_calls": [call]}),
        *(chat_chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}) for piece in pieces(ARGUMENTS)),
        chat_chunk({}, "tool_calls"),
        {"id": "c", "choices": [], "usage": {"prompt_tokens": 1}},
    ]
    assert shown("chat-completions", sse([*events, "[DONE]"])) == [
        chat_chunk({"role": "assistant", "content": SAID}),
        chat_chunk({"tool_calls": [{**call, "function": {"name": "send", "arguments": ARGUMENTS}}]}),
        chat_chunk({}, "tool_calls"),
        {"id": "c", "choices": [], "usage": {"prompt_tokens": 1}},
    ]


def test_members_that_every_event_repeats_are_shown_once() -> None:
    events: list[Any] = [
        {"provider": "acme", **chat_chunk({"role": "assistant", "content": piece})} for piece in pieces(SAID)
    ]
    whole = {"provider": "acme", **chat_chunk({"role": "assistant", "content": SAID})}
    assert shown("chat-completions", sse(events)) == [whole]


def test_anthropic_messages() -> None:
    text = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    call = {"type": "tool_use", "id": "t_1", "name": "send", "input": {}}
    deltas = [
        *({"index": 0, "delta": {"type": "text_delta", "text": piece}} for piece in pieces(SAID)),
        *({"index": 1, "delta": {"type": "input_json_delta", "partial_json": piece}} for piece in pieces(ARGUMENTS)),
    ]
    grown = [{"type": "content_block_delta", **delta} for delta in deltas]
    events: list[Any] = [
        {"type": "message_start", "message": {"id": "m", "content": []}},
        text,
        *grown[: len(pieces(SAID))],
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": call},
        *grown[len(pieces(SAID)) :],
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ]
    found = json.dumps(shown("anthropic-messages", sse(events, named=True)))
    assert found.count(SAID) == 1
    assert found.count(json.dumps(ARGUMENTS)) == 1
    assert '"send"' in found
    assert '"stop_reason": "tool_use"' in found
    assert len(json.loads(found)) < len(events)


def test_repetitions_of_a_text_are_shown_once_and_at_the_end() -> None:
    part = {"type": "output_text", "text": SAID, "annotations": []}
    at = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [part]}
    events: list[Any] = [
        *({"type": "response.output_text.delta", **at, "delta": piece} for piece in pieces(SAID)),
        {"type": "response.output_text.done", **at, "text": SAID},
        {"type": "response.completed", "response": {"id": "r", "output": [message]}},
    ]
    found = shown("responses", sse(events, named=True))
    assert [event["type"] for event in found] == ["response.output_text.delta", "response.completed"]
    assert found[0]["delta"] == SAID


@pytest.mark.parametrize("framing", ["sse", "json-array"])
def test_gemini(framing: str) -> None:
    events: list[Any] = [
        {"candidates": [{"index": 0, "content": {"parts": [{"text": piece}]}}]} for piece in pieces(SAID)
    ]
    events.append({"candidates": [{"index": 0, "finishReason": "STOP"}], "usageMetadata": {"totalTokenCount": 9}})
    found = shown("gemini", sse(events) if framing == "sse" else json.dumps(events).encode())
    assert found[0]["candidates"][0]["content"]["parts"][0]["text"] == SAID
    assert found[-1] == events[-1]
    assert json.dumps(found).count("Dear") == 1


def test_lines() -> None:
    events: list[Any] = [{"message": {"role": "assistant", "content": piece}, "done": False} for piece in pieces(SAID)]
    events.append({"message": {"role": "assistant", "content": ""}, "done": True, "eval_count": 9})
    found = shown("ollama-chat", b"".join(json.dumps(event).encode() + b"\n" for event in events))
    assert found == [{**events[0], "message": {"role": "assistant", "content": SAID}}, events[-1]]


def test_two_calls_in_one_place_stay_two() -> None:
    events: list[Any] = [
        chat_chunk({"tool_calls": [{"index": 0, "id": f"call_{n}", "function": {"name": "f", "arguments": f"[{n}"}}]})
        for n in (1, 2)
    ]
    events.insert(1, chat_chunk({"tool_calls": [{"index": 0, "function": {"arguments": "]"}}]}))
    calls = [event["choices"][0]["delta"]["tool_calls"][0] for event in shown("chat-completions", sse(events))]
    assert [call["function"]["arguments"] for call in calls] == ["[1]", "[2"]


@pytest.mark.parametrize(
    "data",
    [
        b'{"choices": []}',
        b'{\n"a": 1\n}',
        b"{\n{",
        b"data: [DONE]\n\n",
        b"data: x\n\n",
        b"data: 1\n\n",
        b"[1]",
        b"",
        b"\xff",
        b'[{"a": ',
    ],
)
def test_other_bodies_have_no_events(data: bytes) -> None:
    assert events_of(data) == []


def test_event_streams_of_bedrock() -> None:
    said = [delta(0, text=piece) for piece in pieces(SAID)]
    for wire, data in (("bedrock-converse", framed([*said, stop(0)])), ("bedrock-invoke", chunked([*said, stop(0)]))):
        first, *others = shown(wire, data + b"\0")
        assert first["contentBlockDelta"]["delta"] == {"text": SAID}
        assert [next(iter(each)) for each in others] == ["contentBlockStop"]
    assert events_of(framed([stop(0)])[:-1] + b"x") == []
