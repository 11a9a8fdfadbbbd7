"""LangChain through both listeners: an agent with a tool reads and passes on its own words."""

import json
from itertools import pairwise
from typing import Any

import pytest

from tests.e2e.entrances import Entrance
from tests.e2e.upstream import Recorded, Reply
from tests.gateway.exchange.streaming.support import DONE, Body, chunk, event, in_pieces, message, text_stream
from tests.lazy import Lazy

from . import test_streaming
from .test_streaming import CARD, MAIL, SAID, SSE, sdk

langchain_openai, openai = Lazy("langchain_openai"), Lazy("openai")
messages, tools = Lazy("langchain_core.messages"), Lazy("langchain_core.tools")

# Fixtures.
served, entrance = test_streaming.served, test_streaming.entrance


@pytest.fixture
def send() -> Any:
    def send(text: str, call: int) -> str:
        """Sends a text."""
        return f"{call}: {MAIL}" if text == SAID else "not what was said"

    return tools.tool(send)


class Agent:
    """A model that calls a tool three times, with what it was told, and then says what the last call returned."""

    def __call__(self, request: Recorded) -> Reply:
        messages = request.json["messages"]
        results = [message["content"] for message in messages if message["role"] == "tool"]
        if len(results) == 3:
            return Reply(text_stream(in_pieces(f"Done: {results[-1]}", 3)), headers=SSE)
        arguments = json.dumps({"text": messages[0]["content"], "call": len(results)})
        call = {"index": 0, "id": f"call_{len(results)}", "type": "function", "function": {"name": "send"}}
        deltas: list[Body] = [{"role": "assistant", "content": None, "tool_calls": [call]}]
        deltas += [
            {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in in_pieces(arguments, 7)
        ]
        return Reply(
            b"".join([*(event(chunk(delta)) for delta in deltas), event(chunk({}, 0, "tool_calls")), DONE]), headers=SSE
        )


def whole(request: Recorded) -> Reply:
    """Returns the answer of the agent's model in one piece."""
    body = Agent()(request).body
    assert isinstance(body, bytes)
    events = [line[6:] for line in body.split(b"\n") if line.startswith(b"data: {")]
    said = message([json.loads(each) for each in events])
    return Reply(json.dumps(said).encode())


def chat(client: Any) -> Any:
    # Its own client would read the proxy of the environment.
    return langchain_openai.ChatOpenAI(model="m", client=client.chat.completions, root_client=client, api_key="unused")


@pytest.mark.parametrize("streamed", [False, True])
def test_an_agent_calls_a_tool_three_times(entrance: Entrance, send: Any, streamed: bool, monkeypatch: Any) -> None:
    # It may report to its vendor.
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    entrance.upstream.answer = Agent() if streamed else whole
    history = [messages.HumanMessage(SAID)]
    with sdk(entrance) as client:
        bound = chat(client).bind_tools([send])
        for _ in range(4):
            answer: Any = None
            if streamed:
                for piece in bound.stream(history):
                    answer = piece if answer is None else answer + piece
            else:
                answer = bound.invoke(history)
            history.append(answer)
            history += [
                messages.ToolMessage(send.invoke(call["args"]), tool_call_id=call["id"]) for call in answer.tool_calls
            ]
    assert history[-1].text == f"Done: 2: {MAIL}"
    assert len(history) == 8
    sent = [request.json["messages"] for request in entrance.upstream.recorded]
    assert [len(turn) for turn in sent] == [1, 3, 5, 7]
    assert all(later[: len(turn)] == turn for turn, later in pairwise(sent))
    assert MAIL.encode() not in entrance.crossed
    assert CARD.encode() not in entrance.crossed
