"""The texts of a request have their role and place, on every wire."""

import json
from typing import Any

import pytest

from gateway.cli.inspection.records import Sent
from gateway.cli.inspection.sent_texts import answer_of, texts_of
from tests.gateway.cli.inspection.support import OWN, chat, sent

TOOL = {"type": "function", "function": {"name": "save", "description": "Saves it."}}
ANTHROPIC = {
    **{
        "model": "c",
        "max_tokens": 9,
        "system": "Be brief.",
        "tools": [{"name": "t", "input_schema": {}, "description": "D"}],
    },
    "messages": [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "t", "input": {"value": OWN}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "Done"}]},
    ],
}
GEMINI = {"contents": [{"parts": [{"text": "Hi"}]}], "systemInstruction": {"parts": [{"text": "Be brief."}]}}
RESPONSES = {
    "model": "g",
    "instructions": "Be brief.",
    "input": [{"type": "function_call_output", "call_id": "c", "output": "Done"}],
}


@pytest.mark.parametrize(
    ("wire", "path", "body", "wanted"),
    [
        (
            "chat-completions",
            "/v1/chat/completions",
            chat("Hi", role="system", tools=[TOOL]),
            {"/messages/0/content system Hi", "/tools/0/function/description tools Saves it."},
        ),
        (
            "anthropic-messages",
            "/v1/messages",
            ANTHROPIC,
            {
                "/system system Be brief.",
                "/messages/0/content user Hi",
                f"/messages/1/content/0/input/value tool call {OWN}",
                "/messages/2/content/0/content tool result Done",
                "/tools/0/description tools D",
            },
        ),
        (
            "gemini",
            "/v1beta/models/g:generateContent",
            GEMINI,
            {"/contents/0/parts/0/text user Hi", "/systemInstruction/parts/0/text system Be brief."},
        ),
        (
            "responses",
            "/v1/responses",
            RESPONSES,
            {"/instructions system Be brief.", "/input/0/output tool result Done"},
        ),
    ],
)
def test_texts_have_a_role_and_a_pointer(wire: str, path: str, body: Any, wanted: set[str]) -> None:
    found = {f"{each.pointer} {each.role} {each.text}" for each in texts_of(sent(body, wire=wire, path=path))}
    assert wanted <= found


def test_a_body_that_no_wire_reads_is_one_text() -> None:
    for request in (sent(b"a=b"), sent(b"[1]"), sent({"a": "b"}, wire=None), sent({"model": 1})):
        assert [(each.role, each.text) for each in texts_of(request)] == [("body", request.body.decode())]
    assert texts_of(sent(b"")) == []


def answered(answer: bytes, **members: Any) -> Sent:
    request = sent(chat("Hi"), **members)
    request.answer = answer
    return request


def test_the_texts_of_an_answer_are_whole() -> None:
    pieces = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in ("You ", "said")]
    stream = "".join(f"data: {json.dumps(each)}\n\n" for each in pieces) + "data: [DONE]\n\n"
    assert answer_of(answered(stream.encode())) == ["You said"]
    whole = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "You said"}}]}
    assert "You said" in answer_of(answered(json.dumps(whole).encode()))
    array = json.dumps([{"candidates": [{"content": {"parts": [{"text": part}]}}]} for part in ("a", "b")]).encode()
    assert answer_of(answered(array, wire="gemini")) == ["ab"]
    assert answer_of(answered(b"<html>")) == ["<html>"]
    assert answer_of(answered(b"<html>", wire=None)) == ["<html>"]
