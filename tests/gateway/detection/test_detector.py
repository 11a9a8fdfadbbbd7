"""The whole detector: exact spans in any surroundings, the same answer on every thread, no work where nothing is."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.detection import Detector, EntityType, resolve_overlaps
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import FunctionRecognizer, Match
from tests.tables import table

CASES = table(__file__)

VALUES = CASES["values"]
DRESSED = CASES["dressed"]
SURROUNDINGS = st.text(st.characters(exclude_categories=()), max_size=120)


@pytest.mark.slow
@pytest.mark.parametrize("type_name", VALUES)
@given(before=SURROUNDINGS, after=SURROUNDINGS)
def test_a_planted_value_is_found_at_its_exact_position(
    detector: Detector, type_name: str, before: str, after: str
) -> None:
    value = VALUES[type_name]
    text = f"{before}\n{value}\n{after}"
    start = len(before) + 1
    spans = {(one.start, one.end) for one in detector.detect(text) if one.type == type_name}
    assert (start, start + len(value)) in spans


@pytest.mark.slow
@pytest.mark.parametrize("dress", DRESSED)
@given(before=SURROUNDINGS, after=SURROUNDINGS)
def test_a_disguised_value_is_found_in_the_source(detector: Detector, dress: str, before: str, after: str) -> None:
    text = f"{before}\n{DRESSED[dress]}\n{after}"
    start = len(before) + 1
    resolved = resolve_overlaps(detector.detect(text))
    assert any(one.start <= start and start + len(DRESSED[dress]) <= one.end for one in resolved)


@given(SURROUNDINGS)
def test_spans_lie_in_the_text_sorted_and_of_declared_types(detector: Detector, text: str) -> None:
    found = detector.detect(text)
    assert list(found) == sorted(found, key=lambda one: (one.start, -one.end, one.type))
    for one in found:
        assert 0 <= one.start < one.end <= len(text)
        assert 0.0 < one.score <= 1.0
        assert one.type in detector.types


@pytest.mark.slow
def test_every_thread_gets_the_same_answer(detector: Detector) -> None:
    texts = [
        f"{number}: Dear Jane, write to jane{number}@acme.org, call +49 30 {number:07d}9, DOB 04/12/1985 {'é' * number}"
        for number in range(200)
    ]
    alone = [detector.detect(text) for text in texts]
    assert all(len(found) >= 3 for found in alone)
    with ThreadPoolExecutor(8) as pool:
        for together in pool.map(lambda _: [detector.detect(text) for text in texts], range(8)):
            assert together == alone


class Counted:
    """A recognizer that counts how often it was run."""

    def __init__(self, name: str, gate: str) -> None:
        self.runs = 0
        kind = EntityType("COUNTED", "custom", "Counts.")

        def find(view: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
            self.runs += 1
            yield from ()

        self.recognizer = FunctionRecognizer(name, (kind,), (gate,), find)


def test_only_recognizers_whose_prefilter_matches_run_and_each_once() -> None:
    digits, names = Counted("digits", r"\d{6}"), Counted("names", "(?i)dear ")
    detector = Detector([digits.recognizer, names.recognizer])
    detector.detect("Nothing here to see. " * 1000)
    assert (digits.runs, names.runs) == (0, 0)
    detector.detect("Dear Jane. " * 5000)
    assert (digits.runs, names.runs) == (0, 1)
    detector.detect("123456 " * 20000)
    assert (digits.runs, names.runs) == (1, 1)


HOSTILE = ("a@", "1", "4 1 1 1 ", "abcDEF123+/", "-----BEGIN ", "password=", "é\u200b", "http://", "::")


@pytest.mark.slow
@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_repetition_ends_and_finds_no_more_than_it_should(detector: Detector, unit: str) -> None:
    """Each of these makes a backtracking engine, or a search that starts over, hang for hours."""
    assert len(detector.detect(unit * (200_000 // len(unit)))) <= 1


def test_text_without_anything_private_yields_nothing(detector: Detector) -> None:
    assert detector.detect("") == ()
    assert detector.detect("The quick brown fox jumps over the lazy dog, twice, and rests.") == ()


def test_half_a_surrogate_pair_is_a_character_like_any_other(detector: Detector) -> None:
    found = detector.detect("\ud83d jane@acme.org \ude00")[0]
    assert (found.start, found.end) == (2, 15)
