"""Google's own SDK through both listeners: it gets its own words back, and the upstream sees none of them."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Gateways
from tests.e2e.entrances import CARD, MAIL, Entrance
from tests.e2e.server import OPERATOR_KEY, Running
from tests.e2e.upstream import Recorded, Reply, Upstream
from tests.lazy import Lazy

genai = Lazy("google.genai")

SAID = f"I am {MAIL}, my card is {CARD}."
SIGNED = base64.b64encode(bytes(range(48))).decode()
STREAM = "/v1beta/models/gemini-x:streamGenerateContent"


def said_in(request: Recorded) -> str:
    """The latest words, as they crossed."""
    part = request.json["contents"][-1]["parts"][-1]
    if "functionResponse" in part:
        text: str = part["functionResponse"]["response"]["result"]
        return text
    return str(part["text"])


def provider(request: Recorded) -> Reply:
    """Thinks about the latest words, says them, and calls a tool with them: once."""
    body = request.json
    method = request.path.rpartition(":")[2]
    if method == "countTokens":
        return reply({"totalTokens": 31})
    if method == "batchEmbedContents":
        assert {each["model"] for each in body["requests"]} == {"models/gemini-x"}
        return reply({"embeddings": [{"values": [1.0, -0.5]} for _ in body["requests"]]})
    said = said_in(request)
    parts: list[dict[str, Any]] = [{"text": f"They say: {said}", "thought": True}, {"text": said}]
    if body.get("tools") and len(body["contents"]) == 1:
        parts.append({"functionCall": {"id": "c1", "name": "send", "args": {"note": said}}, "thoughtSignature": SIGNED})
    usage = {"promptTokenCount": 20, "candidatesTokenCount": 7, "totalTokenCount": 27}
    whole = {"usageMetadata": usage, "modelVersion": "gemini-x", "responseId": "resp_1"}
    if method == "generateContent":
        candidate = {"content": {"parts": parts, "role": "model"}, "finishReason": "STOP", "index": 0}
        return reply({"candidates": [candidate], **whole})
    pieces: list[Any] = []
    for part in parts:
        text = part.get("text")
        pieces += [{**part, "text": text[at : at + 4]} for at in range(0, len(text), 4)] if text else [part]
    events: list[Any] = [
        {"candidates": [{"content": {"parts": [piece], "role": "model"}}], **whole} for piece in pieces
    ]
    events[-1]["candidates"][0]["finishReason"] = "STOP"
    if "alt=sse" in request.query:
        blocks = "".join(f"data: {json.dumps(event)}\r\n\r\n" for event in events)
        return Reply(blocks.encode(), headers={"content-type": "text/event-stream"})
    return reply(events)


def reply(body: Any) -> Reply:
    return Reply(json.dumps(body, indent=1).encode(), headers={"content-type": "application/json; charset=UTF-8"})


@pytest.fixture(scope="module")
def served(gateways: Gateways, _plain: Upstream) -> Running:
    google = f'[upstreams.google]\nwire = "gemini"\nbase_url = "{_plain.url}"\nmodels = ["gemini-*"]\n'
    return gateways(config=google, streaming="true")


def tool() -> Any:
    types = genai.types
    note = types.Schema(type=types.Type.STRING)
    parameters = types.Schema(type=types.Type.OBJECT, properties={"note": note}, required=["note"])
    send = types.FunctionDeclaration(name="send", description="Sends a note.", parameters=parameters)
    return types.Tool(function_declarations=[send])


@pytest.fixture
def client(entrance: Entrance) -> Iterator[Any]:
    entrance.upstream.answer = provider
    with entrance.connection() as http:
        options = genai.types.HttpOptions(base_url=entrance.url, httpx_client=http)
        yield genai.Client(vertexai=False, api_key=entrance.key, http_options=options)


def ask(client: Any, contents: Any, *, streamed: bool) -> tuple[list[Any], Any]:
    """Returns the parts of an answer, the texts in a row as one, and its last event."""
    config = genai.types.GenerateContentConfig(
        system_instruction=f"You serve {MAIL}.",
        tools=[tool()],
        thinking_config=genai.types.ThinkingConfig(include_thoughts=True),
        automatic_function_calling=genai.types.AutomaticFunctionCallingConfig(disable=True),
    )
    if not streamed:
        whole = client.models.generate_content(model="gemini-x", contents=contents, config=config)
        return list(whole.candidates[0].content.parts), whole
    parts: list[Any] = []
    for event in client.models.generate_content_stream(model="gemini-x", contents=contents, config=config):
        for part in event.candidates[0].content.parts:
            if parts and part.text is not None and parts[-1].text is not None and parts[-1].thought == part.thought:
                parts[-1].text += part.text
            else:
                parts.append(part)
    return parts, event


@pytest.mark.parametrize("streamed", [False, True])
def test_a_conversation_with_a_tool(client: Any, entrance: Entrance, streamed: bool) -> None:
    contents: list[Any] = [genai.types.Content(role="user", parts=[genai.types.Part(text=SAID)])]
    parts, last = ask(client, contents, streamed=streamed)
    thought, text, call = parts
    assert (thought.text, thought.thought) == (f"They say: {SAID}", True)
    assert text.text == SAID
    assert call.function_call is not None
    assert call.function_call.args == {"note": SAID}
    assert call.thought_signature == base64.b64decode(SIGNED)
    assert last.candidates[0].finish_reason == genai.types.FinishReason.STOP
    assert last.usage_metadata.prompt_token_count == 20
    contents.append(genai.types.Content(role="model", parts=parts))
    result = genai.types.FunctionResponse(id="c1", name="send", response={"result": f"Sent to {MAIL}"})
    contents.append(genai.types.Content(role="user", parts=[genai.types.Part(function_response=result)]))
    parts, _ = ask(client, contents, streamed=streamed)
    assert parts[1].text == f"Sent to {MAIL}"
    assert entrance.hides
    one, two = (request.json for request in entrance.upstream.recorded)
    assert two["contents"][:1] == one["contents"]
    assert two["systemInstruction"] == one["systemInstruction"]
    assert two["contents"][1]["parts"][2]["thoughtSignature"] == SIGNED
    assert entrance.upstream.recorded[0].header("x-goog-api-key") in {None, "key-of-the-provider"}


def test_a_chat(client: Any, entrance: Entrance) -> None:
    chat = client.chats.create(model="gemini-x")
    assert chat.send_message(SAID).text == SAID
    assert "".join(event.text or "" for event in chat.send_message_stream(f"Again: {SAID}")) == f"Again: {SAID}"
    assert entrance.hides
    assert entrance.upstream.recorded[1].json["contents"][0] == entrance.upstream.recorded[0].json["contents"][0]


def test_an_array_of_events(entrance: Entrance) -> None:
    """As the API streams without `alt=sse`, below any version and with the key in the query, as LiteLLM sends it."""
    entrance.upstream.answer = provider
    body = {"contents": [{"parts": [{"text": SAID}]}]}
    for path in (STREAM, STREAM.replace("v1beta", "v1"), STREAM.removeprefix("/v1beta")):
        with entrance.connection() as http:
            answer = http.post(f"{entrance.url}{path}?key={entrance.key}", json=body)
        events = answer.json()
        texts = [
            part["text"]
            for event in events
            for part in event["candidates"][0]["content"]["parts"]
            if not part.get("thought")
        ]
        assert "".join(texts) == SAID
        assert answer.headers["content-type"].startswith("application/json")
    assert entrance.hides


def test_tokens_are_counted_and_embeddings_made(client: Any, entrance: Entrance) -> None:
    assert client.models.count_tokens(model="gemini-x", contents=SAID).total_tokens == 31
    made = client.models.embed_content(model="gemini-x", contents=[SAID, MAIL])
    assert [each.values for each in made.embeddings or []] == [[1.0, -0.5]] * 2
    assert entrance.hides


def test_models_are_listed(served: Running, upstream: Upstream) -> None:
    upstream.answer = lambda _: reply({"models": [{"name": "models/gemini-9"}, {"name": "models/other"}]})
    client = genai.Client(api_key=OPERATOR_KEY, http_options=genai.types.HttpOptions(base_url=served.url))
    assert [model.name for model in client.models.list()] == [
        "models/google",
        "models/gemini-9",
        "models/configured-upstream",
    ]
    assert client.models.get(model="gemini-9").name == "models/gemini-9"
    with pytest.raises(genai.errors.ClientError, match="No surface serves this model"):
        client.models.get(model="other")


def test_errors_are_shown(client: Any, entrance: Entrance) -> None:
    with pytest.raises(genai.errors.ClientError) as caught:
        client.models.generate_content(
            model="gemini-x", contents=[genai.types.Part.from_bytes(data=b"x" * 99, mime_type="image/png")]
        )
    assert (caught.value.code, caught.value.status) in {(415, "INVALID_ARGUMENT")}
    assert "attachments" in str(caught.value.message)
    entrance.upstream.answer = lambda _: reply_error(429, "RESOURCE_EXHAUSTED")
    with pytest.raises(genai.errors.ClientError) as caught:
        client.models.generate_content(model="gemini-x", contents="Hello")
    assert (caught.value.code, caught.value.status) == (429, "RESOURCE_EXHAUSTED")
    with pytest.raises(genai.errors.ClientError) as caught:
        for _ in client.models.generate_content_stream(model="gemini-x", contents="Hello"):
            pass
    assert caught.value.status == "RESOURCE_EXHAUSTED"


def reply_error(code: int, status: str) -> Reply:
    return Reply(json.dumps({"error": {"code": code, "message": "No.", "status": status}}).encode(), code)


def test_a_wrong_key_and_an_unknown_model(served: Running) -> None:
    with httpx.Client(trust_env=False) as http:
        for key, model, code, status in (
            ("wrong", "gemini-x", 401, "UNAUTHENTICATED"),
            (OPERATOR_KEY, "other", 404, "NOT_FOUND"),
        ):
            options = genai.types.HttpOptions(base_url=served.url, httpx_client=http)
            client = genai.Client(vertexai=False, api_key=key, http_options=options)
            with pytest.raises(genai.errors.ClientError) as caught:
                client.models.generate_content(model=model, contents="Hello")
            assert (caught.value.code, caught.value.status) == (code, status)


def test_a_batch(client: Any, entrance: Entrance) -> None:
    """Its results are in the answer about it. A file of requests cannot be protected."""
    batches: dict[str, Any] = {}

    def provider(request: Recorded) -> Reply:
        if request.path.endswith(":batchGenerateContent"):
            given = request.json["batch"]["inputConfig"]["requests"]["requests"]
            texts = [each["request"]["contents"][-1]["parts"] for each in given]
            candidates = [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"} for parts in texts]
            results = [
                {"response": {"candidates": [candidate]}, "metadata": each["metadata"]}
                for each, candidate in zip(given, candidates, strict=True)
            ]
            output = {"inlinedResponses": {"inlinedResponses": results}}
            known = {"name": "batches/abc", "displayName": request.json["batch"]["displayName"]}
            batches["abc"] = {"name": "batches/abc", "metadata": {**known, "state": "BATCH_STATE_SUCCEEDED"}}
            created = reply(batches["abc"])
            batches["abc"] = {**batches["abc"], "done": True, "response": output}
            batches["abc"]["metadata"] = {**batches["abc"]["metadata"], "output": output}
            return created
        if request.path.endswith("/batches"):
            return reply({"operations": [*batches.values()]})
        return reply(batches["abc"] if request.method == "GET" else {})

    entrance.upstream.answer = provider
    requests = [{"contents": text, "metadata": {"key": f"for {MAIL}"}} for text in (SAID, "Nothing private.")]
    made = client.batches.create(model="gemini-x", src=requests, config={"display_name": f"About {MAIL}"})
    assert (made.name, made.display_name) == ("batches/abc", f"About {MAIL}")
    ended = client.batches.get(name=made.name)
    said = [each.response.candidates[0].content.parts[0].text for each in ended.dest.inlined_responses]
    assert said == [SAID, "Nothing private."]
    assert [each.metadata for each in ended.dest.inlined_responses] == [{"key": f"for {MAIL}"}] * 2
    assert [each.display_name for each in client.batches.list()] == [f"About {MAIL}"]
    client.batches.cancel(name=made.name)
    client.batches.delete(name=made.name)
    with pytest.raises(genai.errors.ClientError, match="in the call itself"):
        client.batches.create(model="gemini-x", src="files/abc")
    assert entrance.hides
    assert [request.path.rpartition("/")[2] for request in entrance.upstream.recorded] == [
        "gemini-x:batchGenerateContent",
        "abc",
        "batches",
        "abc:cancel",
        "abc",
    ]
