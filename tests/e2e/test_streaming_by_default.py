"""Which calls are streamed without a setting: all on the proxy, all but chat completions on the gateway's listener."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e import traffic
from tests.e2e.conftest import Gateways
from tests.e2e.entrances import MAIL, Entrance
from tests.e2e.server import Running
from tests.e2e.upstream import Recorded, Reply, Upstream
from tests.gateway.exchange.streaming.support import DONE, chunk, event

TEXT = f"Write to {MAIL} today."
_PLACEHOLDER = re.compile(r"\[EMAIL_ADDRESS_\w+\]")


def _completions(said: str) -> Iterator[Any]:
    yield {"object": "text_completion", "choices": [{"index": 0, "text": said, "finish_reason": "stop"}]}


def _chat(said: str) -> Iterator[Any]:
    yield chunk({"content": said}, finish="stop")


def _responses(said: str) -> Iterator[Any]:
    at = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    yield {"type": "response.output_text.delta", **at, "delta": said}
    yield {"type": "response.output_text.done", **at, "text": said}
    yield {"type": "response.completed", "response": {"id": "resp_1", "status": "completed", "output": []}}


def _messages(said: str) -> Iterator[Any]:
    yield {"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "content": []}}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": said}}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    yield {"type": "message_stop"}


def _gemini(said: str) -> Iterator[Any]:
    parts = {"role": "model", "parts": [{"text": said}]}
    yield {"candidates": [{"index": 0, "content": parts, "finishReason": "STOP"}]}


_USER = {"messages": [{"role": "user", "content": TEXT}], "stream": True}
_CHAT = {"model": "gpt-4o", **_USER}
CALLS: dict[str, tuple[str, Any, Any]] = {
    "chat completions": ("/v1/chat/completions", _CHAT, _chat),
    "chat completions without a version": ("/chat/completions", _CHAT, _chat),
    "chat completions of Azure": ("/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21", _CHAT, _chat),
    "legacy completions": ("/v1/completions", {"model": "gpt-4o", "prompt": TEXT, "stream": True}, _completions),
    "Responses": ("/v1/responses", {"model": "gpt-4o", "input": TEXT, "stream": True}, _responses),
    "Messages": ("/v1/messages", {"model": "claude-1", "max_tokens": 9, **_USER}, _messages),
    "Gemini": (
        "/v1beta/models/gemini-x:streamGenerateContent?alt=sse",
        {"contents": [{"role": "user", "parts": [{"text": TEXT}]}]},
        _gemini,
    ),
}


@pytest.fixture(scope="module")
def served(gateways: Gateways, _plain: Upstream) -> Running:
    return gateways(config=traffic.upstream_config(_plain.url), detection="patterns")


@pytest.mark.parametrize("call", CALLS)
def test_only_chat_completions_of_the_gateway_need_the_setting(entrance: Entrance, call: str) -> None:
    path, body, events = CALLS[call]

    def answer(request: Recorded) -> Reply:
        (mail,) = set(_PLACEHOLDER.findall(request.body.decode()))
        said = b"".join(event(each) for each in events(f"To {mail}.")) + DONE
        return Reply(said, headers={"content-type": "text/event-stream"})

    entrance.upstream.answer = answer
    with entrance.client() as client:
        got = client.post(path, json=body)
    if entrance.name == "gateway" and call.startswith("chat"):
        error = got.json()["error"]
        assert (got.status_code, error["code"], error["param"]) == (400, "streaming_not_supported", "stream")
        assert "`SVC_STREAMING=true`" in error["message"]
        assert entrance.upstream.recorded == []
    else:
        assert (got.status_code, got.headers["content-type"].partition(";")[0]) == (200, "text/event-stream"), got.text
        assert MAIL in got.text
        assert entrance.hides
