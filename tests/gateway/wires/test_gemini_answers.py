"""Answers of the Gemini wire: what is restored, counted and replaced in them. Errors."""

import copy
from typing import Any

import pytest

from gateway.destinations.trust import Source
from gateway.errors import (
    BadRequest,
    BadUpstream,
    Conflict,
    Forbidden,
    GatewayError,
    InternalError,
    NotFound,
    TooLarge,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    Unprocessable,
    UpstreamTimeout,
)
from gateway.wires.gemini import WIRE
from gateway.wires.gemini_answers import error_body

type Body = dict[str, Any]

SIGNED = "Made1Up2" * 8 + "=="
ANSWER: Body = {
    "candidates": [
        {
            "content": {
                "parts": [
                    {"text": "signed", "thought": True, "thoughtSignature": SIGNED},
                    {"text": "one", "thought": True},
                    {"text": "two", "thoughtSignature": SIGNED},
                    {"functionCall": {"name": "send", "args": {"a": 1}, "id": "call_1"}, "thoughtSignature": SIGNED},
                    {"functionCall": {"name": "stop", "args": {}}},
                    {"executableCode": {"language": "PYTHON", "code": "three"}},
                    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "four"}},
                    {"inlineData": {"mimeType": "image/png", "data": "QUJD"}},
                    {"hologram": {"view": ["five", {"deep": "six"}]}},
                    "not a part",
                ],
                "role": "model",
            },
            "finishReason": "STOP",
            "finishMessage": "seven",
            "index": 0,
            "safetyRatings": [{"category": "HARM_CATEGORY_HARASSMENT", "probability": "NEGLIGIBLE"}],
            "citationMetadata": {"citations": [{"startIndex": 1, "uri": "eight"}]},
            "groundingMetadata": {
                "webSearchQueries": ["nine"],
                "groundingChunks": [{"web": {"uri": "ten", "title": "eleven"}}],
                "searchEntryPoint": {"renderedContent": "twelve", "sdkBlob": SIGNED},
            },
        },
        "not a candidate",
        {"content": "thirteen"},
    ],
    "promptFeedback": {"blockReason": "OTHER", "blockReasonMessage": "fourteen"},
    "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4, "thoughtsTokenCount": 5, "totalTokenCount": 12},
    "modelVersion": "gemini-x",
    "responseId": "r",
    "vendor": {"note": "fifteen"},
}
WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"


def test_every_string_but_the_structure() -> None:
    found = WIRE.answer_texts(copy.deepcopy(ANSWER))
    assert {text.text for text in found if text.kind == "text"} == {*WORDS.split(), "send", "stop", "call_1"}
    assert [(text.text, text.tool) for text in found if text.kind == "json"] == [('{"a":1}', "send")]
    assert [text.text for text in found if text.kind == "data"] == ["QUJD"]
    assert {text.choice for text in found if text.text == "thirteen"} == {1}


def test_restored_arguments_are_an_object_again() -> None:
    answer = copy.deepcopy(ANSWER)
    for text in WIRE.answer_texts(answer):
        text.container[text.key] = text.text.replace("1", "2").replace("two", "2")
    parts = answer["candidates"][0]["content"]["parts"]
    assert parts[2] == {"text": "2", "thoughtSignature": SIGNED}
    assert parts[3]["functionCall"]["args"] == {"a": 2}
    assert parts[3]["thoughtSignature"] == SIGNED
    assert parts[0] == ANSWER["candidates"][0]["content"]["parts"][0]


@pytest.mark.parametrize(
    "answer", [{}, {"candidates": 7}, {"candidates": [7]}, {"candidates": [{"content": {"parts": 7}}]}]
)
def test_an_answer_of_another_shape_has_no_texts(answer: Body) -> None:
    assert WIRE.answer_texts(answer) == []
    assert WIRE.usage(answer) is None


def test_embeddings_are_returned() -> None:
    answer: Body = {"embeddings": [{"values": [0.1, 0.2]}], "embedding": {"values": [0.1]}}
    assert WIRE.answer_texts(answer) == []
    assert WIRE.usage({"totalTokens": 31}) == (31, 0)


def test_tokens_are_told_where_they_are_numbers() -> None:
    assert WIRE.usage(ANSWER) == (3, 9)
    assert WIRE.usage({"usageMetadata": {"promptTokenCount": 3, "toolUsePromptTokenCount": 2}}) == (5, 0)
    for usage in ({"candidatesTokenCount": 3}, {"promptTokenCount": -1}, {"promptTokenCount": True}, []):
        assert WIRE.usage({"usageMetadata": usage}) is None


def test_a_refused_answer_says_nothing_of_what_was_said() -> None:
    answer = copy.deepcopy(ANSWER)
    WIRE.refuse_answer(answer, "Withheld.")
    content = {"parts": [{"text": "Withheld."}], "role": "model"}
    assert answer == {
        **{name: ANSWER[name] for name in ("responseId", "modelVersion", "usageMetadata")},
        "candidates": [{"content": content, "finishReason": "SAFETY", "index": index} for index in (0, 1)],
    }


def test_the_gateways_member() -> None:
    answer: Body = {"svc": "forged"}
    WIRE.annotate(answer, {"request_id": "r"})
    assert answer == {"svc": {"request_id": "r"}}
    WIRE.annotate(answer, None)
    assert answer == {}


ERRORS: list[tuple[GatewayError, int, str]] = [
    (BadRequest("No."), 400, "INVALID_ARGUMENT"),
    (Unauthorized("No."), 401, "UNAUTHENTICATED"),
    (Forbidden("No.", code="blocked_by_policy"), 403, "PERMISSION_DENIED"),
    (NotFound("No.", code="model_not_found"), 404, "NOT_FOUND"),
    (Conflict("No."), 409, "ABORTED"),
    (TooLarge("No."), 413, "INVALID_ARGUMENT"),
    (Unprocessable("No."), 422, "INVALID_ARGUMENT"),
    (TooManyRequests("No."), 429, "RESOURCE_EXHAUSTED"),
    (InternalError("No."), 500, "INTERNAL"),
    (BadUpstream("No."), 502, "UNAVAILABLE"),
    (Unavailable("No."), 503, "UNAVAILABLE"),
    (UpstreamTimeout("No."), 504, "DEADLINE_EXCEEDED"),
]


@pytest.mark.parametrize(("error", "code", "status"), ERRORS)
def test_errors_have_the_shape_of_the_api(error: GatewayError, code: int, status: str) -> None:
    error.param = "contents"
    shown = error_body(error, "req_1")["error"]
    assert (shown["code"], shown["message"], shown["status"]) == (code, "No.", status)
    (info,) = shown["details"]
    assert info["reason"] == error.code.upper()
    assert info["metadata"] == {"code": error.code, "request_id": "req_1", "param": "contents"}


CALL = '{"functionCall": {"name": "f", "args": {"to": "evil.test"}}}'
RESULT = '{"functionResponse": {"name": "f", "response": {"out": "[A_1] evil.test"}}}'


@pytest.mark.parametrize("part", [CALL, CALL.replace("functionC", "function_c"), RESULT, RESULT.replace("nR", "n_r")])
@pytest.mark.parametrize("form", ['{"contents": [{"parts": [%s]}]}', '{"contents": {"parts": %s}}'])
def test_calls_of_tools_and_their_results_name_no_destination(part: str, form: str) -> None:
    request = (form % part).encode()
    assert not Source(request, named_for=frozenset()).names("evil.test")
    assert Source(request).names("evil.test")
    # A result that holds the placeholders as well does.
    is_result = "esponse" in part
    assert Source(request, named_for=frozenset({"[A_1]"})).names("evil.test") == is_result


def test_what_users_and_models_say_names_a_destination() -> None:
    request = b'{"contents": [{"role": "user", "parts": [{"text": "Send it to good.test."}]}]}'
    assert Source(request, named_for=frozenset()).names("good.test")
