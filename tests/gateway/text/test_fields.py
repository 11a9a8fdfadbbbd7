"""Slots: what is replaced is replaced exactly there, and all else stays to the byte."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import BadRequest
from gateway.models import Action
from gateway.placeholders import Placeholders, RestoreScope
from gateway.text.fields import (
    JsonField,
    KeyField,
    MessageField,
    NameField,
    NumberField,
    SettingField,
    Span,
    TextField,
    splice,
)
from tests.tables import table

CASES = table(__file__)


def span(text: str, value: str, score: float = 0.9) -> Span:
    start = text.index(value)
    return Span(start, start + len(value), "CODE", Action.PLACEHOLDER, score, "test")


class Replacing:
    """Puts `[CODE_n]` in place and remembers what it was given."""

    def __init__(self) -> None:
        self.given: list[tuple[str, str | None]] = []

    def __call__(self, span: Span, value: str, raw: str | None = None) -> str:
        self.given.append((value, raw))
        return f"[CODE_{len(self.given)}]"


def apply(slot: MessageField, *values: str) -> Replacing:
    replacing = Replacing()
    slot.apply([[span(text, value) for value in values if value in text] for text in slot.texts], replacing)
    return replacing


def test_a_string() -> None:
    body: dict[str, Any] = {"content": "Call 4711 or 0815, please.", "other": "4711"}
    slot = TextField(body, "content", body["content"])
    apply(slot, "4711", "0815")
    assert body == {"content": "Call [CODE_1] or [CODE_2], please.", "other": "4711"}
    assert list(slot.protected()) == [body["content"]]


def test_a_string_without_findings_is_not_touched() -> None:
    body = {"content": "nothing"}
    slot = TextField(body, "content", "nothing")
    apply(slot)
    assert list(slot.protected()) == ["nothing"]
    # A slot that stands for a text without a place is never written to.
    TextField(None, None, "x").apply([[]], Replacing())


@pytest.mark.parametrize("name", ["Anna_Schmidt-2", "Anna Schmidt", "Schmidt"])
def test_a_name_is_hidden_whole_and_what_takes_its_place_is_a_name(name: str) -> None:
    placeholders = Placeholders(b"k" * 32)
    body = {"name": name}
    slot = NameField(body, "name", name, "name: ")
    slot.apply([[span(slot.texts[0], "Schmidt")]], lambda span, value, raw=None: placeholders.mint(span.type, value))
    assert "Schmidt" not in body["name"]
    assert list(slot.protected()) == [body["name"]]
    assert (re.fullmatch("[a-zA-Z0-9_-]{1,64}", body["name"]) is None) is (" " in name)
    restored = placeholders.restore(f"{body['name']} asks", rules=RestoreScope("source"))
    assert restored.text == f"{name} asks"


def test_a_name_that_cannot_be_undone_stays_a_name() -> None:
    body = {"name": "Anna_Schmidt"}
    NameField(body, "name", "Anna_Schmidt").apply([[span("Anna_Schmidt", "Anna")]], lambda *_: "[PERSON removed]")
    assert body == {"name": "PERSON_removed"}


def test_a_key_keeps_its_place() -> None:
    body = {"a": 1, "file 4711": 2, "z": 3}
    slot = KeyField(body, "file 4711")
    apply(slot, "4711")
    assert list(body.items()) == [("a", 1), ("file [CODE_1]", 2), ("z", 3)]
    assert list(slot.protected()) == ["file [CODE_1]"]


def test_a_number_becomes_a_string_as_a_whole_under_its_surest_finding() -> None:
    body: dict[str, Any] = {"card": 4111111111111111}
    slot = NumberField(body, "card", body["card"])
    (text,) = slot.texts
    replacing = Replacing()
    slot.apply([[span(text, "4111111", 0.4), span(text, "11", 0.9)]], replacing)
    assert body == {"card": "[CODE_1]"}
    assert replacing.given[0][0] == "4111111111111111"
    assert replacing.given[0][1] not in {None, "4111111111111111"}, "it must come back as a number, not as a string"


def test_a_number_with_an_exponent_is_searched_without_it_and_comes_back_with_it() -> None:
    body: dict[str, Any] = {"card": 4.111111111111111e18, "arguments": '{"card": 4.111111111111111e+15}'}
    number, document = NumberField(body, "card", body["card"]), JsonField(body, "arguments", body["arguments"])
    assert number.texts == ("4111111111111111000",)
    apply(number, "4111111111111111000")
    replacing = apply(document, "4111111111111111")
    assert body == {"card": "[CODE_1]", "arguments": '{"card": "[CODE_1]"}'}
    assert replacing.given[0][0] == "4.111111111111111e+15", "the spelling of the number must be remembered"


NUMBERS = ["n: 1.50", "tel: 4930901820"]


def test_a_document_changes_only_where_something_was_found() -> None:
    document = '{ "to" : "anna",\n\t"n":1.50, "who": "J\\u006fe", "tel": 4930901820, "k4711": ["anna"] }'
    body: dict[str, Any] = {"arguments": document}
    slot = JsonField(body, "arguments", document)
    assert list(slot.texts) == ["to", "to: anna", "n", "who", "who: Joe", "tel", "k4711", "k4711: anna", *NUMBERS]
    replacing = apply(slot, "Joe", "4930901820", "4711")
    assert body["arguments"] == (
        '{ "to" : "anna",\n\t"n":1.50, "who": "[CODE_1]", "tel": "[CODE_3]", "k[CODE_2]": ["anna"] }'
    )
    assert ("Joe", "J\\u006fe") in replacing.given, "the spelling of the literal must be remembered"
    assert ("4711", None) in replacing.given
    assert "[CODE_1]" in slot.protected()


@pytest.mark.parametrize(("document", "searched"), CASES["a_value_is_searched_with_its_name"])
def test_a_value_is_searched_with_its_name(document: str, searched: list[str]) -> None:
    assert sorted(JsonField({}, "arguments", document).texts) == sorted(searched)


def test_findings_in_a_name_do_not_move_those_in_its_value() -> None:
    body: dict[str, Any] = {"x": "4711 and 4711", "y": 4711, "z": '{"k4711": "so 4711", "k0815": 8154711}'}
    lead = "key 4711: "
    apply(TextField(body, "x", "4711 and 4711", lead), "4711")
    assert body["x"] == "4711 and 4711"
    slot = TextField(body, "x", "4711 and 4711", lead)
    # From within the name into the value.
    slot.apply([[Span(4, len(lead) + 4, "CODE", Action.PLACEHOLDER, 0.9, "test")]], Replacing())
    assert body["x"] == "[CODE_1] and 4711"
    number = NumberField(body, "y", 4711, lead)
    apply(number, "4711")
    assert body["y"] == 4711
    number.apply([[Span(len(lead), len(lead) + 4, "CODE", Action.PLACEHOLDER, 0.9, "test")]], Replacing())
    assert body["y"] == "[CODE_1]"
    apply(JsonField(body, "z", body["z"]), "so 4711", "0815")
    assert body["z"] == '{"k4711": "[CODE_1]", "k[CODE_2]": 8154711}'


def test_a_number_that_must_stay_one_is_refused_where_it_is_private() -> None:
    body = {"seed": 4111111111111111}
    slot = SettingField(body, "seed", body["seed"])
    with pytest.raises(BadRequest) as refusal:
        apply(slot, "4111")
    assert refusal.value.param == "seed"
    assert "4111" not in refusal.value.message


def test_a_document_that_is_no_json_is_searched_for_its_strings_all_the_same() -> None:
    body: dict[str, Any] = {"arguments": '{"to": "anna", "more": "an'}
    slot = JsonField(body, "arguments", body["arguments"])
    apply(slot, "anna")
    assert body["arguments"].startswith('{"to": "[CODE_1]", ')


@given(st.dictionaries(st.text('abc"\\é', min_size=1), st.text() | st.integers() | st.booleans(), max_size=6))
def test_any_document_is_read_as_json_reads_it(value: dict[str, Any]) -> None:
    document = json.dumps(value)
    body = {"arguments": document}
    slot = JsonField(body, "arguments", document)
    strings = [text for text in value.values() if isinstance(text, str)]
    assert sorted(slot.protected()) == sorted([*value, *strings])
    slot.apply([[] for _ in slot.texts], Replacing())
    assert body["arguments"] == document


def test_splicing_at_the_edges_and_next_to_each_other() -> None:
    spans = [span("abcd", "ab"), span("abcd", "cd")]
    assert splice("abcd", spans, lambda each: f"<{each.start}>") == "<0><2>"
    assert splice("abcd", [], lambda each: "x") == "abcd"
