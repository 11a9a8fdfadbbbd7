"""Protection through its public face: what is hidden, that an echo restores, and that turns repeat their bytes."""

import copy
import json
import re
from typing import Any

import pytest

from gateway.config.locations import BUILTIN_POLICIES
from gateway.detection import builtin_detector
from gateway.http.strict_json import dump
from gateway.models import Action, PrivacyMode
from gateway.placeholders import Placeholders, RestoreScope, urls_with_placeholders
from gateway.policy.model import Policy
from gateway.policy.registry import PolicyRegistry
from gateway.protection.known_values import united
from gateway.protection.protector import Protected, Protector
from gateway.text.fields import Span, TextField
from gateway.wires.chat_completions import WIRE
from tests.tables import table

CASES = table(__file__)


def protect(
    protector: Protector, policy: Policy, text: str, key: bytes = b"k" * 32
) -> tuple[str, Placeholders, Protected]:
    placeholders = Placeholders(key)
    slot = TextField({"text": text}, "text", text)
    done = protector.protect([[slot]], policy, PrivacyMode.STANDARD, placeholders)
    return slot.container["text"], placeholders, done


def test_values_are_replaced_and_restored_to_the_byte(protector: Protector, policy: Policy) -> None:
    text = "Write to anna.schmidt@acme.test, IBAN DE89 3704 0044 0532 0130 00.\r\n\tThanks — Ünïcödé 😀"
    protected, placeholders, done = protect(protector, policy, text)
    assert "anna" not in protected
    assert "3704" not in protected
    assert protected.endswith("\r\n\tThanks — Ünïcödé 😀")
    assert set(done.counts()) == {"EMAIL_ADDRESS", "IBAN_CODE"}
    assert placeholders.restore(protected, rules=RestoreScope("source")).text == text


def test_transformations_say_where_everything_went(protector: Protector, policy: Policy) -> None:
    text = "a@acme.test and b@acme.test"
    protected, _, done = protect(protector, policy, text)
    for each in done.transformations:
        assert protected[each.protected_start : each.protected_end] == each.placeholder
        assert text[each.start : each.end] in {"a@acme.test", "b@acme.test"}
    assert len(done.transformations) == 2


def test_hidden_values_are_noted_once_in_the_order_of_their_last_occurrence(
    protector: Protector, policy: Policy
) -> None:
    _, _, done = protect(protector, policy, "a@acme.test, b@acme.test, a@acme.test, and password hunter-4-Rabbits!")
    assert [value for value in done.values if "@" in value] == ["b@acme.test", "a@acme.test"]
    assert "acme" not in repr(done)


def test_a_value_is_hidden_everywhere(protector: Protector, policy: Policy) -> None:
    protected, *_ = protect(
        protector, policy, "My name is Wilhelmina Oxenfoord. The file of Wilhelmina Oxenfoord is late."
    )
    assert "Wilhelmina" not in protected


def chat(*contents: str) -> dict[str, Any]:
    roles = ["user", "assistant"]
    messages = [{"role": roles[i % 2], "content": content} for i, content in enumerate(contents)]
    return {"model": "m", "messages": messages}


def protect_chat(protector: Protector, policy: Policy, body: dict[str, Any], key: bytes = b"k" * 32) -> bytes:
    body = copy.deepcopy(body)
    protector.protect(WIRE.read(body).blocks, policy, PrivacyMode.STANDARD, Placeholders(key))
    return dump(body["messages"])


PIN = {"pin": 4711, "password": "correcthorse7", "mrn": ["80081355"], "limit": 4711000}


@pytest.mark.parametrize(
    "fields",
    [
        {"metadata": PIN},
        {"whatever": {"deep": PIN}},
        {"messages": [{"role": "tool", "tool_call_id": "c", "content": json.dumps(PIN)}]},
        {"messages": [{"role": "assistant", "tool_calls": [{"function": {"arguments": json.dumps(PIN)}}]}]},
    ],
    ids=["metadata", "unknown field", "tool result", "tool call"],
)
def test_values_known_by_their_key_alone(protector: Protector, policy: Policy, fields: dict[str, Any]) -> None:
    body = chat("hello") | copy.deepcopy(fields)
    protector.protect(WIRE.read(body).blocks, policy, PrivacyMode.STANDARD, Placeholders(b"k" * 32))
    sent = dump(body).decode()
    assert not re.search("horse7|80081355|4711(?!000)", sent)
    assert "4711000" in sent


@pytest.mark.parametrize(("text", "gone", "left"), CASES["a_part_of_a_name_is_hidden_alone"])
def test_a_part_of_a_name_is_hidden_alone(
    protector: Protector, policy: Policy, text: str, gone: list[str], left: list[str]
) -> None:
    protected, _, _ = protect(protector, policy, text)
    assert all(re.search(rf"\b{word}\b", protected) is None for word in gone)
    assert all(words in protected for words in left)


@pytest.mark.parametrize(
    ("text", "gone"),
    CASES["other_spellings_of_what_was_found"],
    ids=["number", "grouped", "name", "settings"],
)
def test_other_spellings_of_what_was_found(protector: Protector, policy: Policy, text: str, gone: list[str]) -> None:
    protected, placeholders, _ = protect(protector, policy, text)
    assert not [word for word in gone if word in protected.lower()]
    assert placeholders.restore(protected, rules=RestoreScope("never")).text == text
    assert protected.count("\n") == text.count("\n")


def test_a_later_turn_repeats_the_bytes_of_the_earlier_ones(protector: Protector, policy: Policy) -> None:
    contents = (
        "Wilhelmina called about invoice 7.",
        "Noted.",
        "My name is Wilhelmina Oxenfoord, reach me at w@acme.test",
        "Noted, Wilhelmina.",
        "And the card 4111 1111 1111 1111 again, w@acme.test",
    )
    other = Protector(builtin_detector(), hash_key=b"h" * 32)
    for turns in (1, 3):
        earlier = protect_chat(protector, policy, chat(*contents[:turns]))
        later = protect_chat(other, policy, chat(*contents[: turns + 2]))
        # The name is first recognized in the second turn.
        assert later.startswith(earlier[:-1]) == (turns == 3)
        assert b"Wilhelmina" not in later


def test_a_literal_placeholder_of_the_user_never_opens(protector: Protector, policy: Policy) -> None:
    """The user types, literally, what his value will become; the value then takes a longer tag."""
    protected, placeholders, _ = protect(protector, policy, "mail w@acme.test")
    tag = placeholders.entries()[0].placeholder
    for literal in (tag, tag.lower(), tag[1:-1], f"<{tag[1:-1]}>"):
        text = f"mail w@acme.test and literally {literal}"
        protected, placeholders, _ = protect(protector, policy, text)
        assert placeholders.restore(protected, rules=RestoreScope("source")).text == text
        assert placeholders.restore(literal, rules=RestoreScope("source")).text == literal


def test_a_literal_in_a_later_turn_is_hidden_itself(protector: Protector, policy: Policy) -> None:
    first = chat("mail w@acme.test")
    earlier = protect_chat(protector, policy, first)
    placeholders = Placeholders(b"k" * 32)
    tag = placeholders.mint("EMAIL_ADDRESS", "w@acme.test")
    body = chat("mail w@acme.test", "ok", f"what is {tag}?")
    later = protect_chat(protector, policy, body)
    assert later.startswith(earlier[:-1])
    assert later.count(tag.encode()) == 1


def test_urls_of_the_source_restore_in_the_echo(protector: Protector, policy: Policy) -> None:
    text = "see https://crm.acme.test/people/w.oxenfoord@acme.test?x=1, please"
    protected, placeholders, _ = protect(protector, policy, text)
    scope = RestoreScope("source", urls_with_placeholders(protected))
    assert placeholders.restore(protected, rules=scope).text == text


def test_arguments_of_tool_calls_change_only_where_something_was_found(protector: Protector, policy: Policy) -> None:
    arguments = '{ "to" : "w@acme.test",\n "name":"Jos\\u00e9", "card": 4111111111111111, "n": 1.50 }'
    call = {"id": "call_1", "type": "function", "function": {"name": "send", "arguments": arguments}}
    body = {"model": "m", "messages": [{"role": "assistant", "content": None, "tool_calls": [call]}]}
    placeholders = Placeholders(b"k" * 32)
    protector.protect(WIRE.read(body).blocks, policy, PrivacyMode.STANDARD, placeholders)
    protected = call["function"]["arguments"]  # type: ignore[index]
    assert "w@acme.test" not in protected
    assert "4111" not in protected
    assert protected.startswith('{ "to" : "[EMAIL_ADDRESS_')
    assert '"name":"Jos\\u00e9"' in protected
    assert placeholders.restore_json(protected, rules=RestoreScope("source")).text == arguments


LOOK_ALIKES = {
    "[CARD_4539578763621486]": "4539578763621486",
    "card_4539578763621486": "4539578763621486",
    "my_card_number_4539578763621486": "4539578763621486",
    "4539578763621486_backup": "4539578763621486",
    "[IBAN_DE89370400440532013000]": "DE89370400440532013000",
    f"[KEY_{'AKIA' + 'QWERTZUI23456789'[:16]}]": "QWERTZUI",
    f"key_{'ghp' + '_' + 'aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5'}": "aB3dE5fG7hJ9",
    "My SSN: [US_SSN_53690] password is [PASSWORD_HNTR2298]": "HNTR2298",
}


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_look_alikes_of_placeholders_are_searched(protector: Protector, policy: Policy, text: str) -> None:
    for source in (text, f"See {text}, and {text}.", f"a@acme.test {text}"):
        protected, placeholders, _ = protect(protector, policy, source)
        assert LOOK_ALIKES[text] not in protected
        assert placeholders.restore(protected, rules=RestoreScope("source")).text == source
        again, _, _ = protect(protector, policy, source)
        assert again == protected


def test_a_placeholder_of_the_sessions_own_is_not_searched(protector: Protector, policy: Policy) -> None:
    """Not even where words say that a value follows; and another session's is text."""
    placeholders = Placeholders(b"k" * 32)
    tag = placeholders.mint("PASSWORD", "hunter2298")
    slot = TextField({"text": f"password: {tag}"}, "text", f"password: {tag}")
    protector.protect([[slot]], policy, PrivacyMode.STANDARD, placeholders)
    assert slot.container["text"] == f"password: {tag}"
    protected, others, _ = protect(protector, policy, f"password: {tag}", key=b"x" * 32)
    assert others.restore(protected, rules=RestoreScope("source")).text == f"password: {tag}"


@pytest.mark.parametrize("text", ["Dear Falcon, hello", "Write to falcon@acme.test", "See https://acme.test/falcon/7"])
@pytest.mark.parametrize(
    "restricts", [{"rules": {"PROJECT": {"action": "block"}}}, {"route": {"blocked_types": ["custom"]}}]
)
def test_a_type_that_must_not_leave_is_seen_inside_of_others(
    protector: Protector, text: str, restricts: dict[str, Any]
) -> None:
    deny = [{"type": "PROJECT", "terms": ["Falcon"]}]
    policy = PolicyRegistry(BUILTIN_POLICIES).preview({"id": "acme", "title": "Acme", "deny": deny, **restricts})
    slot = TextField({"text": text}, "text", text)
    (found,) = protector.find([[slot]], policy, PrivacyMode.STANDARD, block=False)
    assert [span.type for spans in found.spans for span in spans] == ["PROJECT"]


def test_united_spans_stay_blocked() -> None:
    name = Span(0, 11, "PERSON", Action.PLACEHOLDER, 1.0, "names")
    secret = Span(5, 20, "PROJECT", Action.BLOCK, 1.0, "policy:deny")
    assert united([name, secret]) == (Span(0, 20, "PROJECT", Action.BLOCK, 1.0, "policy:deny"),)
