"""Laws of detection and protection that hold for any text: what is planted is found and comes back, spans are
disjoint and end where characters end, and what is protected once has nothing left to protect.
"""

from itertools import accumulate, pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.detection import Detector, resolve_overlaps
from gateway.placeholders import Placeholders, RestoreScope, looks_like_placeholder, urls_with_placeholders
from gateway.policy.model import Policy
from gateway.protection.protector import Protector
from tests.gateway.detection.deobfuscation.test_deobfuscation import VALUES, protect

SENTENCES = [(row["type"], row["text"].replace("{}", "".join(row["value"])), "".join(row["value"])) for row in VALUES]
ANYTHING = st.text(st.characters(exclude_categories=()), max_size=60)
# Text that announces values, and text that may be taken for one.
CUES = (
    "passport driving licence: DOB card SSN Bearer password= my name is tel. account number born on A1234567"
    ' [US_SSN_AB2C3] token: IBAN login from key= @example.org, 2024-01-01, -> , . : " ( )'
).split()
CROWD = st.lists(st.sampled_from(CUES), max_size=12).map(" ".join)
CLUSTERS = (
    "a", "1", " ", "é", "e\u0301", "g\u0332", "\r\n", "\U0001f469\u200d\U0001f467", "\U0001f44d\U0001f3fd",
    "\u2764\ufe0f", "\U0001f1e9\U0001f1ea", "각", "\u1100\u1161\u11a8", "\u0e01\u0e33", "ж", "中", "\u0661",
    "\uff11", "x\u200d", "\u06001",
)  # fmt: skip


def restored(protected: str, placeholders: Placeholders) -> str:
    scope = RestoreScope("source", urls_with_placeholders(protected))
    return placeholders.restore(protected, rules=scope).text


planted = st.lists(st.tuples(ANYTHING, st.sampled_from(SENTENCES)), min_size=1, max_size=4)


@pytest.mark.slow
@given(planted, ANYTHING)
def test_planted_values_are_hidden_and_restored(
    protector: Protector, policy: Policy, parts: list[tuple[str, tuple[str, str, str]]], last: str
) -> None:
    text = ""
    places = []
    for before, (_, sentence, value) in parts:
        text += f"{before}\n\n"
        start = len(text) + sentence.index(value)
        places.append((start, start + len(value)))
        text += f"{sentence}\n\n"
    text += last
    protected, spans, placeholders = protect(protector, policy, text)
    hidden = {at for start, end in spans for at in range(start, end)}
    for start, end in places:
        assert hidden.issuperset(range(start, end))
    assert restored(protected, placeholders) == text


@pytest.mark.slow
@given(st.lists(st.sampled_from([*CLUSTERS, *(value for _, _, value in SENTENCES)]), max_size=12))
@example(["1979-03-03", "021000021"])  # a date whose day has ten digits
def test_spans_are_disjoint_and_end_where_characters_end(detector: Detector, parts: list[str]) -> None:
    text = "".join(parts)
    ends = {
        0,
        *accumulate(len(char) for part in parts for char in (part if part.isascii() and part != "\r\n" else [part])),
    }
    found = resolve_overlaps(detector.detect(text))
    for one in found:
        assert {one.start, one.end} <= ends
    assert all(left.end <= right.start for left, right in pairwise(found))


@pytest.mark.slow
@given(st.lists(st.tuples(ANYTHING | CROWD, st.sampled_from(SENTENCES)), max_size=4), ANYTHING | CROWD)
def test_protection_is_idempotent(
    protector: Protector, policy: Policy, parts: list[tuple[str, tuple[str, str, str]]], last: str
) -> None:
    text = "".join(f"{before} {sentence} " for before, (_, sentence, _) in parts) + last
    once, _, session = protect(protector, policy, text)
    twice, spans, _ = protect(protector, policy, once, session)
    assert twice == once
    assert spans == []


@given(st.lists(st.sampled_from([type_name for type_name, _, _ in SENTENCES]), min_size=1, max_size=6), st.binary())
def test_nothing_is_found_inside_a_placeholder(detector: Detector, types: list[str], value: bytes) -> None:
    placeholders = Placeholders(b"k" * 32)
    text = " ".join(placeholders.mint(one, f"{value!r}{at}") for at, one in enumerate(types))
    inside = [(one.start, one.end) for one in looks_like_placeholder(text)]
    assert len(inside) == len(types)
    for found in detector.detect(text):
        assert not any(found.start < end and start < found.end for start, end in inside)
