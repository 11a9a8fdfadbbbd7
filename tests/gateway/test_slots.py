"""Slots: what is replaced is replaced exactly there, and all else stays to the byte."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway.models import Action
from gateway.slots import JsonSlot, KeySlot, NumberSlot, Slot, Span, TextSlot, splice


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


def apply(slot: Slot, *values: str) -> Replacing:
    replacing = Replacing()
    slot.apply([[span(text, value) for value in values if value in text] for text in slot.texts], replacing)
    return replacing


def test_a_string() -> None:
    body: dict[str, Any] = {"content": "Call 4711 or 0815, please.", "other": "4711"}
    slot = TextSlot(body, "content", body["content"])
    apply(slot, "4711", "0815")
    assert body == {"content": "Call [CODE_1] or [CODE_2], please.", "other": "4711"}
    assert list(slot.protected()) == [body["content"]]


def test_a_string_without_findings_is_not_touched() -> None:
    body = {"content": "nothing"}
    slot = TextSlot(body, "content", "nothing")
    apply(slot)
    assert list(slot.protected()) == ["nothing"]
    # A slot that stands for a text without a place is never written to.
    TextSlot(None, None, "x").apply([[]], Replacing())


def test_a_key_keeps_its_place() -> None:
    body = {"a": 1, "file 4711": 2, "z": 3}
    slot = KeySlot(body, "file 4711")
    apply(slot, "4711")
    assert list(body.items()) == [("a", 1), ("file [CODE_1]", 2), ("z", 3)]
    assert list(slot.protected()) == ["file [CODE_1]"]


def test_a_number_becomes_a_string_as_a_whole_under_its_surest_finding() -> None:
    body: dict[str, Any] = {"card": 4111111111111111}
    slot = NumberSlot(body, "card", body["card"])
    (text,) = slot.texts
    replacing = Replacing()
    slot.apply([[span(text, "4111111", 0.4), span(text, "11", 0.9)]], replacing)
    assert body == {"card": "[CODE_1]"}
    assert replacing.given[0][0] == "4111111111111111"
    assert replacing.given[0][1] not in {None, "4111111111111111"}, "it must come back as a number, not as a string"


def test_a_document_changes_only_where_something_was_found() -> None:
    document = '{ "to" : "anna",\n\t"n":1.50, "who": "J\\u006fe", "tel": 4930901820, "k4711": ["anna"] }'
    body: dict[str, Any] = {"arguments": document}
    slot = JsonSlot(body, "arguments", document)
    assert {"to", "anna", "Joe", "4930901820", "k4711"} <= set(slot.texts)
    replacing = apply(slot, "Joe", "4930901820", "4711")
    assert body["arguments"] == (
        '{ "to" : "anna",\n\t"n":1.50, "who": "[CODE_1]", "tel": "[CODE_3]", "k[CODE_2]": ["anna"] }'
    )
    assert ("Joe", "J\\u006fe") in replacing.given, "the spelling of the literal must be remembered"
    assert ("4711", None) in replacing.given
    assert "[CODE_1]" in slot.protected()


def test_a_document_that_is_no_json_is_searched_for_its_strings_all_the_same() -> None:
    body: dict[str, Any] = {"arguments": '{"to": "anna", "more": "an'}
    slot = JsonSlot(body, "arguments", body["arguments"])
    apply(slot, "anna")
    assert body["arguments"].startswith('{"to": "[CODE_1]", ')


@given(st.dictionaries(st.text('abc"\\é', min_size=1), st.text() | st.integers() | st.booleans(), max_size=6))
def test_any_document_is_read_as_json_reads_it(value: dict[str, Any]) -> None:
    document = json.dumps(value)
    body = {"arguments": document}
    slot = JsonSlot(body, "arguments", document)
    strings = [text for text in value.values() if isinstance(text, str)]
    assert sorted(slot.protected()) == sorted([*value, *strings])
    slot.apply([[] for _ in slot.texts], Replacing())
    assert body["arguments"] == document


def test_splicing_at_the_edges_and_next_to_each_other() -> None:
    spans = [span("abcd", "ab"), span("abcd", "cd")]
    assert splice("abcd", spans, lambda each: f"<{each.start}>") == "<0><2>"
    assert splice("abcd", [], lambda each: "x") == "abcd"
