"""A call has the name of its tool, whatever was found before it or after it."""

import json
from typing import Any

import pytest

from gateway.models import PrivacyMode
from gateway.placeholders import Placeholders, RestoreScope
from gateway.policy import Policy
from gateway.protection.protector import Protector
from gateway.wires import Body, Wires

WIRES = Wires.discover()
TOOL = "Anna_Oberhuber_done"
SAID = "My name is Anna Oberhuber."


def chat(asked: str) -> Body:
    call = {"id": "call_1", "type": "function", "function": {"name": TOOL, "arguments": "{}"}}
    return {
        "model": "m",
        "tools": [{"type": "function", "function": {"name": TOOL, "parameters": {"type": "object"}}}],
        "tool_choice": {"type": "function", "function": {"name": TOOL}},
        "messages": [
            {"role": "user", "content": asked},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "name": TOOL, "content": SAID},
            {"role": "assistant", "function_call": {"name": TOOL, "arguments": "{}"}},
        ],
    }


def anthropic(asked: str) -> Body:
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": SAID}
    return {
        "model": "m",
        "max_tokens": 9,
        "tools": [{"name": TOOL, "input_schema": {"type": "object"}}],
        "tool_choice": {"type": "tool", "name": TOOL},
        "messages": [
            {"role": "user", "content": asked},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": TOOL, "input": {}}]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_2", "name": TOOL, "input": {}}]},
        ],
    }


def responses(asked: str) -> Body:
    call = {"type": "function_call", "call_id": "call_1", "name": TOOL, "arguments": "{}"}
    return {
        "model": "m",
        "tools": [{"type": "function", "name": TOOL, "parameters": {"type": "object"}}],
        "tool_choice": {"type": "function", "name": TOOL},
        "input": [
            {"role": "user", "content": asked},
            call,
            {"type": "function_call_output", "call_id": "call_1", "output": SAID},
            call | {"call_id": "call_2"},
        ],
    }


def gemini(asked: str) -> Body:
    call = {"role": "model", "parts": [{"functionCall": {"name": TOOL, "args": {}}}]}
    result = {"functionResponse": {"name": TOOL, "response": {"result": SAID}}}
    return {
        "tools": [{"functionDeclarations": [{"name": TOOL, "parameters": {"type": "object"}}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [TOOL]}},
        "contents": [
            {"role": "user", "parts": [{"text": asked}]},
            call,
            {"role": "user", "parts": [result]},
            call | {"parts": [{"functionCall": {"name": TOOL, "args": {}}}]},
        ],
    }


BODIES = {
    "/v1/chat/completions": (chat, 5),
    "/v1/messages": (anthropic, 4),
    "/v1/responses": (responses, 4),
    "/v1beta/models/m:generateContent": (gemini, 5),
}


def protected(protector: Protector, policy: Policy, path: str, body: Body) -> tuple[str, Placeholders]:
    wire = WIRES.serving("POST", path)
    assert wire is not None
    placeholders = Placeholders(b"k" * 32)
    protector.protect(wire.read(body, path).blocks, policy, PrivacyMode.STANDARD, placeholders)
    return json.dumps(body), placeholders


@pytest.mark.parametrize("path", BODIES)
def test_a_name_that_was_sent_stays(protector: Protector, policy: Policy, path: str) -> None:
    request, count = BODIES[path]
    sent, _ = protected(protector, policy, path, request("Begin."))
    assert sent.count(f'"{TOOL}"') == count
    assert sent.count("Oberhuber") == count


@pytest.mark.parametrize("path", BODIES)
def test_a_name_that_was_hidden_is_hidden_alike(protector: Protector, policy: Policy, path: str) -> None:
    request, count = BODIES[path]
    sent, placeholders = protected(protector, policy, path, request(SAID))
    assert "Oberhuber" not in sent
    (name,) = {entry.placeholder for entry in placeholders.entries() if entry.value == TOOL}
    assert sent.count(f'"{name.strip("[]")}"') == count
    assert placeholders.restore(name.strip("[]"), rules=RestoreScope("source")).text == TOOL


def test_a_person_has_no_name_of_the_protocol(protector: Protector, policy: Policy) -> None:
    """What a message is labelled with is a person's, even if a tool has that name."""
    body: dict[str, Any] = chat("Begin.")
    body["messages"].append({"role": "user", "name": TOOL, "content": "Go on."})
    protected(protector, policy, "/v1/chat/completions", body)
    assert "Oberhuber" not in body["messages"][-1]["name"]
    assert body["messages"][1]["tool_calls"][0]["function"]["name"] == TOOL


def test_an_undeclared_name_is_searched(protector: Protector, policy: Policy) -> None:
    body = chat(SAID)
    del body["tools"], body["tool_choice"]
    sent, _ = protected(protector, policy, "/v1/chat/completions", body)
    assert "Oberhuber" not in sent
