"""Anthropic's own SDK through both listeners: it gets its own words back, and the upstream sees none of them."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.e2e.conftest import Gateways
from tests.e2e.entrances import CARD, MAIL, Entrance
from tests.e2e.server import OPERATOR_KEY, Running
from tests.e2e.upstream import Recorded, Reply, Upstream
from tests.gateway.wires.replays import sse
from tests.gateway.wires.test_anthropic_streams import blocks, call_block, end, start, text_block
from tests.gateway.wires.turns import SIGNED
from tests.lazy import Lazy

anthropic = Lazy("anthropic")

SAID = f"I am {MAIL}, my card is {CARD}."
TOOL: Any = {
    "name": "send",
    "description": "Sends a note.",
    "input_schema": {"type": "object", "properties": {"note": {"type": "string"}}},
}


def last_text(request: Recorded) -> str:
    """The user's latest words, as they crossed."""
    content = request.json["messages"][-1]["content"]
    if isinstance(content, str):
        return content
    one = content[-1]
    text: str = one.get("text") or one["content"]
    return text


def provider(request: Recorded) -> Reply:
    """Thinks about the latest words, says them, and calls a tool with them: once."""
    if request.path.endswith("/count_tokens"):
        return Reply(json.dumps({"input_tokens": 2095}).encode())
    said = last_text(request)
    calls = request.json.get("tools") and len(request.json["messages"]) == 1
    thinking = {"type": "thinking", "thinking": f"They say: {said}", "signature": SIGNED}
    text = {"type": "text", "text": said}
    call = {"type": "tool_use", "id": "toolu_1", "name": "send", "input": {"note": said}}
    reason = "tool_use" if calls else "end_turn"
    if request.json.get("stream"):
        grown = {"type": "thinking_delta", "thinking": thinking["thinking"]}
        signature = {"type": "signature_delta", "signature": SIGNED}
        given = [[{**thinking, "thinking": "", "signature": ""}, grown, signature], text_block(said)]
        if calls:
            given.append(call_block(note=said))
        bodies = [start(), *blocks(*given), *end(reason)]
        return Reply(sse(bodies, named=True), headers={"content-type": "text/event-stream"})
    content = [thinking, text, call] if calls else [thinking, text]
    message = {**start()["message"], "content": content, "stop_reason": reason, "stop_sequence": None}
    return Reply(json.dumps(message).encode())


@pytest.fixture(scope="module")
def served(gateways: Gateways, _plain: Upstream) -> Running:
    claude = f'[upstreams.claude]\nwire = "anthropic"\nbase_url = "{_plain.url}"\nmodels = ["claude-*"]\n'
    return gateways(config=claude, streaming="true")


@pytest.fixture
def client(entrance: Entrance) -> Iterator[Any]:
    entrance.upstream.answer = provider
    with entrance.connection(httpx2) as http:
        yield anthropic.Anthropic(api_key=entrance.key, base_url=entrance.url, http_client=http, max_retries=0)


def ask(client: Any, messages: Any, *, streamed: bool) -> Any:
    fields: Any = {"model": "claude-x", "max_tokens": 1000, "messages": messages, "tools": [TOOL]}
    if not streamed:
        return client.messages.create(**fields)
    with client.messages.stream(**fields) as stream:
        return stream.get_final_message()


@pytest.mark.parametrize("streamed", [False, True])
def test_a_conversation_with_a_tool(client: Any, entrance: Entrance, streamed: bool) -> None:
    messages: list[Any] = [{"role": "user", "content": SAID}]
    first = ask(client, messages, streamed=streamed)
    thinking, text, call = first.content
    assert text.text == SAID
    assert call.input == {"note": SAID}
    assert (thinking.signature, first.stop_reason) == (SIGNED, "tool_use")
    assert MAIL not in thinking.thinking
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": f"Sent to {MAIL}."}]
    messages += [{"role": "assistant", "content": first.content}, {"role": "user", "content": results}]
    second = ask(client, messages, streamed=streamed)
    assert second.content[1].text == f"Sent to {MAIL}."
    earlier, later = entrance.upstream.recorded
    assert later.json["messages"][:1] == earlier.json["messages"]
    # The provider gets its own block back, as it wrote it.
    assert later.json["messages"][1]["content"][0]["thinking"] == f"They say: {last_text(earlier)}"
    assert later.json["messages"][1]["content"][0]["signature"] == SIGNED
    assert entrance.hides
    assert OPERATOR_KEY.encode() not in entrance.crossed


class Threads:
    """A provider that holds the conversation. It has the tool called once, with what was said first, and repeats it."""

    def __init__(self, prefix: str = "msg_01AbCdEfGhJkLmNpQrStUv") -> None:
        self.prefix = prefix
        self.said: dict[str, str] = {}

    def __call__(self, request: Recorded) -> Reply:
        asked, name = request.json, f"{self.prefix}{len(self.said):02}"
        thread = asked["thread"]
        said = self.said[thread["previous_message_id"]] if thread["type"] == "continue" else last_text(request)
        self.said[name] = said
        call = {"type": "tool_use", "id": "toolu_1", "name": "send", "input": {"note": said}}
        first = thread["type"] == "create" and len(asked["messages"]) == 1
        content, reason = (call, "tool_use") if first else ({"type": "text", "text": said}, "end_turn")
        begun = {**start()["message"], "id": name}
        if not asked.get("stream"):
            return Reply(json.dumps({**begun, "content": [content], "stop_reason": reason}).encode())
        body = blocks(call_block(note=said) if first else text_block(said))
        opened: dict[str, Any] = {**start()}
        opened["message"] = begun
        events = sse([opened, *body, *end(reason)], named=True)
        return Reply(events, headers={"content-type": "text/event-stream"})


@pytest.mark.parametrize("streamed", [False, True])
def test_a_thread_that_the_provider_holds(client: Any, entrance: Entrance, streamed: bool) -> None:
    """The SDK's tool runner sends only what is new."""
    entrance.upstream.answer = Threads()
    noted: list[str] = []

    @anthropic.beta_tool  # type: ignore[untyped-decorator]
    def send(note: str) -> str:
        """Sends a note."""
        noted.append(note)
        return f"Sent to {MAIL}."

    fields: Any = {"model": "claude-x", "max_tokens": 1000, "tools": [send]}
    fields["messages"] = [{"role": "user", "content": SAID}]
    if streamed:
        last = [stream.get_final_message() for stream in client.beta.messages.tool_runner(**fields, stream=True)][-1]
    else:
        last = client.beta.messages.tool_runner(**fields).until_done()
    assert noted == [SAID]
    assert last.content[0].text == SAID
    first, second = entrance.upstream.recorded
    assert second.json["thread"]["type"] == "continue"
    # A value keeps its placeholder.
    placeholder = first.json["messages"][0]["content"].removeprefix("I am ").partition(",")[0]
    assert second.json["messages"][-1]["content"][0]["content"] == f"Sent to {placeholder}."
    assert entrance.hides
    assert OPERATOR_KEY.encode() not in entrance.crossed


def test_a_thread_that_the_gateway_does_not_remember(client: Any, entrance: Entrance) -> None:
    """The SDK sends all of it again."""
    entrance.upstream.answer = Threads("msg_" + "x" * 256)
    thread = client.beta.messages.thread(model="claude-x", max_tokens=1000)
    thread.send({"role": "user", "content": SAID})
    said = f"Write to {MAIL}."
    assert thread.send({"role": "user", "content": said}).content[0].text == said
    assert [request.json["thread"]["type"] for request in entrance.upstream.recorded] == ["create", "create"]
    assert entrance.hides


def test_tokens_are_counted(client: Any, entrance: Entrance) -> None:
    counted = client.messages.count_tokens(model="claude-x", messages=[{"role": "user", "content": SAID}])
    assert counted.input_tokens == 2095
    assert entrance.upstream.recorded[0].path == "/v1/messages/count_tokens"
    assert entrance.hides


def test_models_are_listed(served: Running, upstream: Upstream) -> None:
    upstream.answer = lambda _: Reply(b'{"data": [{"type": "model", "id": "claude-9"}, {"type": "model", "id": "x"}]}')
    with httpx2.Client(trust_env=False) as http:
        client = anthropic.Anthropic(api_key=OPERATOR_KEY, base_url=served.url, http_client=http)
        found = {model.id: model for model in client.models.list()}
        assert "claude-9" in found
        assert "x" not in found
        assert (found["claude-9"].type, found["claude-9"].display_name) == ("model", "claude-9")
        assert client.models.retrieve("claude-9").created_at.year > 2000


def test_the_path_of_agents(served: Running, upstream: Upstream) -> None:
    upstream.answer = provider
    body = {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": SAID}]}
    with served.client() as client:
        answer = client.post("/v1/messages?beta=true", json=body)
        assert answer.json()["content"][1]["text"] == SAID
        assert answer.json()["svc"]["request_id"]
        assert client.post("/messages", json=body).status_code == 200
    assert upstream.recorded[0].query == "beta=true"


@pytest.mark.parametrize("streamed", [False, True])
def test_the_headers_say_what_the_receipt_says(served: Running, upstream: Upstream, streamed: bool) -> None:
    def forging(request: Recorded) -> Reply:
        answer = provider(request)
        return Reply(answer.body, headers={**answer.headers, "x-svc-route": "forged", "X-SVC-Else": "forged"})

    upstream.answer = forging
    body = {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": SAID}], "stream": streamed}
    with served.client() as client:
        answer = client.post("/v1/messages", json=body)
        headers = {name: value for name, value in answer.headers.items() if name.startswith("x-svc-")}
        receipt = client.get(f"/v1/receipts/{headers['x-svc-request-id']}").json()
    assert headers == {
        "x-svc-request-id": receipt["request_id"],
        "x-svc-receipt": receipt["hash"],
        "x-svc-route": receipt["route"],
        "x-svc-policy": "default@3",
        "x-svc-tokens": f"input={receipt['tokens']['input']}, external={receipt['tokens']['external']}",
    }


def test_an_unknown_call_is_no_problem_of_the_model(client: Any, entrance: Entrance) -> None:
    """Agents show 404 as one."""
    with pytest.raises(anthropic.BadRequestError, match=r"nothing was sent|does not let it leave") as refused:
        client.post("/v1/messages/batches/cancel", cast_to=object)
    assert refused.value.type == "invalid_request_error"
    assert entrance.upstream.recorded == []


def test_the_sdk_shows_what_was_refused(served: Running) -> None:
    """It repeats nothing, and the message says what to do."""
    asked: list[httpx2.Request] = []
    http = httpx2.Client(trust_env=False, event_hooks={"request": [asked.append]})
    fields: Any = {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": "a"}]}
    with http:
        wrong = anthropic.Anthropic(api_key="nobody", base_url=served.url, http_client=http)
        with pytest.raises(anthropic.AuthenticationError) as refused:
            wrong.messages.create(**fields)
        assert refused.value.response.headers["x-should-retry"] == "false"
        right = anthropic.Anthropic(api_key=OPERATOR_KEY, base_url=served.url, http_client=http)
        with pytest.raises(anthropic.NotFoundError) as missing:
            right.messages.create(**{**fields, "model": "gpt-x"})
        with pytest.raises(anthropic.BadRequestError) as secret:
            right.beta.messages.create(
                **fields,
                mcp_servers=[{"type": "url", "name": "m", "url": "https://a.test/", "authorization_token": "a"}],
            )
    assert [error.value.type for error in (refused, missing, secret)] == [
        "authentication_error",
        "not_found_error",
        "invalid_request_error",
    ]
    assert "authorization_token" in str(secret.value.api_message)
    assert len(asked) == 3
