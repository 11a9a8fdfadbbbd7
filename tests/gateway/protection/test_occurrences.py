"""Values that repeat themselves, in texts that do, too: found completely, in time that is linear in the text."""

import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.models import Action
from gateway.protection.occurrences import places, without_overlaps
from gateway.protection.value_index import ValueIndex
from gateway.text.fields import Span

UNITS = ["a", "ab", "a ", "a b ", "a.", "a . ", "a-b ", "1", "1 2 ", "漢"]
SIZE = 119


def index_of(*values: str) -> ValueIndex:
    index = ValueIndex()
    for value in values:
        index.add(value, Span(0, len(value), "PROJECT", Action.PLACEHOLDER, 1.0, "correction"))
    return index


def work_of(call: Callable[[], object]) -> int:
    """Counts the calls of functions, also of those in C."""
    counted = [0]

    def count(_: object, event: str, __: object) -> None:
        counted[0] += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(None)
    return counted[0]


@pytest.mark.parametrize("unit", UNITS)
def test_a_value_that_repeats_itself_costs_little_more_than_one_that_does_not(unit: str) -> None:
    value = (unit * SIZE)[:SIZE].strip()
    text = unit * (4000 // len(unit)) + value
    index, found = index_of(value), list[tuple[int, int, str]]()
    work = work_of(lambda: found.extend(index.find(text)))
    assert work < 40 * len(text), "for each piece of each occurrence, it was 200"
    assert len(found) < 6 * len(text) / len(value)
    assert (found[0][0], max(end for _, end, _ in found)) == (0, len(text))


@given(st.data())
def test_every_letter_of_a_value_is_covered(data: st.DataObject) -> None:
    unit = st.sampled_from(["a", "ab", "aab", "abcab"])
    value = (data.draw(unit) * 40)[: data.draw(st.integers(16, 40))] + data.draw(st.sampled_from(["", "b", "c"]))
    parts = st.one_of(st.just(value), unit, unit.map(lambda each: each * 9), st.sampled_from([" ", ".", "x"]))
    text = "".join(data.draw(st.lists(parts, max_size=9)))
    starts = (at for at in range(len(text)) if text.startswith(value, at))
    covered = {place for at in starts for place in range(at, at + len(value))}
    assert {place for start, end, _ in index_of(value).find(text) for place in range(start, end)} == covered


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 30), st.sampled_from("vw"))))
def test_what_is_left_out_is_covered(found: list[tuple[int, int, str]]) -> None:
    every = [(start, start + size, value) for start, size, value in found]
    left = [*without_overlaps(every)]
    assert {*left} <= {*every}

    def covered(some: list[tuple[int, int, str]]) -> set[tuple[int, str]]:
        return {(place, value) for start, end, value in some for place in range(start, end)}

    assert covered(left) == covered(every)


def test_overlapping_words_are_skipped_only_if_they_are_whole_values() -> None:
    assert [at for _, at in places("aaaaaa", ["aaa"], {}, lambda _: True)] == [0, 2, 3]
    assert [at for _, at in places("aaaaaa", ["aaa"], {}, lambda _: False)] == [0, 1, 2, 3]


def test_a_shorter_value_within_a_longer_one_that_repeats_itself_is_found() -> None:
    index = index_of("a b a b a b a x a b a b", "a x")
    assert {value for *_, value in index.find("a b a b a b a x a b a b a b a x a b a b")} == {*index.spans} - {""}
