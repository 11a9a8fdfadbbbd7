"""The scan that wakes recognizers: right about what occurs, and never silent about its own failure."""

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from gateway.detection import DefinitionError, Detector
from gateway.detection.prefilter import PatternSet, Prefilter, PrefilterPattern
from gateway.errors import Unavailable

# Figures, words in any case, exact signs; the last three need a line break.
EXPRESSIONS = r"\d{2,3} \pL\d (?i)abc (?i)K.*z x+y q{2,} r*s t\s+ \n\d (?i)\na a\r?\n".split()
ONE = PatternSet(EXPRESSIONS)
SEVERAL = Prefilter([PrefilterPattern(one, needs=b"\n" if r"\n" in one else b"") for one in EXPRESSIONS])


def test_names_the_expressions_that_occur() -> None:
    scan = PatternSet([r"\bone\b", r"(?i)TWO", r"\p{Greek}+"])
    assert sorted(scan.hits(b"one and two")) == [0, 1]
    assert scan.hits("only λόγος".encode()) == [2]
    assert scan.hits(b"") == []


def test_a_set_over_its_memory_is_refused_at_start() -> None:
    with pytest.raises(DefinitionError, match="cannot compile"):
        PatternSet([rf"key{number}[a-z]{{3,40}}\d{{3,20}}" for number in range(50)], memory=1 << 15)


def test_a_search_that_ran_out_of_memory_is_an_error_and_not_an_empty_answer(
    monkeypatch: pytest.MonkeyPatch, detector: Detector
) -> None:
    """RE2 reports such a search as one that found nothing."""
    monkeypatch.setattr(re2.Set, "Match", lambda self, text: None)
    with pytest.raises(Unavailable) as refusal:
        detector.detect("Write to jane@acme.org")
    assert refusal.value.code == "detection_failed"
    assert "jane" not in refusal.value.message


@given(st.text("xyabck z1q-st\n\\d(?i)", max_size=40) | st.text(max_size=20))
def test_several_passes_see_what_one_sees(text: str) -> None:
    assert SEVERAL.hits(text.encode()) == sorted(ONE.hits(text.encode()))


def test_passes_over_nothing() -> None:
    assert Prefilter([]).hits(b"abc") == []


def test_patterns_that_need_a_sign_are_searched_with_it() -> None:
    scan = Prefilter([PrefilterPattern(r"\d"), PrefilterPattern(r"a\s*b", needs=b"\n"), PrefilterPattern("(?i)X")])
    assert scan.hits(b"a\nb x 1") == [0, 1, 2]
    assert scan.hits(b"1 a b") == [0]
