"""Values that are first recognized in a later message are hidden in the earlier ones, on every wire."""

import itertools
import json
from base64 import b64encode
from typing import Any

import pytest

from gateway.http.strict_json import dump
from gateway.models import PrivacyMode
from gateway.placeholders import Placeholders, RestoreScope
from gateway.policy.model import Policy
from gateway.protection.protector import Protector
from gateway.wires.base import Body, Wires
from tests.gateway.wires.turns import AGENTS, Agent
from tests.tables import table

CASES = table(__file__)

WIRES = Wires.discover()
CHAT = "/v1/chat/completions"


def request(path: str, system: str, earlier: str, call: str, result: str, later: str) -> Body:
    """Returns a request with these texts in the places of the capitals."""
    texts = {"SYSTEM": system, "EARLIER": earlier, "CALL": call, "RESULT": result, "LATER": later}

    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: filled(each) for name, each in value.items()}
        if isinstance(value, list):
            return [filled(each) for each in value]
        if isinstance(value, str) and value.startswith("{"):
            return json.dumps(filled(json.loads(value)))
        return texts.get(value, value) if isinstance(value, str) else value

    return filled(CASES["requests"][path])  # type: ignore[no-any-return]


def sent(protector: Protector, policy: Policy, path: str, body: Body, *, caller: str | None = None) -> str:
    wire = WIRES.serving("POST", path)
    assert wire is not None
    placeholders = Placeholders(b"k" * 32)
    source = json.dumps(body)
    protector.protect(wire.read(body, path).blocks, policy, PrivacyMode.STANDARD, placeholders, remember_for=caller)
    protected = dump(body).decode()
    restored = placeholders.restore_json(protected, rules=RestoreScope("source")).text
    assert json.loads(restored) == json.loads(source)
    return protected


@pytest.mark.parametrize("path", CASES["requests"])
@pytest.mark.parametrize(("value", "announced"), CASES["distinctive"].values(), ids=CASES["distinctive"])
def test_a_distinctive_value_is_hidden_in_all_earlier_places(
    protector: Protector, policy: Policy, path: str, value: str, announced: str
) -> None:
    said = f"See {value} in the logs"
    later = announced.format(value)
    for places in (
        (said, "Hi", "x", "x"),
        ("Help.", said, "x", "x"),
        ("Help.", "Hi", value, "x"),
        ("Help.", "Hi", "x", said),
    ):
        before = sent(protector, policy, path, request(path, *places, "Thanks."))
        assert value in before, "recognized without the later message"
        assert value not in sent(protector, policy, path, request(path, *places, later))


@pytest.mark.parametrize("path", CASES["requests"])
@pytest.mark.parametrize(("value", "announced"), [("sunshine", "my password is {}"), ("4711", "my PIN is {}")])
def test_a_word_or_short_number_is_hidden_in_earlier_messages_alone(
    protector: Protector, policy: Policy, path: str, value: str, announced: str
) -> None:
    said = f"I like {value} most."
    code = f"import os\n\ndef run(a):\n    {value} = a.call(b)\n    return os.path.join(a, {value})\n"
    later = announced.format(value)
    protected = sent(protector, policy, path, request(path, "Help.", said, value, said, later))
    assert value not in protected
    protected = sent(protector, policy, path, request(path, said, "Hi", "x", "x", later))
    assert protected.count(said) == 2
    protected = sent(protector, policy, path, request(path, "Help.", code, "x", code, later))
    assert json.dumps(protected).count(value) == 6


@pytest.mark.parametrize("path", CASES["requests"])
def test_only_distinctive_values_of_a_tool_result_are_hidden_earlier(
    protector: Protector, policy: Policy, path: str
) -> None:
    found = "my password is sunshine\nDB_PASSWORD=Zebra81cat9"
    protected = sent(protector, policy, path, request(path, "Help.", "Try sunshine or Zebra81cat9", "x", found, "Ok."))
    assert "Try sunshine" in protected
    assert "Zebra81cat9" not in protected
    # Once the user announces it, too, it is hidden.
    later = "my password is sunshine"
    protected = sent(protector, policy, path, request(path, "Help.", "Try sunshine", "x", found, later))
    assert "sunshine" not in protected


@pytest.mark.parametrize("path", CASES["requests"])
def test_a_full_name_in_the_fields_of_a_record_is_hidden_earlier(
    protector: Protector, policy: Policy, path: str
) -> None:
    name = "Carlotta Weidenfeller"
    record = json.dumps({"first_name": "Carlotta", "last_name": "Weidenfeller", "name": name})
    said = f"look up {name}"
    assert name not in sent(protector, policy, path, request(path, "Help.", said, name, record, "Ok."))


@pytest.mark.parametrize("path", CASES["requests"])
def test_a_family_name_leaves_the_word_in_instructions_alone(protector: Protector, policy: Policy, path: str) -> None:
    system = "Use the jenkins tool. Jenkins is our CI server, in /srv/jenkins/conf."
    body = request(path, system, "Hi", "x", "x", "My name is Jenkins.")
    assert sent(protector, policy, path, body).count(system) == 2


def test_other_spellings_are_hidden_in_earlier_messages(protector: Protector, policy: Policy) -> None:
    value = "Zebra81cat-Horse9"
    for spelled in (
        b64encode(value.encode()).decode(),
        value.encode().hex(),
        "".join(f"%{byte:02x}" for byte in value.encode()),
        value.upper(),
        "Zebra81cat-\u200bHorse9",
    ):
        body = request(CHAT, "Help.", f"look for {spelled} there", "x", "x", f"password: {value}")
        assert spelled not in json.loads(sent(protector, policy, CHAT, body))["messages"][1]["content"]


def test_a_name_in_the_metadata_is_hidden_in_the_messages(protector: Protector, policy: Policy) -> None:
    body = {**request(CHAT, "Help.", "Zebra81cat", "x", "x", "Ok."), "metadata": {"password": "Zebra81cat"}}
    assert "Zebra81cat" not in sent(protector, policy, CHAT, body)


TURNS = 50
LATE = {7: ("Zebra81cat", "my database password: {}"), 23: ("12345678", "my account number is {}")}


def _with_late_values(agent: Agent, turn: int) -> Body:
    """A request of an agent whose first message has values that are announced in the results of later turns."""
    text = json.dumps(agent.request(turn))
    text = text.replace("My PIN?", f"Look for {' and '.join(value for value, _ in LATE.values())}. My PIN?")
    for number, (value, announced) in LATE.items():
        text = text.replace(f"4{number - 1}71 to", f"{announced.format(value)}. 4{number - 1}71 to")
    body: Body = json.loads(text)
    return body


@pytest.mark.parametrize("name", AGENTS)
def test_earlier_bytes_change_only_in_turns_that_reveal_a_value(
    protector: Protector, policy: Policy, name: str
) -> None:
    """Fifty turns of an agent, each searched by one that remembers and, now and then, by one that does not."""
    agent = AGENTS[name]
    prompts: list[bytes] = []
    for turn in range(TURNS):
        body = _with_late_values(agent, turn)
        protected = _protected(protector, policy, agent, body, "key_1")
        if turn % 7 in (0, 1):
            assert protected == _protected(protector, policy, agent, _with_late_values(agent, turn), None)
        prompts.append(agent.prompt(protected))
    changed = [
        turn + 1
        for turn, (before, after) in enumerate(itertools.pairwise(prompts))
        if not after.startswith(_kept(before))
    ]
    assert changed == list(LATE)
    assert not [value for value, _ in LATE.values() if value.encode() in prompts[-1]]
    assert all(value.encode() in prompts[0] for value, _ in LATE.values())


def _protected(protector: Protector, policy: Policy, agent: Agent, body: Body, caller: str | None) -> dict[str, Any]:
    conversation = agent.wire.read(body, agent.path)
    protector.protect(conversation.blocks, policy, PrivacyMode.STANDARD, Placeholders(b"k" * 32), remember_for=caller)
    return body


def _kept(prompt: bytes) -> bytes:
    """The prompt without its end, which another marker may follow."""
    return prompt.rstrip(b"]}\n ")
