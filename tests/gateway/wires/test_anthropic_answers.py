"""Answers of the Anthropic wire: what is restored, counted and replaced in them. Errors, and the calls it serves."""

import copy
from typing import Any

import pytest

from gateway.errors import (
    BadRequest,
    BadUpstream,
    Forbidden,
    GatewayError,
    NotFound,
    TooLarge,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    Unprocessable,
    UpstreamTimeout,
)
from gateway.wires import Wires
from gateway.wires.anthropic_events import error_body
from gateway.wires.anthropic_messages import WIRE

type Body = dict[str, Any]

SIGNED = "Made1Up2" * 8 + "=="
ANSWER: Body = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "content": [
        {"type": "thinking", "thinking": "signed", "signature": SIGNED},
        {"type": "thinking", "thinking": "one", "signature": ""},
        {"type": "redacted_thinking", "data": SIGNED},
        {"type": "text", "text": "two", "citations": [{"type": "page_location", "cited_text": "three"}]},
        {"type": "tool_use", "id": "toolu_1", "name": "send", "input": {"a": 1}},
        {"type": "tool_use", "id": "toolu_2", "name": "stop", "input": {}},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "run", "input": "[]"},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "srvtoolu_1",
            "content": [{"type": "web_search_result", "title": "four", "encrypted_content": SIGNED}],
        },
        {"type": "hologram", "view": ["five", {"type": "x", "deep": "six"}]},
        "not a block",
    ],
    "stop_reason": "stop_sequence",
    "stop_sequence": "seven",
    "usage": {"input_tokens": 3, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 7, "output_tokens": 4},
    "vendor": {"note": "eight"},
}


def test_every_string_but_the_structure() -> None:
    found = WIRE.answer_texts(copy.deepcopy(ANSWER))
    words = {"one", "two", "three", "four", "five", "six", "seven", "eight", "send", "stop", "run"}
    ids = {"toolu_1", "toolu_2", "srvtoolu_1"}
    assert {text.text for text in found if text.kind == "text"} == words | ids
    assert {(text.text, text.tool) for text in found if text.kind == "json"} == {('{"a":1}', "send"), ("[]", "run")}


def test_a_restored_input_is_an_object_again() -> None:
    answer = copy.deepcopy(ANSWER)
    for text in WIRE.answer_texts(answer):
        text.container[text.key] = text.text.replace("1", "2").replace("two", "2")
    assert answer["content"][3]["text"] == "2"
    assert answer["content"][4] == {"type": "tool_use", "id": "toolu_2", "name": "send", "input": {"a": 2}}
    assert answer["content"][0] == ANSWER["content"][0]


@pytest.mark.parametrize("answer", [{}, {"content": 7}, {"content": [7]}, {"content": [{"type": 7}]}])
def test_an_answer_of_another_shape_has_no_texts(answer: Body) -> None:
    assert WIRE.answer_texts(answer) == []
    assert WIRE.usage(answer) is None


def test_tokens_are_told_where_they_are_numbers() -> None:
    assert WIRE.usage(ANSWER) == (15, 4)
    assert WIRE.usage({"input_tokens": 2095}) == (2095, 0)
    for usage in ({"input_tokens": 3}, {"input_tokens": -1, "output_tokens": 4}, {"input_tokens": True}, []):
        assert WIRE.usage({"usage": usage}) is None


def test_a_refused_answer_says_nothing_of_what_was_said() -> None:
    answer = copy.deepcopy(ANSWER)
    WIRE.refuse_answer(answer, "Withheld.")
    assert answer == {
        **{name: ANSWER[name] for name in ("id", "type", "role", "model", "usage")},
        "content": [{"type": "text", "text": "Withheld."}],
        "stop_reason": "refusal",
        "stop_sequence": None,
    }


def test_the_gateways_member() -> None:
    answer: Body = {"svc": "forged"}
    WIRE.annotate(answer, {"request_id": "r"})
    assert answer == {"svc": {"request_id": "r"}}
    WIRE.annotate(answer, None)
    assert answer == {}


ERRORS: list[tuple[GatewayError, str]] = [
    (BadRequest("No."), "invalid_request_error"),
    (Unauthorized("No."), "authentication_error"),
    (Forbidden("No.", code="blocked_by_policy"), "permission_error"),
    (NotFound("No.", code="unknown_route"), "invalid_request_error"),
    (NotFound("No.", code="model_not_found"), "not_found_error"),
    (TooLarge("No."), "request_too_large"),
    (Unprocessable("No."), "invalid_request_error"),
    (TooManyRequests("No."), "rate_limit_error"),
    (BadUpstream("No."), "api_error"),
    (Unavailable("No."), "api_error"),
    (Unavailable("No.", code="overloaded"), "overloaded_error"),
    (UpstreamTimeout("No."), "timeout_error"),
]


@pytest.mark.parametrize(("error", "kind"), ERRORS)
def test_an_error_has_the_type_of_its_cause(error: GatewayError, kind: str) -> None:
    error.param = "model"
    assert error_body(error, "r") == {
        "type": "error",
        "error": {"type": kind, "message": "No.", "details": {"error_code": error.code, "param": "model"}},
        "request_id": "r",
    }


@pytest.mark.parametrize(
    ("method", "path", "served"),
    [
        ("POST", "/v1/messages", "v1/messages"),
        ("POST", "/messages", "v1/messages"),
        ("POST", "/anthropic/v1/messages", "v1/messages"),
        ("POST", "/v1/messages/count_tokens", "v1/messages/count_tokens"),
        ("POST", "/messages/count_tokens", "v1/messages/count_tokens"),
        ("GET", "/v1/messages", None),
        ("POST", "/v1/messages/", None),
        ("POST", "/v1/messages\n", None),
        ("POST", "/v1/messages/batches", None),
        ("POST", "/v1/threads/thread_1/messages", None),
        ("POST", "/v1/anna schmidt/messages", None),
    ],
)
def test_the_calls_it_serves(method: str, path: str, served: str | None) -> None:
    wire = Wires.discover().serving(method, path)
    assert (wire.method_path(path, "m") if wire is WIRE else None) == served
