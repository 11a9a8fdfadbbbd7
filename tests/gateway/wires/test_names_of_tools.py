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


SCHEMA = {"type": "object", "required": ["PARAM"], "properties": {"PARAM": {"type": "string"}}}


def chat(asked: str) -> Body:
    call = {"id": "call_1", "type": "function", "function": {"name": TOOL, "arguments": '{"PARAM": "1"}'}}
    return {
        "model": "m",
        "tools": [{"type": "function", "function": {"name": TOOL, "parameters": SCHEMA}}],
        "tool_choice": {"type": "function", "function": {"name": TOOL}},
        "messages": [
            {"role": "user", "content": asked},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "name": TOOL, "content": SAID},
            {"role": "assistant", "function_call": {"name": TOOL, "arguments": '{"PARAM": "2"}'}},
        ],
    }


def anthropic(asked: str) -> Body:
    call = {"type": "tool_use", "name": TOOL, "input": {"PARAM": "1"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": SAID}
    return {
        "model": "m",
        "max_tokens": 9,
        "tools": [{"name": TOOL, "input_schema": SCHEMA}],
        "tool_choice": {"type": "tool", "name": TOOL},
        "messages": [
            {"role": "user", "content": asked},
            {"role": "assistant", "content": [call | {"id": "toolu_1"}]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": [call | {"id": "toolu_2"}]},
        ],
    }


def responses(asked: str) -> Body:
    call = {"type": "function_call", "call_id": "call_1", "name": TOOL, "arguments": '{"PARAM": "1"}'}
    return {
        "model": "m",
        "tools": [{"type": "function", "name": TOOL, "parameters": SCHEMA}],
        "tool_choice": {"type": "function", "name": TOOL},
        "input": [
            {"role": "user", "content": asked},
            call,
            {"type": "function_call_output", "call_id": "call_1", "output": SAID},
            call | {"call_id": "call_2"},
        ],
    }


def gemini(asked: str) -> Body:
    call = {"role": "model", "parts": [{"functionCall": {"name": TOOL, "args": {"PARAM": "1"}}}]}
    result = {"functionResponse": {"name": TOOL, "response": {"result": SAID}}}
    return {
        "tools": [{"functionDeclarations": [{"name": TOOL, "parameters": SCHEMA}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [TOOL]}},
        "contents": [
            {"role": "user", "parts": [{"text": asked}]},
            call,
            {"role": "user", "parts": [result]},
            call,
        ],
    }


BODIES = {
    "/v1/chat/completions": (chat, 5),
    "/v1/messages": (anthropic, 4),
    "/v1/responses": (responses, 4),
    "/v1beta/models/m:generateContent": (gemini, 5),
}


def protected(
    protector: Protector, policy: Policy, path: str, body: Body, tool: str = TOOL, parameter: str = "when"
) -> tuple[str, Placeholders]:
    wire = WIRES.serving("POST", path)
    assert wire is not None
    named = json.dumps(body).replace(TOOL, tool).replace("PARAM", parameter)
    body.clear()
    body.update(json.loads(named))
    placeholders = Placeholders(b"k" * 32)
    protector.protect(wire.read(body, path).blocks, policy, PrivacyMode.STANDARD, placeholders)
    return json.dumps(body), placeholders


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("asked", ["Begin.", SAID])
def test_a_name_is_hidden_alike_wherever_it_is(protector: Protector, policy: Policy, path: str, asked: str) -> None:
    """Whether the person is recognized before the tool is called or in its result."""
    request, count = BODIES[path]
    sent, placeholders = protected(protector, policy, path, request(asked), parameter="Anna_Oberhuber-2")
    assert "Oberhuber" not in sent
    (name,) = {entry.placeholder for entry in placeholders.entries() if entry.value == TOOL}
    assert sent.count(f'"{name.strip("[]")}"') == count
    assert placeholders.restore(name.strip("[]"), rules=RestoreScope("source")).text == TOOL
    (part,) = {entry.placeholder for entry in placeholders.entries() if entry.value == "Anna_Oberhuber"}
    assert sent.count(f"{part}-2") == 4


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("asked", ["Begin.", SAID])
def test_a_single_word_is_none_of_a_person(protector: Protector, policy: Policy, path: str, asked: str) -> None:
    request, count = BODIES[path]
    sent, _ = protected(protector, policy, path, request(asked), "Oberhuber_query", "Oberhuber-grace-period")
    assert sent.count('"Oberhuber_query"') == count
    assert sent.count("Oberhuber-grace-period") == 4
    assert sent.count("Oberhuber") == count + 4


@pytest.mark.parametrize("tool", ["Oberhuber", "AnnaOberhuber_done", "Oberhuber_to_Anna", "done_anna_oberhuber"])
def test_a_whole_name_is_a_persons(protector: Protector, policy: Policy, tool: str) -> None:
    sent, _ = protected(protector, policy, "/v1/chat/completions", chat(SAID), tool)
    assert "oberhuber" not in sent.lower()


@pytest.mark.parametrize(
    "member", [{"note": {"Oberhuber_phone": "1"}}, {"metadata": {"properties": {"Oberhuber-a": "1"}}}]
)
def test_a_key_of_data_may_be_a_persons(protector: Protector, policy: Policy, member: Body) -> None:
    sent, _ = protected(protector, policy, "/v1/chat/completions", chat(SAID) | member)
    assert "Oberhuber" not in sent


def test_a_person_has_no_name_of_the_protocol(protector: Protector, policy: Policy) -> None:
    """The label of a message is a person's, even if a tool has that name."""
    body: dict[str, Any] = chat("Begin.")
    body["messages"].append({"role": "user", "name": TOOL, "content": "Go on."})
    protected(protector, policy, "/v1/chat/completions", body, "Oberhuber_query")
    assert "Oberhuber" not in body["messages"][-1]["name"]
    assert body["messages"][1]["tool_calls"][0]["function"]["name"] == "Oberhuber_query"


def test_an_undeclared_name_is_searched(protector: Protector, policy: Policy) -> None:
    body = chat(SAID)
    del body["tools"], body["tool_choice"]
    sent, _ = protected(protector, policy, "/v1/chat/completions", body)
    assert "Oberhuber" not in sent
