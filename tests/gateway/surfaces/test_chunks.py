"""A complete answer as the events of a stream, read by the official SDK."""

from __future__ import annotations

import httpx2
import pytest

from gateway.http.strict_json import dump
from gateway.surfaces.chunks import as_events
from gateway.surfaces.demo import DemoSurface
from tests.lazy import Lazy

openai = Lazy("openai")

pytestmark = pytest.mark.anyio

CALL = {"id": "call_1", "type": "function", "function": {"name": "send", "arguments": '{"a":1}'}}


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [True, False])
async def test_the_sdk_puts_the_answer_together_again(wanted: bool) -> None:
    asked = {"model": "svc-demo", "messages": [{"role": "user", "content": "Hello [PERSON_7KQ2M]"}], "n": 2}
    answer = await DemoSurface().complete(asked)
    answer["choices"][1]["message"]["tool_calls"] = [CALL]
    answer["choices"][1]["finish_reason"] = "tool_calls"

    def reply(request: httpx2.Request) -> httpx2.Response:
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, content=as_events(answer, usage=wanted))

    with httpx2.Client(transport=httpx2.MockTransport(reply)) as http:
        client = openai.OpenAI(api_key="k", base_url="http://surface.test/v1", http_client=http)
        with client.chat.completions.stream(
            model="svc-demo", messages=[{"role": "user", "content": "Hello"}]
        ) as stream:
            got = stream.get_final_completion()
    assert (got.id, got.created, got.model) == (answer["id"], answer["created"], answer["model"])
    first, second = got.choices
    assert first.message.content == second.message.content == answer["choices"][0]["message"]["content"]
    assert (first.finish_reason, second.finish_reason) == ("stop", "tool_calls")
    assert second.message.tool_calls is not None
    assert second.message.tool_calls[0].function.arguments == CALL["function"]["arguments"]  # type: ignore[index]
    assert (got.usage is not None and got.usage.to_dict() == answer["usage"]) is wanted


async def test_each_event_is_a_line_of_json() -> None:
    answer = await DemoSurface().complete({"model": "svc-demo", "messages": [{"role": "user", "content": "a\nb"}]})
    *events, done, rest = as_events(answer, usage=False).split(b"\n\n")
    assert (done, rest) == (b"data: [DONE]", b"")
    assert all(event.startswith(b'data: {"') and b"\n" not in event for event in events)
    assert dump(answer["choices"][0]["message"]["content"]) in events[0]
