"""Source code is distinguished from prose by its syntax; comments and strings are prose."""

import json
from pathlib import Path

import pytest

from benchmarks.clean_text import is_within
from gateway.detection.source_code import SourceCode, Stretch
from tests.tables import table

CASES = table(__file__)

ROOT = Path(__file__).resolve().parents[3]
CODE = CASES["code"]


def code_stretches(text: str) -> list[Stretch]:
    """All stretches, which are the same as those that are asked for one by one."""
    stretches, code = list(SourceCode(text).within(0, len(text))) if text else [], SourceCode(text)
    assert [code.has(at, at + 1) for at in range(len(text))] == [
        is_within(stretches, at, at + 1) for at in range(len(text))
    ]
    return stretches


@pytest.mark.parametrize("kind", CODE)
def test_identifiers_are_code_and_comments_and_strings_are_not(kind: str) -> None:
    text = CODE[kind].format(c="Comment", s="String", i="Name")
    stretches = code_stretches(text)
    assert is_within(stretches, text.index("Name"), text.index("Name") + 4)
    for word in ("Comment", "String", *(["before", "after"] if kind == "fenced" else [])):
        assert not is_within(stretches, text.index(word), text.index(word) + len(word))


@pytest.mark.parametrize("text", CASES["prose_is_no_code"])
def test_prose_is_no_code(text: str) -> None:
    assert not code_stretches(text)


def test_this_project_is_code_and_its_licence_is_not() -> None:
    source = (ROOT / "gateway/protection/protector.py").read_text()
    assert sum(end - start for start, end in code_stretches(source)) > len(source) / 2
    assert not code_stretches((ROOT / "LICENSE").read_text())


def test_stretches_are_in_order_and_disjoint() -> None:
    text = "".join(
        CODE[kind].format(c="c", s="s", i="i") + "Some plain words follow here, as always.\n" for kind in CODE
    )
    stretches = code_stretches(text)
    edges = [edge for stretch in stretches for edge in stretch]
    assert edges == sorted(edges)
    assert all(start < end for start, end in stretches)


@pytest.mark.parametrize("unit", ["x = f(", "'", '"', "`", "/*", "# ", "<!--", "a.b.", "```\n", "\n", "0\t", "{};"])
def test_hostile_texts_cost_no_more_than_their_length(unit: str) -> None:
    """Counted in stretches found, since a machine's speed says nothing."""
    assert len(code_stretches(unit * 2000)) <= 2000 * len(unit)


def test_a_span_is_within_code_if_they_overlap() -> None:
    assert is_within([(2, 5), (8, 9)], 4, 6)
    assert is_within([(2, 5), (8, 9)], 0, 20)
    assert not is_within([(2, 5), (8, 9)], 5, 8)
    assert not is_within([], 0, 1)


def test_a_document_in_json_is_no_code() -> None:
    assert not code_stretches(json.dumps({"name": "Anna"}))
