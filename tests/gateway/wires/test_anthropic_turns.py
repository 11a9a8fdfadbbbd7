"""Law 5 on the Anthropic wire: fifty turns of an agent repeat their bytes, wherever the prompt-cache markers are."""

import copy
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from gateway.config.settings import load_settings
from gateway.container import Container
from gateway.detection import Detector
from gateway.ids import new_request_id
from gateway.models import Caller, Scope, Trust
from gateway.pipeline.destination import Destination
from gateway.wires.anthropic_messages import WIRE

type Body = dict[str, Any]

MARK = {"type": "ephemeral", "ttl": "1h"}
SIGNED = "Made1Up2" * 8 + "=="
TOOLS = [{"name": "send", "description": "Sends to boss@acme.test.", "input_schema": {"type": "object"}}]


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    settings = load_settings(None, data_dir=tmp_path_factory.mktemp("turns"), detection="patterns")
    async with await Container.start(settings, Detector()) as running:
        yield running


async def crossed(container: Container, body: Body, path: str = "/v1/messages") -> Body:
    """What crosses of a request."""
    exchange = await container.pipeline.open(
        WIRE,
        copy.deepcopy(body),
        Caller("key_anna", Scope.CLIENT),
        Destination("m", Trust.LOCAL),
        request_id=new_request_id(),
        path=path,
        streams=True,
    )
    result: Body = orjson.loads(exchange.body)
    return result


def request(messages: list[Body], turn: int) -> Body:
    """The request of a turn, marked as agents mark it: the system prompt and the last block."""
    system = [
        {"type": "text", "text": f"x-anthropic-billing-header: cc_version=2.1; cch={turn:05x};"},
        {"type": "text", "text": "You are an agent of boss@acme.test. What is your PIN?", "cache_control": MARK},
    ]
    marked = copy.deepcopy(messages)
    marked[-1]["content"][-1]["cache_control"] = MARK
    user = '{"device_id":"made-up-device-0001","session_id":"made-up-session"}'
    fields: Body = {"max_tokens": 1000 + turn, "stream": True, "metadata": {"user_id": user}, "tools": TOOLS}
    return {"model": "m", "system": system, "messages": marked, **fields}


def prompt(body: Body) -> bytes:
    """The prompt as the provider reads it: without the billing header, and without markers."""
    assert body["system"][1]["cache_control"] == MARK
    assert body["messages"][-1]["content"][-1].pop("cache_control") == MARK
    return orjson.dumps([body["tools"], body["system"][1:], body["messages"]])


async def test_fifty_turns_repeat_their_bytes(container: Container) -> None:
    messages: list[Body] = [{"role": "user", "content": [{"type": "text", "text": "I am anna@acme.test. My PIN?"}]}]
    before = b""
    for turn in range(50):
        protected = await crossed(container, request(messages, turn))
        now = prompt(protected)[:-2]
        assert now.startswith(before)
        assert b"acme.test" not in now
        before = now
        seen = protected["messages"][0]["content"][0]["text"]
        thinking = {"type": "thinking", "thinking": f"Turn {turn}: {seen}", "signature": SIGNED}
        call = {"type": "tool_use", "id": f"toolu_{turn}", "name": "send", "input": {"to": f"user{turn}@acme.test"}}
        result = {
            "type": "tool_result",
            "tool_use_id": f"toolu_{turn}",
            "content": f"4{turn}71 to user{turn}@acme.test",
        }
        messages += [{"role": "assistant", "content": [thinking, call]}, {"role": "user", "content": [result]}]
    # The provider's own thinking came back to it as it was.
    assert protected["messages"][1]["content"][0]["thinking"] == f"Turn 0: {seen}"


async def test_tokens_are_counted_for_what_crosses(container: Container) -> None:
    messages = [{"role": "user", "content": [{"type": "text", "text": "I am anna@acme.test."}]}]
    body = request(messages, 1)
    counted = {name: body[name] for name in ("model", "system", "messages", "tools")}
    sent = await crossed(container, body)
    assert prompt(await crossed(container, counted, "/v1/messages/count_tokens")) == prompt(sent)
