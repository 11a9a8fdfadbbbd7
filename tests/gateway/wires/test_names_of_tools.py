"""A call has the name of its tool, whether or not values were found before or after it."""

import json
from typing import Any

import pytest

from gateway.models import PrivacyMode
from gateway.placeholders import Placeholders, RestoreScope
from gateway.policy.model import Policy
from gateway.protection.protector import Protector
from gateway.wires.base import Body
from tests.gateway.wires.contract.cases import CASES, wire_of

TOOL = "Anna_Oberhuber_done"
SAID = "My name is Anna Oberhuber."
TOOLS = {id: of["tools"] for id, of in CASES.items() if "tools" in of}


def chat(asked: str) -> Body:
    return body_of("chat-completions", asked)


def body_of(id: str, asked: str) -> Body:
    body: Body = json.loads(json.dumps(TOOLS[id]["body"]).replace("ASKED", asked).replace("RESULT", SAID))
    return body


def protected(
    protector: Protector, policy: Policy, id: str, body: Body, tool: str = TOOL, parameter: str = "when"
) -> tuple[str, Placeholders]:
    named = json.dumps(body).replace('"TOOL"', f'"{tool}"').replace("PARAM", parameter)
    body.clear()
    body.update(json.loads(named))
    placeholders = Placeholders(b"k" * 32)
    protector.protect(wire_of(id).read(body, CASES[id]["path"]).blocks, policy, PrivacyMode.STANDARD, placeholders)
    return json.dumps(body), placeholders


@pytest.mark.parametrize("id", TOOLS)
@pytest.mark.parametrize("asked", ["Begin.", SAID])
def test_a_name_is_hidden_alike_wherever_it_is(protector: Protector, policy: Policy, id: str, asked: str) -> None:
    """Whether the person is recognized before the tool is called or in its result."""
    count = TOOLS[id]["count"]
    sent, placeholders = protected(protector, policy, id, body_of(id, asked), parameter="Anna_Oberhuber-2")
    assert "Oberhuber" not in sent
    (name,) = {entry.placeholder for entry in placeholders.entries() if entry.value == TOOL}
    assert sent.count(f'"{name.strip("[]")}"') == count
    assert placeholders.restore(name.strip("[]"), rules=RestoreScope("source")).text == TOOL
    (part,) = {entry.placeholder for entry in placeholders.entries() if entry.value == "Anna_Oberhuber"}
    assert sent.count(f"{part}-2") == 4


@pytest.mark.parametrize("id", TOOLS)
@pytest.mark.parametrize("asked", ["Begin.", SAID])
def test_a_single_word_is_none_of_a_person(protector: Protector, policy: Policy, id: str, asked: str) -> None:
    count = TOOLS[id]["count"]
    sent, _ = protected(protector, policy, id, body_of(id, asked), "Oberhuber_query", "Oberhuber-grace-period")
    assert sent.count('"Oberhuber_query"') == count
    assert sent.count("Oberhuber-grace-period") == 4
    assert sent.count("Oberhuber") == count + 4


@pytest.mark.parametrize("tool", ["Oberhuber", "AnnaOberhuber_done", "Oberhuber_to_Anna", "done_anna_oberhuber"])
def test_a_whole_name_is_a_persons(protector: Protector, policy: Policy, tool: str) -> None:
    sent, _ = protected(protector, policy, "chat-completions", chat(SAID), tool)
    assert "oberhuber" not in sent.lower()


@pytest.mark.parametrize(
    "member", [{"note": {"Oberhuber_phone": "1"}}, {"metadata": {"properties": {"Oberhuber-a": "1"}}}]
)
def test_a_key_of_data_may_be_a_persons(protector: Protector, policy: Policy, member: Body) -> None:
    sent, _ = protected(protector, policy, "chat-completions", chat(SAID) | member)
    assert "Oberhuber" not in sent


def test_a_person_has_no_name_of_the_protocol(protector: Protector, policy: Policy) -> None:
    """The label of a message is a person's, even if a tool has that name."""
    body: dict[str, Any] = chat("Begin.")
    body["messages"].append({"role": "user", "name": "TOOL", "content": "Go on."})
    protected(protector, policy, "chat-completions", body, "Oberhuber_query")
    assert "Oberhuber" not in body["messages"][-1]["name"]
    assert body["messages"][1]["tool_calls"][0]["function"]["name"] == "Oberhuber_query"


def test_an_undeclared_name_is_searched(protector: Protector, policy: Policy) -> None:
    body = chat(SAID)
    del body["tools"], body["tool_choice"]
    sent, _ = protected(protector, policy, "chat-completions", body)
    assert "Oberhuber" not in sent
