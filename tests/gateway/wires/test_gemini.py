"""Requests of the Gemini wire: every place where text can stand is a field, structure is not, the rest is refused."""

import copy
from collections.abc import Sequence
from typing import Any

import pytest

from gateway.errors import BadRequest, Unprocessable
from gateway.models import Action
from gateway.text.fields import Span
from gateway.wires import Wires
from gateway.wires.gemini import WIRE

type Body = dict[str, Any]

CARD, MAIL, IBAN = "4111 1111 1111 1111", "anna.schmidt@acme.test", "DE89 3704 0044 0532 0130 00"
SIGNED = "Made1Up2" * 8 + "=="
PATH = "/v1beta/models/gemini-x:generateContent"
EMBED = "/v1beta/models/gemini-x:embedContent"
BATCH = "/v1beta/models/gemini-x:batchEmbedContents"

SCHEMA: Body = {
    "type": "OBJECT",
    "description": "d1",
    "properties": {"city": {"type": "STRING", "enum": ["e1"], "format": "enum"}, "n": {"type": "INTEGER"}},
    "required": ["city"],
    "propertyOrdering": ["city", "n"],
}
# What the SDKs, LiteLLM and the coding agents send, in both cases.
FULL: Body = {
    "contents": [
        {"role": "user", "parts": [{"text": "u1"}, {"text": "u2"}]},
        {
            "role": "model",
            "parts": [
                {"text": "t1", "thought": True},
                {"text": "m1"},
                {
                    "functionCall": {"id": "call_1", "name": "look_up", "args": {"city": "a1", "of": {"deep": ["a2"]}}},
                    "thoughtSignature": SIGNED,
                },
                {"function_call": {"name": "look_up", "args": {}}, "thought_signature": SIGNED},
                {"executableCode": {"language": "PYTHON", "code": "c1"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "c2"}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "call_1", "name": "look_up", "response": {"result": '{"key": "r1"}'}}},
                {"function_response": {"name": "look_up", "response": {"note": "r2", "n": [1, "r3"]}}},
            ],
        },
    ],
    "systemInstruction": {"parts": [{"text": "s1"}]},
    "tools": [
        {"functionDeclarations": [{"name": "look_up", "description": "f1", "parameters": SCHEMA}]},
        {"function_declarations": [{"name": "send", "parameters_json_schema": {"type": "object", "title": "f2"}}]},
        {"googleSearch": {"excludeDomains": ["x1.test"]}},
        {"codeExecution": {}},
    ],
    "toolConfig": {"functionCallingConfig": {"mode": "VALIDATED", "allowedFunctionNames": ["look_up"]}},
    "generationConfig": {
        "temperature": 0.5,
        "maxOutputTokens": 64,
        "stopSequences": ["g1"],
        "responseMimeType": "application/json",
        "response_schema": {"type": "OBJECT", "title": "g2"},
        "responseModalities": ["TEXT"],
        "thinkingConfig": {"includeThoughts": True, "include_thoughts": True, "thinkingLevel": "low"},
        "speechConfig": {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": "Kore"}}},
    },
    "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
    "cachedContent": "cachedContents/abc",
    "labels": {"team": "l1"},
}


def texts(body: Body, path: str = PATH) -> list[str]:
    return WIRE.read(copy.deepcopy(body), path).texts()


def protect(body: Body, path: str = PATH, mark: str = "canary") -> Body:
    """Replaces the mark wherever the wire finds it, as protection would."""

    def replace(span: Span, value: str, raw: str | None = None) -> str:
        return "X"

    for block in WIRE.read(body, path).blocks:
        for slot in block:
            found: list[Sequence[Span]] = []
            for text in slot.texts:
                at = text.find(mark)
                found.append([Span(at, at + len(mark), "CODE", Action.PLACEHOLDER, 1.0, "test")] if at >= 0 else [])
            slot.apply(found, replace)
    return body


def test_every_text_is_read_in_the_order_of_the_model() -> None:
    read = WIRE.read(copy.deepcopy(FULL), PATH)
    first, second, settings = [[text for field in block for text in field.texts] for block in read.blocks]
    words = ["look_up", "f1", "d1", "e1", "city", "send", "f2", "x1.test", "s1", "g2", "u1", "u2"]
    assert [text for text in first if text in words] == ["look_up", "f1", "d1", "e1", *["city"] * 3, *words[5:]]
    model = ["t1", "m1", "call_1", "look_up", "city: a1", "deep: a2", "deep", "city", "of", "look_up", "c1", "c2"]
    assert second[: len(model)] == model
    assert second[len(model) :] == [
        "call_1",
        "look_up",
        "key",
        "key: r1",
        "result",
        "look_up",
        "note: r2",
        "n: r3",
        "note",
        "n",
    ]
    assert settings == ["look_up", "g1", "application/json", "cachedContents/abc", "team: l1", "team"]
    assert (read.seed, read.before_seed, read.model, read.stream) == ("u1\nu2", 0, "gemini-x", False)
    assert read.attachments == ()


def test_case_does_not_matter() -> None:
    def snake(value: Any, *, own: bool = False) -> Any:
        if isinstance(value, dict):
            return {name if own else _snake(name): snake(value[name], own=name in OWN) for name in value}
        return [snake(each) for each in value] if isinstance(value, list) else value

    assert texts(snake(FULL)) == texts(FULL)


OWN = {"properties", "args", "response", "labels"}


def _snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)


def test_signatures_cross_byte_for_byte_if_they_look_like_it() -> None:
    assert SIGNED not in texts(FULL)
    for name in ("thoughtSignature", "thought_signature"):
        for value in (CARD, MAIL, IBAN, "4111111111111111", "skip_thought_signature_validator"):
            assert value in texts({"contents": [{"parts": [{"text": "a", name: value}]}]})


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ({"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}, "inlineData"),
        ({"inline_data": {"mime_type": "image/png", "data": "iVBORw0KGgo="}}, "inlineData"),
        ({"fileData": {"mimeType": "application/pdf", "fileUri": "gs://b/f.pdf"}}, "fileData"),
        ({"functionResponse": {"name": "f", "parts": [{"inlineData": {"data": "QUJD"}}]}}, "inlineData"),
        ({"hologram": {"x": 1}}, "unknown"),
        ("text", "unknown"),
    ],
)
def test_files_and_unknown_parts_are_attachments(part: Any, kind: str) -> None:
    read = WIRE.read({"contents": [{"parts": [part]}]}, PATH)
    assert read.attachments == (kind,)
    assert "iVBORw0KGgo=" not in read.texts()


def test_a_single_object_stands_for_a_list() -> None:
    body: Body = {"contents": {"role": "user", "parts": {"text": "a"}}, "system_instruction": {"parts": {"text": "b"}}}
    assert texts(body) == ["b", "a"]
    assert texts({"contents": [{"parts": {"text": "a canary"}}], "systemInstruction": "b"}) == ["b", "a canary"]
    assert protect({"contents": {"parts": {"text": "a canary"}}}) == {"contents": {"parts": {"text": "a X"}}}


def test_values_are_replaced_in_place() -> None:
    body: Body = {
        "contents": [
            {"parts": [{"functionCall": {"name": "f", "args": {"canary k": True, "type": "a canary", "n": [1]}}}]},
            {"parts": [{"functionResponse": {"name": "f", "response": {"out": '{"a": "canary \\u00e9"}'}}}]},
        ],
        "labels": {"team": "canary"},
    }
    call, result = protect(body)["contents"]
    assert call["parts"][0]["functionCall"]["args"] == {"X k": True, "type": "a X", "n": [1]}
    assert result["parts"][0]["functionResponse"]["response"] == {"out": '{"a": "X \\u00e9"}'}
    assert body["labels"] == {"team": "X"}
    assert protect({"contents": [{"parts": [{"text": "a"}]}], "labels": "a canary"})["labels"] == "a X"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "contents"),
        ({"contents": []}, "contents"),
        ({"contents": "a"}, "contents"),
        ({"contents": ["a"]}, "contents[0]"),
        ({"contents": [{"role": "canary", "parts": []}]}, "contents[0].role"),
        ({"contents": [{"parts": 7}]}, "contents[0].parts"),
        ({"contents": [{"parts": [{"text": "a"}]}], "generateContentRequest": ["a"]}, "generateContentRequest"),
        ({"contents": [{"parts": [{"text": "a"}]}], "generationConfig": {"seed": 4111111111111111}}, None),
    ],
)
def test_what_violates_the_protocol_is_named_and_never_repeated(body: Body, field: str | None) -> None:
    if field is None:
        assert "4111111111111111" in texts(body)
        return
    with pytest.raises(BadRequest) as caught:
        WIRE.read(body, PATH)
    assert caught.value.param == field
    assert "canary" not in caught.value.message


@pytest.mark.parametrize("body", [{}, {"content": None}, {"requests": []}, {"requests": ["a"]}, {"contents": []}])
def test_embeddings_without_content_are_refused(body: Body) -> None:
    with pytest.raises(BadRequest):
        WIRE.read(body, BATCH)


def test_the_gateways_own_fields() -> None:
    body: Body = {"contents": [{"parts": [{"text": "a"}]}], "svc_task": "t", "svc_privacy_mode": "strict"}
    read = WIRE.read(body, PATH)
    assert (read.task, read.mode, set(body)) == ("t", "strict", {"contents"})
    with pytest.raises(Unprocessable):
        WIRE.read({"contents": [{"parts": [{"text": "a"}]}], "svc_tusk": "t"}, PATH)


@pytest.mark.parametrize(
    ("path", "model", "sent"),
    [
        (PATH, "gemini-x", "v1beta/models/m:generateContent"),
        ("/v1/models/gemini-x:streamGenerateContent", "gemini-x", "v1/models/m:streamGenerateContent"),
        ("/v1alpha/models/gemini-x:countTokens", "gemini-x", "v1alpha/models/m:countTokens"),
        ("/models/gemini-x:streamGenerateContent", "gemini-x", "v1beta/models/m:streamGenerateContent"),
        ("/gemini/v1beta/models/a/b:7b:embedContent", "a/b:7b", "v1beta/models/m:embedContent"),
        (BATCH, "gemini-x", "v1beta/models/m:batchEmbedContents"),
        ("/v1beta/tunedModels/own-1:generateContent", "tunedModels/own-1", "v1beta/models/m:generateContent"),
        (
            "/v1/projects/p-1/locations/eu-w4/publishers/google/models/gemini-x:generateContent",
            "gemini-x",
            "v1/projects/p-1/locations/eu-w4/publishers/google/models/m:generateContent",
        ),
    ],
)
def test_the_path_names_model_and_method(path: str, model: str, sent: str) -> None:
    assert Wires.discover().serving("POST", path) is WIRE
    assert WIRE.model({}, path) == model
    assert WIRE.method_path(path, "m") == sent


def test_a_tuned_model_keeps_its_collection() -> None:
    assert WIRE.method_path(PATH, "tunedModels/own-1") == "v1beta/tunedModels/own-1:generateContent"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", PATH),
        ("POST", "/v1beta/models/gemini-x"),
        ("POST", "/v1beta/models/gemini-x:predict"),
        ("POST", "/v1beta/models/../x:generateContent"),
        ("POST", "/v1/projects/../models/x:generateContent"),
        ("POST", "/v1beta/files/x:generateContent"),
        ("POST", "/v1/chat/completions"),
    ],
)
def test_other_calls_are_not_served(method: str, path: str) -> None:
    assert Wires.discover().serving(method, path) is not WIRE


def test_the_method_and_the_query_say_how_it_streams() -> None:
    body: Body = {"contents": [{"parts": [{"text": "a"}]}]}
    stream = "/v1beta/models/m:streamGenerateContent"
    for query, framing in {
        "?alt=sse": "sse",
        "?key=k&alt=sse": "sse",
        "?%24alt=sse": "sse",
        "?alt=json": "json-array",
        "": "json-array",
    }.items():
        read = WIRE.read(copy.deepcopy(body), stream + query)
        assert (read.stream, read.framing) == (True, framing)
    assert not WIRE.read(body, PATH + "?alt=sse").stream


def test_the_model_is_named_where_the_body_has_it() -> None:
    text: Body = {"parts": [{"text": "a"}]}
    bodies: list[Body] = [
        {"contents": [text]},
        {"model": "models/x", "content": text},
        {"requests": [{"model": "models/x", "content": text}, {"model": 7, "content": text}]},
        {"generateContentRequest": {"model": "models/x", "contents": [text]}},
    ]
    for body in bodies:
        WIRE.set_model(body, "y")
    assert bodies[0] == {"contents": [text]}
    assert bodies[1]["model"] == "models/y"
    assert [each["model"] for each in bodies[2]["requests"]] == ["models/y"] * 2
    assert bodies[3]["generateContentRequest"]["model"] == "models/y"
    WIRE.set_model(bodies[1], "tunedModels/own")
    assert bodies[1]["model"] == "tunedModels/own"


def test_embeddings_of_all_requests_share_a_key() -> None:
    batch: Body = {"requests": [{"content": {"parts": [{"text": each}]}, "taskType": "CLUSTERING"} for each in "ab"]}
    read = WIRE.read(batch, BATCH)
    assert (read.texts(), read.seed) == (["a", "b"], WIRE.read({"content": {"parts": [{"text": "c"}]}}, EMBED).seed)
