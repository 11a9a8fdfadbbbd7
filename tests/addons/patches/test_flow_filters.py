"""Filters that operators type: the same results as mitmproxy's own, within bounds."""

import asyncio
from collections.abc import Iterator

import pytest
from mitmproxy import flowfilter, http
from mitmproxy.test import tflow

from addons.patches import flow_filters
from addons.patches.flow_filters import LARGEST_PROGRAM, LONGEST_FILTER, BoundedSearch, bound_filters


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    own_parse, own_init = flowfilter.parse, flowfilter._Rex.__init__
    bound_filters()
    yield
    flowfilter.parse = own_parse
    flowfilter._Rex.__init__ = own_init  # type: ignore[method-assign]


def flow(body: bytes = b"", **fields: str) -> http.HTTPFlow:
    made = tflow.tflow(resp=True)
    made.request.content = body
    made.comment, made.marked = fields.get("comment", ""), fields.get("marked", "")
    return made


@pytest.mark.parametrize("where", ["~b", "~bq", "~bs", "~h", "~hq", "~u", "~d", "~comment", "~meta", "~t", ""])
async def test_every_pattern_is_searched_by_re2(where: str) -> None:
    found = flowfilter.parse(f'{where} "(a+)+$"')
    assert isinstance(found, flowfilter._Rex)
    assert isinstance(found.re, BoundedSearch)
    endless = b"a" * 4000 + b"!"
    shown = flow(endless, comment=endless.decode())
    assert shown.response is not None
    shown.response.content = endless
    shown.request.path = "/" + endless.decode()
    shown.request.headers["x-long"] = endless.decode()
    shown.metadata["m"] = endless.decode()
    found(shown)  # Python's `re` would take longer than the universe has existed.


@pytest.mark.parametrize("repeated", ["(", "!", "( ", "!("])
def test_nested_filters_are_refused_or_parsed_at_once(repeated: str) -> None:
    # mitmproxy's own parser takes 90 seconds for 18 of `!`.
    expression = repeated * 400 + "~q" + " )" * (400 if "(" in repeated else 0)
    with pytest.raises(ValueError, match="Invalid filter expression"):
        flowfilter.parse(expression)
    flowfilter.parse(repeated * 8 + "~q" + " )" * (8 if "(" in repeated else 0))


def test_a_long_filter_is_refused() -> None:
    with pytest.raises(ValueError, match=f"1 to {LONGEST_FILTER} characters"):
        flowfilter.parse("a" * (LONGEST_FILTER + 1))


@pytest.mark.parametrize("pattern", [r"(a)\\1", "(?=a)", "(?<!a)b", "(", "a{2000}", "(a{30}){40}"])
def test_a_pattern_that_re2_cannot_bound_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="Invalid filter expression"):
        flowfilter.parse(f'~b "{pattern}"')


@pytest.mark.parametrize(
    ("expression", "body", "matches"),
    [
        ("~b person_7kq2m", b"[PERSON_7KQ2M]", True),
        ("~b a.c", b"a\nc", True),
        ("~b b$", b"b\nc", False),
        ("~bq \xe4\xf6", "ÄÖ".encode(), True),
        ("~b \\xff", b"\xff", False),
        ("!~b a & ~q", b"b", False),
        ("~b b | ~b c", b"c", True),
        ("~comment ^second", b"", True),
        ("~marker no_entry", b"", True),
        ("~d example", b"", False),
        ("~m get", b"", True),
    ],
)
async def test_filters_find_what_they_say(expression: str, body: bytes, matches: bool) -> None:
    shown = flow(body, comment="first\nsecond", marked=":no_entry:")
    assert bool(flowfilter.match(expression, shown)) is matches


async def test_a_text_that_is_not_searched_to_its_end_counts_as_a_match() -> None:
    pattern, costly = BoundedSearch("never", 0), BoundedSearch("(a|b)*a(a|b){90}", 0)
    assert not pattern.search(b"x" * pattern.bytes)
    assert pattern.search(b"x" * (pattern.bytes + 1))
    assert flow_filters._WORK // LARGEST_PROGRAM <= costly.bytes < pattern.bytes, "a costly pattern is searched in less"


async def test_filters_leave_the_loop_to_the_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter(range(100))
    monkeypatch.setattr(flow_filters, "perf_counter", lambda: next(times))
    pattern = BoundedSearch("never", 0)
    assert not pattern.search(b"x")
    assert pattern.search(b"x"), "the time of this turn is used up"
    await asyncio.sleep(0)
    assert not pattern.search(b"x"), "the next turn has its own"
