"""The scan that wakes recognizers: right about what occurs, and never silent about its own failure."""

import pytest
import re2

from gateway.detection import DefinitionError, Detector
from gateway.detection.scan import GateScan, SplitScan
from gateway.errors import Unavailable


def test_names_the_expressions_that_occur() -> None:
    scan = GateScan([r"\bone\b", r"(?i)TWO", r"\p{Greek}+"])
    assert sorted(scan.hits(b"one and two")) == [0, 1]
    assert scan.hits("only λόγος".encode()) == [2]
    assert scan.hits(b"") == []


def test_a_set_over_its_memory_is_refused_at_start() -> None:
    with pytest.raises(DefinitionError, match="compiled"):
        GateScan([rf"key{number}[a-z]{{3,40}}\d{{3,20}}" for number in range(50)], memory=1 << 15)


def test_a_search_that_ran_out_of_memory_is_an_error_and_not_an_empty_answer(
    monkeypatch: pytest.MonkeyPatch, detector: Detector
) -> None:
    """RE2 reports such a search as one that found nothing."""
    monkeypatch.setattr(re2.Set, "Match", lambda self, text: None)
    with pytest.raises(Unavailable) as refusal:
        detector.detect("Write to jane@acme.org")
    assert refusal.value.code == "detection_failed"
    assert "jane" not in refusal.value.message


def test_several_passes_see_what_one_sees() -> None:
    gates = [("a", "x+y"), ("b", "abc"), ("a", r"\pL\d"), ("c", "k.*z"), ("d", "q{2,}"), ("e", "r*s"), ("f", "t?u+")]
    one, several = GateScan([gate for _, gate in gates]), SplitScan(gates)
    for text in (b"", b"xxy", b"abc k z", b"e1", b"qq s u", b"nothing?", b"abcxyk1zqqrsuu"):
        assert sorted(several.hits(text)) == sorted(one.hits(text))
    assert SplitScan([]).hits(b"abc") == []
