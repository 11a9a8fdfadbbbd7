"""Our thin face of RE2 does what the library's own does."""

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from gateway.detection.re2_expression import Expression

REGEXES = ["a", "a*", "(a)|(b)", "(a+)(b?)", r"\bab\b", "^a", "a$", "", "(?i)AB", "[^a]", "(a)(b)?(c)?"]
TEXTS = st.binary(max_size=20) | st.text("abc ", max_size=20).map(str.encode)


@pytest.mark.slow
@pytest.mark.parametrize("regex", REGEXES)
@given(data=TEXTS, at=st.integers(-3, 25), end=st.none() | st.integers(-3, 25))
def test_the_same_as_the_library(regex: str, data: bytes, at: int, end: int | None) -> None:
    theirs = re2.compile(regex)
    ours = Expression(theirs)
    assert ours.pattern == regex
    for name in ("search", "match", "fullmatch"):
        one, other = getattr(ours, name)(data, at, end), getattr(theirs, name)(data, at, end)
        assert (one is None) == (other is None)
        if one is not None:
            assert one.groups() == other.groups()
            assert (one.span(), one.start(), one.end(), one[0]) == (other.span(), other.start(), other.end(), other[0])
    assert [one.span() for one in ours.finditer(data, at, end)] == [
        one.span() for one in theirs.finditer(data, at, end)
    ]
