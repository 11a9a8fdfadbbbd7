"""The echo of a protected text is restored to the byte, with any text around its placeholders, also as a stream."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.placeholders import Placeholders, RestoreScope, StreamRestorer, urls_with_placeholders

from .conftest import KEY

pytestmark = pytest.mark.slow

PLACEHOLDERS = Placeholders(KEY)
NAMES = [
    PLACEHOLDERS.mint(*each)
    for each in (
        ("EMAIL_ADDRESS", "anna@acme.test"),
        ("PERSON", "Anna [x] PERSON_"),
        ("URL", "https://acme.test/x"),
        ("PERSON_NAME", "`Zoë` \\"),
        ("A", ""),
    )
]
VALUES = {entry.placeholder: entry.value for entry in PLACEHOLDERS.entries()}
GARBAGE = (
    *("[ ] ( ) < > ` `` « » { } _ \\ \\_ \\( ** . ... , : ; / // ? = & # - $ @ | ! ' \"".split()),
    *("&lt; &gt; &#91; &#93; &#9 &l %5B %5D %5 \\u005b \\u00 PERSON PERSON_ EMAIL_ ADDRESS URL_ A_ 7KQ2M x7 X".split()),
    *("é я ， ＰＥＲＳＯＮ ［ ］ ％ 【 】".split()),
    *("[PERSON_7KQ2M] [FOO_ABCDE] <PERSON_77777> PERSON_7KQ2M [EMAIL_ADDRESS_AAAAAA] [PERSON_".split()),
    *("https:// http: evil.example www. ]( ![x]( [a](/ [a]: ]: href= src=\" title=' mailto: tel: url( </a>".split()),
    *("  |\n|\n\n|\t|person |EMAIL ADDRESS |<a |<img src=|\u00a0|\u2011|\x00|\ud800| ".split("|")),
)
garbage = st.sampled_from(GARBAGE) | st.text(max_size=4)
echoes = st.lists(st.sampled_from(NAMES) | garbage, max_size=30)


def spelled(name: str) -> st.SearchStrategy[str]:
    core = name[1:-1]
    forms = (
        *(core, core.lower(), f"<{core}>", f"«{core}»", f"`{core}`", f"{{{core}}}", f"\\[{core}\\]", f"%5B{core}%5D"),
        *(core.replace("_", "\\_"), core.replace("_", " "), f"[ {core} ]", f"[\n{core} ]", f"\\u005b{core}\\u005d"),
        *(f"&lt;{core}&gt;", f"&#x5b;{core}&#x5d;", "".join(chr(ord(char) + 0xFEE0) for char in core)),
    )
    return st.sampled_from(forms)


answers = st.lists(st.sampled_from(NAMES) | st.sampled_from(NAMES).flatmap(spelled) | garbage, max_size=30)


@given(echoes)
@settings(max_examples=400)
def test_an_echo_is_exact(parts: Sequence[str]) -> None:
    text = "".join(parts)
    source = "".join(VALUES.get(part, part) for part in parts)
    for rules in (RestoreScope("always"), RestoreScope("source", urls_with_placeholders(text))):
        assert PLACEHOLDERS.restore(text, rules=rules).text == source


@given(answers, st.lists(st.integers(1, 20), min_size=1, max_size=30), st.integers(0, 2))
@settings(max_examples=300)
def test_a_stream_gives_what_the_whole_gives(parts: Sequence[str], sizes: Sequence[int], half: int) -> None:
    text = "".join(parts)
    sources = sorted(urls_with_placeholders(text))
    for rules in (
        RestoreScope("source", frozenset(sources[half::2])),
        RestoreScope("never"),
        RestoreScope("always"),
    ):
        whole = PLACEHOLDERS.restore(text, rules=rules)
        stream = StreamRestorer(PLACEHOLDERS, rules)
        out, at, turn = "", 0, 0
        while at < len(text):
            size = sizes[turn % len(sizes)]
            out += stream.feed(text[at : at + size])
            at, turn = at + size, turn + 1
        out += stream.finish()
        assert out == whole.text
        assert stream.resolved == whole.resolved
        assert set(stream.withheld) == set(whole.withheld)
        assert set(stream.unknown) == set(whole.unknown)


@given(answers)
@settings(max_examples=200)
def test_a_literal_that_is_hidden_itself_comes_back_as_it_was_typed(parts: Sequence[str]) -> None:
    """The user typed what is one of the session's placeholders: it is hidden like a value, and never opens."""
    text = "".join(parts)
    session = Placeholders(KEY, PLACEHOLDERS.entries())
    protected, position = "", 0
    for hit in session.find(text):
        protected += text[position : hit.start] + session.mint("PLACEHOLDER", text[hit.start : hit.end])
        position = hit.end
    protected += text[position:]
    rules = RestoreScope("source", urls_with_placeholders(protected))
    assert session.restore(protected, rules=rules).text == text


@given(
    st.lists(
        st.tuples(st.just(True), st.sampled_from(sorted(VALUES.values())))
        | st.tuples(st.just(False), answers.map("".join)),
        max_size=8,
    )
)
@settings(max_examples=300)
def test_a_source_of_values_and_literals_comes_back_to_the_byte(parts: Sequence[tuple[bool, str]]) -> None:
    """As protection does it: what is found as a value and what is found as a literal are hidden, together where they
    overlap; then nothing else of the protected text may open."""
    source, spans = "", []
    for is_value, part in parts:
        if is_value and part:
            spans.append((len(source), len(source) + len(part)))
        source += part
    session = Placeholders(KEY, PLACEHOLDERS.entries())
    spans += [(hit.start, hit.end) for hit in session.find(source)]
    protected, position = "", 0
    for start, end in united(spans):
        protected += source[position:start] + session.mint("HIDDEN", source[start:end])
        position = end
    protected += source[position:]
    for rules in (RestoreScope("always"), RestoreScope("source", urls_with_placeholders(protected))):
        assert session.restore(protected, rules=rules).text == source


def united(spans: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


@given(st.text(max_size=200))
def test_text_without_placeholders_stays(text: str) -> None:
    for rules in (RestoreScope("source"), RestoreScope("always")):
        assert PLACEHOLDERS.restore(text, rules=rules).text == text
        assert PLACEHOLDERS.restore_json(text, rules=rules).text == text
