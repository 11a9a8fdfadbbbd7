"""LangChain through both listeners: an agent with a tool reads and passes on its own words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.e2e.upstream import Recorded, Reply
from tests.gateway.exchange.streaming.support import message
from tests.lazy import Lazy

from . import test_streaming
from .test_streaming import CARD, MAIL, SAID, Agent, Entrance

langchain_openai, openai = Lazy("langchain_openai"), Lazy("openai")
messages, tools = Lazy("langchain_core.messages"), Lazy("langchain_core.tools")

# Fixtures.
served, entrance = test_streaming.served, test_streaming.entrance


@pytest.fixture
def send() -> tools.BaseTool:
    def send(text: str, call: int) -> str:
        """Sends a text."""
        return f"{call}: {MAIL}" if text == SAID else "not what was said"

    return tools.tool(send)


def whole(request: Recorded) -> Reply:
    """What the agent's model says, in one piece."""
    events = [line[6:] for line in Agent()(request).body.split(b"\n") if line.startswith(b"data: {")]
    said = message([json.loads(each) for each in events])
    return Reply(json.dumps(said).encode())


def chat(client: openai.OpenAI) -> langchain_openai.ChatOpenAI:
    # Its own client would read the proxy of the environment.
    return langchain_openai.ChatOpenAI(model="m", client=client.chat.completions, root_client=client, api_key="unused")


@pytest.mark.parametrize("streamed", [False, True])
def test_an_agent_calls_a_tool_three_times(
    entrance: Entrance, send: tools.BaseTool, streamed: bool, monkeypatch: Any
) -> None:
    # It may report to its vendor.
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    entrance.upstream.answer = Agent() if streamed else whole
    history = [messages.HumanMessage(SAID)]
    with entrance.sdk() as client:
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
    assert MAIL.encode() not in entrance.crossed
    assert CARD.encode() not in entrance.crossed
