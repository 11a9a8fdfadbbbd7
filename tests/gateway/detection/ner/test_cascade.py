"""The student decides some texts alone; the transformer reads the others after it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.detection.ner.cascade import LOOSE, STRICT, answers_of_units, doubtful, second_readings
from gateway.detection.ner.engine import Window

NONE, PERSON, PLACE = 0, 1, 2


def readings(count: int, doubts: list[int], named: list[int] | None = None) -> list[Window]:
    flags = [np.isin(np.arange(count), places) for places in (doubts, named or [])]
    return second_readings(flags[0], flags[1])


@pytest.mark.parametrize(
    ("chances", "is_doubtful"),
    [
        ([0.999, 0.001, 0.0], False),
        ([1 - 2 * STRICT.some, 2 * STRICT.some, 0.0], True),
        ([1 - 2 * LOOSE.some, 0.0, 2 * LOOSE.some], True),
        ([0.5, 0.5, 0.0], True),
        ([0.01, 0.99, 0.0], False),
        ([0.2, STRICT.sure - 0.1, 0.0], True),
        ([0.03, 0.0, 0.97], False),
        ([0.25, 0.0, LOOSE.sure - 0.05], True),
        ([0.0, 0.5, 0.5], True),
    ],
)
def test_a_unit_is_doubtful_where_its_class_is_not_clear(chances: list[float], is_doubtful: bool) -> None:
    rows = np.array([chances], np.float32)
    assert doubtful(rows, rows.argmax(axis=1), [PLACE]).tolist() == [is_doubtful]


def test_nothing_is_read_again_without_a_doubt() -> None:
    assert readings(500, []) == []
    assert readings(0, []) == []


def test_a_doubt_is_read_with_its_neighbours_and_context() -> None:
    (one,) = readings(500, [250])
    assert (one.kept_first, one.kept_last) == (247, 254)
    assert one.first <= one.kept_first - 10
    assert one.last >= one.kept_last + 10


def test_doubts_next_to_each_other_are_read_together() -> None:
    assert len(readings(500, [250, 300])) == 1
    assert len(readings(500, [100, 400])) == 2


def test_reading_some_takes_no_longer_than_reading_everything() -> None:
    for step in range(1, 200):
        doubts = list(range(0, 1000, step))
        assert sum(one.last - one.first for one in readings(1000, doubts)) <= 1000


def test_a_second_reading_divides_no_entity() -> None:
    (one,) = readings(500, [250], named=[*range(240, 249), *range(252, 260)])
    assert (one.kept_first, one.kept_last) == (240, 260)


@pytest.mark.slow
@given(
    st.integers(1, 600).flatmap(
        lambda count: st.tuples(
            st.just(count), st.lists(st.integers(0, count - 1), max_size=60), st.lists(st.integers(0, count - 1))
        )
    )
)
def test_every_doubt_is_read_once(case: tuple[int, list[int], list[int]]) -> None:
    count, doubts, named = case
    read: list[int] = []
    for one in readings(count, doubts, named):
        assert 0 <= one.first <= one.kept_first < one.kept_last <= one.last <= count
        read += range(one.kept_first, one.kept_last)
    assert read == sorted(set(read))
    assert set(doubts) <= set(read)


def test_answers_for_units_come_from_their_pieces() -> None:
    # "O'Brien 42": units O ' Brien 42; pieces "o", "'", "bri", "##en 42" of labels O, B, I.
    chances = np.array([[0.2, 0.8, 0.0], [0.4, 0.0, 0.6], [0.0, 0.6, 0.4], [1.0, 0.0, 0.0]], np.float32)
    starts, ends = np.array([0, 1, 2, 8, 11]), np.array([1, 2, 7, 10, 12])
    known = np.array([True, False, False, True])
    answers, read = answers_of_units(starts, ends, [(0, 1), (1, 2), (2, 5), (5, 10)], chances, known)
    expected: list[list[float]] = [[0.2, 0.8, 0], [0.4, 0, 0.6], [0.5, 0.3, 0.2], [1, 0, 0], [0, 0, 0]]
    assert np.allclose(answers, expected, atol=1e-6)
    # The apostrophe is unknown, and no piece covers the last unit.
    assert read.tolist() == [True, False, True, True, False]
    assert not answers_of_units(starts, ends, [], chances[:0], known[:0])[1].any()
