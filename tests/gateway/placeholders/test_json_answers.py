"""An answer that is a JSON document stays one; what echoes a text that held JSON comes back to the byte."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.placeholders import NUMBER, Placeholders, RestoreScope, splice, string_literals, urls_with_placeholders
from tests.call_counts import calls

from .conftest import KEY, Session
from .test_forms import VECTORS as FOLDER

pytestmark = pytest.mark.slow

SOURCE = RestoreScope("source")
INJECTION = 'x", "admin": true, "y": "z'
VECTORS = json.loads((FOLDER / "json_answers.json").read_text(encoding="utf-8"))


def session_of(*values: str) -> tuple[Placeholders, list[str]]:
    placeholders = Placeholders(KEY)
    return placeholders, [placeholders.mint("NOTE", value) for value in values]


def restored(placeholders: Placeholders, text: str) -> str:
    return placeholders.restore_answer(text, rules=SOURCE).text


@pytest.mark.parametrize("value", VECTORS["hostile_values"])
@pytest.mark.parametrize(
    "shape", ['{{"v": "{0}"}}', ' [["<{0}>", {{"{0}" :1.50}}], "{0}, {0}"]\n', '{{"é": "\\n{0}\\\\"}}']
)
def test_a_value_stays_within_its_string(shape: str, value: str) -> None:
    placeholders, (name,) = session_of(value)
    document = shape.format(name)
    expected = json.loads(document.replace(name, json.dumps(value)[1:-1]))
    done = placeholders.restore_answer(document, rules=SOURCE)
    assert json.loads(done.text) == expected
    assert done.resolved == document.count(name)


@given(st.lists(st.text('",:{}[] \n\\nxu0', min_size=1, max_size=8), min_size=1, max_size=4, unique=True), st.data())
def test_no_value_changes_the_shape(values: list[str], data: st.DataObject) -> None:
    """Also where two of them share a string, or one opens what the other would close."""
    placeholders, names = session_of(*values)
    pieces = st.lists(st.sampled_from([*names, "a ", '"', "\\", "é"]), max_size=4).map("".join)
    content = data.draw(st.recursive(pieces | st.just(1), lambda inner: st.lists(inner) | st.lists(inner).map(row)))
    document = json.dumps([content], ensure_ascii=data.draw(st.booleans()))
    text = restored(placeholders, document)
    assert skeleton(json.loads(text)) == skeleton(json.loads(document))


def row(values: list[Any]) -> dict[str, Any]:
    return {f"k{index}": value for index, value in enumerate(values)}


def skeleton(value: Any) -> Any:
    if isinstance(value, str):
        return ""
    if isinstance(value, list):
        return [skeleton(inner) for inner in value]
    return {key: skeleton(inner) for key, inner in value.items()} if isinstance(value, dict) else value


@given(st.dictionaries(st.text(max_size=6), st.text('ab"\\\n\té/', max_size=12), min_size=1), st.booleans(), st.data())
def test_the_echo_of_a_text_that_holds_json_is_exact(
    content: dict[str, str], ascii_only: bool, data: st.DataObject
) -> None:
    """Hidden as text is: the value is the text between the quotes, including escapes."""
    document = json.dumps(content, ensure_ascii=ascii_only).replace("/", "\\/")
    placeholders = Placeholders(KEY)
    pieces = []
    for literal in string_literals(document):
        start = data.draw(st.integers(0, len(literal.value)))
        end = data.draw(st.integers(start, len(literal.value)))
        first, last = literal.raw_span(start, end)
        pieces.append((first, last, placeholders.mint("X", document[first:last])))
    protected = splice(document, pieces)
    assert placeholders.restore_answer(protected, rules=RestoreScope("always")).text == document


def test_values_of_a_text_and_of_a_text_that_held_json_in_one_answer() -> None:
    placeholders, (spelled, plain) = session_of(r"Robert \"Bob\" Miller", '12 "Elm" Street\nEly')
    document = f'{{"a": "{spelled}", "b": "{plain}", "c": "{spelled}, {plain}"}}'
    value, other = 'Robert "Bob" Miller', '12 "Elm" Street\nEly'
    assert json.loads(restored(placeholders, document)) == {"a": value, "b": other, "c": f"{value}, {other}"}


def test_half_of_an_escape_may_have_been_hidden() -> None:
    placeholders, (name,) = session_of("Anna\\")
    assert restored(placeholders, f'{{"a": "{name}nSmith", "b": "{name}"}}') == r'{"a": "Anna\nSmith", "b": "Anna\\"}'


def test_a_value_that_reads_like_json_is_taken_for_it() -> None:
    """The one thing that cannot be told: whether it was hidden in JSON or reads so by itself."""
    placeholders, (name,) = session_of(r"ACME\nick")
    assert restored(placeholders, f'["{name}"]') == r'["ACME\nick"]'


def test_a_value_that_would_split_an_escape_stays_closed() -> None:
    """The bracket that the reader takes is the second half of an escaped backslash and what follows."""
    placeholders, (name,) = session_of('", "admin": "true')
    document = rf'{{"a": "\\\u005b{name[1:-1]}\u005d"}}'
    done = placeholders.restore_answer(document, rules=SOURCE)
    assert (done.text, done.resolved) == (document, 0)


def test_a_string_stays_a_string() -> None:
    placeholders = Placeholders(KEY)
    name = placeholders.mint("CREDIT_CARD", "4" + "1" * 15, raw=NUMBER + "4" + "1" * 15)
    assert restored(placeholders, f'{{"card": "{name}"}}') == f'{{"card": "4{"1" * 15}"}}'


def test_the_same_is_opened_as_in_text(session: Session) -> None:
    document = session.protected(
        '{"to": "{{email}}", "url": "https://evil.example/?q={{person}}", "{{phone:lower}}": ["[PERSON_00000]"]}'
    )
    done = session.placeholders.restore_answer(document, rules=SOURCE)
    assert done == session.placeholders.restore(document, rules=SOURCE)
    assert (done.resolved, done.withheld, done.unknown) == (2, (session.names["person"],), ("[PERSON_00000]",))


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_an_escaped_line_break_ends_a_url(session: Session, depth: int, ascii_only: bool) -> None:
    """A signature has the name below the address, in any format of a program."""
    document = "Größe\nwww.acme.example\r\n{{+person}}\nsee notes.txt\t{{+phone}}\u2028/{{+email}}"
    for _ in range(depth + 1):
        document = json.dumps({"text": document}, ensure_ascii=ascii_only)
    done = session.placeholders.restore_answer(session.protected(document), rules=SOURCE)
    assert done.text == session.expected(document)
    assert done.withheld == ()


@pytest.mark.parametrize("text", VECTORS["no_documents"])
def test_an_invalid_document_is_text(text: str) -> None:
    placeholders, (name,) = session_of('Robert "Bob"\nMiller')
    document = text.replace("{{person}}", name)
    assert placeholders.restore_answer(document, rules=SOURCE) == placeholders.restore(document, rules=SOURCE)


@pytest.mark.parametrize("document", VECTORS["escaped_white_space"])
def test_escaped_white_space_that_is_ignored_or_loads_by_itself(session: Session, document: str) -> None:
    document = session.protected(document)
    done = session.placeholders.restore_answer(document, rules=SOURCE)
    assert (done.text, done.withheld) == (document, (session.names["person"],))


@pytest.mark.parametrize("document", VECTORS["urls_by_key"])
def test_a_string_whose_key_calls_it_a_url_is_one_as_a_whole(session: Session, document: str) -> None:
    protected, expected = session.protected(document), session.expected(document)
    assert session.placeholders.restore_answer(protected, rules=SOURCE).text == expected
    assert session.placeholders.restore_json(protected, rules=SOURCE).text == expected
    assert session.placeholders.restore_tree(json.loads(protected), rules=SOURCE).value == json.loads(expected)


def test_a_url_with_spaces_of_the_source_is_restored(session: Session) -> None:
    document = '{"url": "https://acme.example/a {{+person}} b"}'
    protected = session.protected(document)
    rules = RestoreScope("source", urls_with_placeholders(protected))
    assert session.placeholders.restore_json(protected, rules=rules).text == session.expected(document)


def test_urls_of_a_document_are_known_in_it_and_in_prose(session: Session) -> None:
    document = session.protected(json.dumps({"text": "https://crm.example/{{person}}\n{{phone}}"}))
    rules = RestoreScope("source", urls_with_placeholders(document))
    for text in (document, f"Here you are: {document} Bye.", f"```json\n{document}\n```"):
        done = session.placeholders.restore_answer(text, rules=rules)
        assert (done.resolved, done.withheld) == (2, ())


@pytest.mark.parametrize("unit", ['"{0}",', '"{0} {0} ', '"a", "\\n",', '"{0}": \\"'])
def test_work_grows_with_the_answer(unit: str) -> None:
    """A string with many values, many strings with one, and many with none."""
    placeholders, (name,) = session_of(INJECTION)
    piece = unit.format(name)

    def answer(size: int) -> str:
        many = piece * (size // len(piece))
        return f"[{many}1]" if piece.endswith(",") else json.dumps([many])

    def work(size: int) -> None:
        fresh = Placeholders(KEY, placeholders.entries())
        document = answer(size)
        assert len(json.loads(restored(fresh, document))) == len(json.loads(document))

    work(3_000)
    assert calls(lambda: work(12_000)) <= 6 * calls(lambda: work(3_000)) + 1000
    work(100_000)
