"""Streams of Mistral's wires of completions, whose content is a string or parts; `contract` cuts them anywhere."""

import json
import random

import pytest

from gateway.wires.base import Body, Wire
from gateway.wires.mistral_agents import WIRE as AGENTS
from gateway.wires.mistral_fim import WIRE as FIM
from tests.gateway.wires.replays import CARD, MAIL, QUOTED, chunks, plan, read_sse, replay, session, sse, written

PLACEHOLDERS, OF = session()
CODE = f'    return "{MAIL}", "{CARD}"  # grüße'
THOUGHT, SAID = f"They are {QUOTED}.", f"Write to {MAIL}, about {CARD}; grüße"
ARGUMENTS = json.dumps({"to": {"deep": [MAIL, 1]}, "note": QUOTED}, ensure_ascii=False)
HEAD: Body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
USAGE = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}


def pieces(text: str, size: int) -> list[str]:
    return [*chunks(written(text, OF), random.Random(size), size)]


def streamed(deltas: list[Body], reason: str) -> bytes:
    """Returns the deltas of one choice as the upstream sends them. The last has the usage."""
    events = [{**HEAD, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    events[-1]["choices"][0]["finish_reason"] = reason
    events[-1]["usage"] = USAGE
    return sse([*events, "[DONE]"])


def code(size: int) -> bytes:
    """A stream of FIM, whose content is strings."""
    said: list[Body] = [{"content": piece} for piece in pieces(CODE, size)]
    return streamed([{"role": "assistant", "content": ""}, *said, {"content": ""}], "stop")


def answer(size: int) -> bytes:
    """A stream of an agent: thinking and a reference in parts, text as a string, and a call in pieces."""

    def thought(text: str) -> Body:
        return {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]}

    def called(arguments: str) -> Body:
        call = {"id": "c1", "index": 0, "function": {"name": "send", "arguments": arguments}}
        return {"content": "", "tool_calls": [call]}

    return streamed(
        [
            {"role": "assistant", "content": ""},
            *(thought(piece) for piece in pieces(THOUGHT, size)),
            *({"content": piece} for piece in pieces(SAID, size)),
            {"content": [{"type": "reference", "reference_ids": [1]}]},
            *(called(piece) for piece in pieces(ARGUMENTS, size)),
            {"content": ""},
        ],
        "tool_calls",
    )


def restored(wire: Wire, body: bytes) -> list[Body]:
    got, end = replay(wire, [body], plan(PLACEHOLDERS, note={"request_id": "r"}))
    found = read_sse(got)
    assert end.tokens == (3, 4)
    assert [event["svc"]["request_id"] for event in found if "svc" in event] == ["r"]
    return [choice["delta"] for event in found for choice in event["choices"]]


@pytest.mark.parametrize("size", [1, 3, 7, 60])
def test_code_is_restored(size: int) -> None:
    assert "".join(delta.get("content", "") for delta in restored(FIM, code(size))) == CODE


@pytest.mark.parametrize("size", [1, 3, 7, 60])
def test_an_answer_of_an_agent_is_restored(size: int) -> None:
    deltas = restored(AGENTS, answer(size))
    parts = [part for delta in deltas if isinstance(delta.get("content"), list) for part in delta["content"]]
    thoughts = [each for part in parts if part["type"] == "thinking" for each in part["thinking"]]
    assert "".join(each["text"] for each in thoughts) == THOUGHT
    assert {each["type"] for each in thoughts} == {"text"}
    assert [part for part in parts if part["type"] != "thinking"] == [{"type": "reference", "reference_ids": [1]}]
    assert "".join(each for delta in deltas if isinstance(each := delta.get("content"), str)) == SAID
    calls = [call["function"] for delta in deltas for call in delta.get("tool_calls", [])]
    assert json.loads("".join(each["arguments"] for each in calls)) == json.loads(ARGUMENTS)
