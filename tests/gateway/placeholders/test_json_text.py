"""JSON inside strings: literals with exact places, and restoring that leaves every other byte alone."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.placeholders import (
    NUMBER,
    Placeholders,
    RestoreScope,
    escape_json,
    number_literals,
    splice,
    string_literals,
)
from tests.tables import table

from .conftest import KEY, Session

CASES = table(__file__)

SOURCE = RestoreScope("source")
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
)


def strings_of(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for inner in value for text in strings_of(inner)]
    if isinstance(value, dict):
        return [text for key, inner in value.items() for text in (key, *strings_of(inner))]
    return []


@pytest.mark.slow
@given(values, st.booleans(), st.sampled_from([None, 2]))
def test_the_literals_of_a_document_are_its_strings(value: Any, ascii_only: bool, indent: int | None) -> None:
    document = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    literals = string_literals(document)
    assert [literal.value for literal in literals] == strings_of(value)
    for literal in literals:
        assert json.loads(document[literal.start : literal.end]) == literal.value


@given(st.text(max_size=30), st.booleans(), st.data())
def test_any_part_of_a_string_is_found_in_its_spelling(text: str, ascii_only: bool, data: st.DataObject) -> None:
    document = f"[1, {json.dumps(text, ensure_ascii=ascii_only)}]"
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    (literal,) = string_literals(document)
    first, last = literal.raw_span(start, end)
    assert json.loads(f'"{document[first:last]}"') == text[start:end]
    whole = literal.raw_span(0, len(text))
    assert whole == (literal.start + 1, literal.end - 1)


@pytest.mark.parametrize(("document", "want"), CASES["broken_documents_are_read_as_far_as_they_go"])
def test_broken_documents_are_read_as_far_as_they_go(document: str, want: list[str]) -> None:
    assert [literal.value for literal in string_literals(document)] == want


def test_numbers_of_seven_digits_and_more() -> None:
    document = (
        '{"a": 4111111111111111, "b": -1234567, "c": 123456, "d": "9999999", "e": [12345678.25, 1.5e3], '
        '"f": x1234567, "g": 1234567.}'
    )
    assert [number.value for number in number_literals(document)] == ["4111111111111111", "-1234567", "12345678.25"]
    for number in number_literals(document):
        assert document[number.start : number.end] == number.value
        assert number.raw_span(0, len(number.value)) == (number.start, number.end)


def test_a_literal_does_not_show_its_value() -> None:
    assert "anna" not in repr(string_literals('["anna@acme.test"]'))


@given(st.text())
def test_escaping_is_what_a_parser_undoes(text: str) -> None:
    assert json.loads(f'"{escape_json(text)}"') == text


def test_splice() -> None:
    assert splice("abcdef", [(0, 1, "X"), (2, 2, "-"), (4, 6, "")]) == "Xb-cd"
    assert splice("abc", []) == "abc"


def test_values_are_escaped_for_json() -> None:
    placeholders = Placeholders(KEY)
    name = placeholders.mint("NOTE", 'a "b"\\ \n é 😀 \u2028')
    document = f'{{ "x" : "<{name}>" ,"{name}":1.50}}'
    done = placeholders.restore_json(document, rules=SOURCE)
    assert done.resolved == 2
    assert json.loads(done.text) == {"x": '<a "b"\\ \n é 😀 \u2028>', 'a "b"\\ \n é 😀 \u2028': 1.5}
    assert done.text.startswith('{ "x" : "<a ')
    assert done.text.endswith(":1.50}")


def test_a_document_in_a_string_stays_one() -> None:
    placeholders = Placeholders(KEY)
    value = 'hunter2"x\\y\n'
    name = placeholders.mint("PASSWORD", value)
    inner = json.dumps({"pw": name, "deeper": json.dumps([f"<{name}>"])})
    document = json.dumps({"body": inner, "note": f"[{name}"})
    done = placeholders.restore_json(document, rules=SOURCE)
    assert done.resolved == 3
    restored = json.loads(done.text)
    assert json.loads(restored["body"])["pw"] == value
    assert json.loads(json.loads(restored["body"])["deeper"]) == [f"<{value}>"]
    assert restored["note"] == f"[{value}"
    assert placeholders.restore_tree(json.loads(document), rules=SOURCE).value == restored


def test_a_spelling_of_its_own_comes_back() -> None:
    placeholders = Placeholders(KEY)
    name = placeholders.mint("PERSON", "José", raw=r"Jos\u00e9")
    assert placeholders.restore_json(f'["{name}"]', rules=SOURCE).text == r'["Jos\u00e9"]'
    assert placeholders.restore(name, rules=SOURCE).text == "José"


def test_a_placeholder_alone_is_restored_as_a_number() -> None:
    placeholders = Placeholders(KEY)
    token = "4111" + "1111" * 3
    name = placeholders.mint("CREDIT_CARD", token, raw=NUMBER + token)
    document = f'{{"card": "{name}", "text": "card {name}", "lenient": "{name[1:-1].lower()}"}}'
    done = placeholders.restore_json(document, rules=SOURCE)
    assert done.text == f'{{"card": {token}, "text": "card {token}", "lenient": {token}}}'
    assert placeholders.restore_tree([name, f"card {name}"], rules=SOURCE).value == [int(token), f"card {token}"]
    fraction = placeholders.mint("AMOUNT", "1234567.5", raw=NUMBER + "1234567.5")
    assert placeholders.restore_tree(fraction, rules=SOURCE).value == 1234567.5


@pytest.mark.parametrize(
    ("document", "want"),
    [
        ('{"card": CARD}', '{"card": 4539578763621486}'),
        ('{"card": NUMBER, "to": "CARD"}', '{"card": 4711.50, "to": "4539578763621486"}'),
        ('{"cards": [CARD, NAME ,1]}', '{"cards": [4539578763621486, "Robert \\"Bob\\"" ,1]}'),
        ('{"pin": PIN}', '{"pin": "0471"}'),
        ('{"note": "a, CARD, b", "n": CARD}', '{"note": "a, 4539578763621486, b", "n": 4539578763621486}'),
        # Not the place of a value, or invalid all the same.
        ('{"card": see CARD}', '{"card": see CARD}'),
        ('{"card": CARD', '{"card": CARD'),
        ('{"card": CARD, }', '{"card": CARD, }'),
        ('{"card": [PERSON_7KQ2M]}', '{"card": [PERSON_7KQ2M]}'),
    ],
)
def test_a_value_without_quotes_is_a_number_or_a_string(document: str, want: str) -> None:
    placeholders = Placeholders(KEY)
    names = {
        "CARD": placeholders.mint("CREDIT_CARD", "4539578763621486"),
        "NUMBER": placeholders.mint("CUSTOMER_ID", "4711.5", raw=NUMBER + "4711.50"),
        "NAME": placeholders.mint("PERSON", 'Robert "Bob"'),
        "PIN": placeholders.mint("PASSWORD", "0471"),
    }
    for name, mark in names.items():
        document, want = document.replace(name, mark), want.replace(name, mark)
    done = placeholders.restore_json(document, rules=SOURCE)
    assert done.text == want
    assert done.resolved == sum(map(document.count, names.values())) - sum(map(want.count, names.values()))


def test_placeholders_spelled_with_json_escapes(session: Session) -> None:
    person = session.names["person"]
    escaped = person.replace("[", r"\u005b").replace("_", r"\u005f").replace("]", r"\u005D")
    assert session.placeholders.restore_json(f'["{escaped}"]', rules=SOURCE).text == '["Anna Example"]'


def test_only_strings_are_touched(session: Session) -> None:
    document = session.protected('{{email}} {"a": {{person}}, "b": "{{person}}"}')
    done = session.placeholders.restore_json(document, rules=SOURCE)
    assert done.text == session.expected('{{email}} {"a": {{person}}, "b": "{{+person}}"}')


def test_a_document_that_is_cut_off(session: Session) -> None:
    for document, want in (
        ('{"a": "{{person}}', '{"a": "Anna Example'),
        ('{"a": "{{person}}\\', '{"a": "Anna Example\\'),
    ):
        assert session.placeholders.restore_json(session.protected(document), rules=SOURCE).text == want


def test_each_string_is_judged_by_itself(session: Session) -> None:
    document = session.protected(
        '{"to": "{{email}}", "url": "https://evil.example/?q={{person}}", "x": "[PERSON_00000]"}'
    )
    done = session.placeholders.restore_json(document, rules=SOURCE)
    assert json.loads(done.text)["to"] == "anna@acme.test"
    assert done.withheld == (session.names["person"],)
    assert done.unknown == ("[PERSON_00000]",)
    assert "Anna" not in done.text


@pytest.mark.slow
@given(st.dictionaries(st.text(max_size=6), st.text(max_size=20), min_size=1), st.booleans(), st.data())
def test_the_echo_of_a_document_is_exact(content: dict[str, str], ascii_only: bool, data: st.DataObject) -> None:
    """Any part of any string is hidden in its spelling; every byte comes back."""
    document = json.dumps(content, ensure_ascii=ascii_only, indent=data.draw(st.sampled_from([None, 1])))
    placeholders = Placeholders(KEY)
    pieces = []
    for literal in string_literals(document):
        start = data.draw(st.integers(0, len(literal.value)))
        end = data.draw(st.integers(start, len(literal.value)))
        first, last = literal.raw_span(start, end)
        value, spelled = literal.value[start:end], document[first:last]
        raw = None if spelled == escape_json(value) else spelled
        pieces.append((first, last, placeholders.mint("X", value, raw=raw)))
    protected = splice(document, pieces)
    assert json.loads(protected) is not None
    assert placeholders.restore_json(protected, rules=RestoreScope("always")).text == document
