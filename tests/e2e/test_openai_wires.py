"""The openai SDK with calls other than chat completions, through both entrances, streamed and not.

A scripted upstream says back what it was sent, as the API would.
"""

import base64
import json
import struct
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.e2e.conftest import Gateways
from tests.e2e.entrances import CARD, MAIL, Entrance
from tests.e2e.server import Running
from tests.e2e.upstream import Recorded, Reply
from tests.lazy import Lazy

openai = Lazy("openai")

ASKED = f"Card {CARD} of {MAIL}, please. Grüße"


def response(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    call = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "send", "status": "completed"}
    said = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    return {
        "id": "resp_0",
        "object": "response",
        "created_at": 1,
        "model": "gpt-5",
        "status": "completed",
        "output": [said, {**call, "arguments": json.dumps({"text": text}, ensure_ascii=False)}],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def events(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    said, call = whole["output"]
    yield {"type": "response.created", "response": {**whole, "output": [], "status": "in_progress"}}
    yield {"type": "response.output_item.added", "output_index": 0, "item": {**said, "content": []}}
    (part,) = said["content"]
    place = {"output_index": 0, "item_id": "msg_1", "content_index": 0}
    yield {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
    for at in range(0, len(part["text"]), 5):
        piece = part["text"][at : at + 5]
        yield {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
    yield {"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **place, "part": part}
    yield {"type": "response.output_item.done", "output_index": 0, "item": said}
    yield {"type": "response.output_item.added", "output_index": 1, "item": {**call, "arguments": ""}}
    place = {"output_index": 1, "item_id": "fc_1"}
    for at in range(0, len(call["arguments"]), 7):
        piece = call["arguments"][at : at + 7]
        yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
    yield {"type": "response.function_call_arguments.done", **place, "arguments": call["arguments"], "name": "send"}
    yield {"type": "response.output_item.done", "output_index": 1, "item": call}
    yield {"type": "response.completed", "response": whole}


def streamed(whole: dict[str, Any], after: int = -1) -> Reply:
    blocks = [
        f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': number}, ensure_ascii=False)}\n\n"
        for number, event in enumerate(events(whole))
        if number > after
    ]
    return Reply("".join(blocks).encode(), headers={"content-type": "text/event-stream"})


class Script:
    """Answers every call of the API with the text it was sent; of a response that is continued, with the earlier."""

    def __init__(self) -> None:
        self.said: dict[str, str] = {}

    def __call__(self, request: Recorded) -> Reply:
        stored = request.path.rpartition("/v1/responses/")[2]
        if request.method == "GET":
            assert request.body == b""
            whole = {**response(self.said[stored]), "id": stored}
            return streamed(whole, after=7) if "stream=true" in request.query else self.reply(whole)
        body = request.json
        kind = request.path.rpartition("/v1/")[2].rpartition("openai/")[2].rpartition("/gpt-5/")[2]
        if kind == "responses":
            return self.respond(body)
        if kind == "completions":
            choice = {"index": 0, "text": body["prompt"], "logprobs": None, "finish_reason": "stop"}
            return self.reply(
                {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m", "choices": [choice]}
            )
        if kind == "embeddings":
            vector = base64.b64encode(struct.pack("<2f", 1.0, -0.5)).decode()
            data = [{"object": "embedding", "index": 0, "embedding": vector}]
            usage = {"prompt_tokens": 3, "total_tokens": 3}
            return self.reply({"object": "list", "data": data, "model": "m", "usage": usage})
        if kind == "moderations":
            result = {"flagged": False, "categories": {}, "category_scores": {}, "category_applied_input_types": {}}
            return self.reply({"id": "modr-1", "model": "m", "results": [result]})
        return Reply(b'{"error": {"message": "unknown"}}', 404)

    def respond(self, body: dict[str, Any]) -> Reply:
        earlier = body.get("previous_response_id")
        text = self.said[earlier] if earlier else body["input"][0]["content"]
        name = f"resp_68a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5{len(self.said):03}"
        self.said[name] = text
        whole = {**response(text), "id": name, "usage": None}
        return streamed(whole) if body.get("stream") else self.reply(whole)

    def reply(self, body: Any) -> Reply:
        return Reply(json.dumps(body, ensure_ascii=False).encode())


@pytest.fixture(scope="module")
def served(gateways: Gateways) -> Running:
    return gateways(*gateways.with_upstream, upstream_key="upstream-key-of-the-tests", streaming="true")


@pytest.fixture
def client(entrance: Entrance) -> Iterator[Any]:
    entrance.upstream.answer = Script()
    with entrance.connection(httpx2) as http:
        yield openai.OpenAI(base_url=f"{entrance.url}/v1", api_key=entrance.key, http_client=http, max_retries=0)


def test_a_response(client: Any, entrance: Entrance) -> None:
    got = client.responses.create(model="gpt-5", input=[{"role": "user", "content": ASKED}])
    assert got.output_text == ASKED
    assert json.loads(got.output[1].arguments) == {"text": ASKED}
    again = client.responses.create(model="gpt-5", input="What did I say?", previous_response_id=got.id)
    assert again.output_text == ASKED
    assert client.responses.retrieve(got.id).output_text == ASKED
    assert entrance.hides


def test_a_stored_response_is_streamed(client: Any, entrance: Entrance) -> None:
    """A client that lost its connection takes up the stream where it ended."""
    name = client.responses.create(model="gpt-5", input=[{"role": "user", "content": ASKED}]).id
    shown = list(client.responses.retrieve(name, stream=True, starting_after=7))
    assert shown[0].sequence_number == 8
    assert [event.text for event in shown if event.type == "response.output_text.done"] == [ASKED]
    assert shown[-1].type == "response.completed"
    assert shown[-1].response.output_text == ASKED
    assert entrance.hides


def test_an_id_that_is_private_is_not_sent(client: Any, entrance: Entrance) -> None:
    with pytest.raises(openai.BadRequestError):
        client.responses.retrieve(CARD.replace(" ", ""))
    with pytest.raises(openai.BadRequestError):
        client.responses.retrieve("resp_" + CARD.replace(" ", ""))
    assert entrance.upstream.recorded == []


def test_a_streamed_response(client: Any, entrance: Entrance) -> None:
    said = ""
    with client.responses.stream(model="gpt-5", input=[{"role": "user", "content": ASKED}]) as shown:
        for event in shown:
            if event.type == "response.output_text.delta":
                said += event.delta
        final = shown.get_final_response()
    assert said == final.output_text == ASKED
    assert json.loads(final.output[1].arguments) == {"text": ASKED}
    with client.responses.stream(model="gpt-5", input="Again?", previous_response_id=final.id) as shown:
        assert shown.get_final_response().output_text == ASKED
    assert entrance.hides


def test_the_other_calls(client: Any, entrance: Entrance) -> None:
    assert client.completions.create(model="m", prompt=ASKED).choices[0].text == ASKED
    assert client.embeddings.create(model="m", input=[ASKED]).data[0].embedding == [1.0, -0.5]
    assert client.moderations.create(input=ASKED).results[0].flagged is False
    assert entrance.hides
    before = len(entrance.upstream.recorded)
    with pytest.raises(openai.BadRequestError, match="check_embedding_ctx_length"):
        client.embeddings.create(model="m", input=[[3923, 374]])
    assert len(entrance.upstream.recorded) == before


@pytest.mark.parametrize("entrance", ["gateway"], indirect=True)
def test_a_base_url_may_lack_the_version(client: Any, entrance: Entrance) -> None:
    plain = client.with_options(base_url=str(client.base_url).removesuffix("v1/"))
    assert "svc-demo" in [model.id for model in plain.models.list()]
    assert plain.models.retrieve("svc-demo").id == "svc-demo"
    azure = client.with_options(base_url=str(client.base_url).removesuffix("v1/") + "openai/")
    assert "svc-demo" in [model.id for model in azure.models.list()]
    assert plain.responses.create(model="gpt-5", input=[{"role": "user", "content": ASKED}]).output_text == ASKED
    assert entrance.hides


def test_azure_names_the_model_in_the_path(client: Any, entrance: Entrance) -> None:
    path = str(client.base_url).removesuffix("v1/") + "openai/deployments/gpt-5/"
    got = client._client.post(
        f"{path}completions?api-version=2024-10-21", json={"prompt": ASKED}, headers=client.auth_headers
    )
    assert got.json()["choices"][0]["text"] == ASKED
    assert entrance.upstream.recorded[-1].json["model"] == "gpt-5"
    assert entrance.hides
