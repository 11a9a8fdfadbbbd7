"""One-way actions: what they show, and that nothing passes through them unchanged."""

import hashlib
import hmac
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.models import Action
from gateway.placeholders import looks_like_placeholder
from gateway.policy.rules import Rule, RuleOptions
from gateway.protection.operators import MOST_SHOWN, apply_action
from tests.tables import table

CASES = table(__file__)

KEY = bytes(range(32))
ONE_WAY = (Action.MASK, Action.GENERALIZE, Action.HASH, Action.REDACT)
TYPES = ("EMAIL_ADDRESS", "CREDIT_CARD", "PERSON", "DATE_OF_BIRTH", "AGE", "IP_ADDRESS", "POSTAL_CODE", "API_KEY")


def apply(action: Action, type: str, value: str, **options: object) -> str:
    return apply_action(Rule(action, 0.5, RuleOptions(**options)), type, value, key=KEY)  # type: ignore[arg-type]


@pytest.mark.parametrize(("type_name", "value", "expected"), CASES["mask"])
def test_mask(type_name: str, value: str, expected: str) -> None:
    assert apply(Action.MASK, type_name, value) == expected


def test_mask_keeps_what_the_rule_says_but_never_more_than_its_bound() -> None:
    card = "4111 1111 1111 1234"
    assert apply(Action.MASK, "CREDIT_CARD", card, keep_last=2) == "**** **** **** **34"
    assert apply(Action.MASK, "CREDIT_CARD", card, keep_last=0) == "**** **** **** ****"
    assert apply(Action.MASK, "CREDIT_CARD", card, keep_last=99) == "**** **** **** 1234"
    assert apply(Action.MASK, "PERSON", "Ada Lovelace", keep_last=4) == "*** *****ace", "a third of eleven"
    assert apply(Action.MASK, "CREDIT_CARD", card, mask_with="•") == "•••• •••• •••• 1234"
    assert apply(Action.MASK, "EMAIL_ADDRESS", "jane@example.org", mask_with="#") == "j###@###.org"


@given(st.sampled_from(TYPES), st.text(max_size=40), st.integers(0, 9))
def test_a_mask_shows_a_third_at_most(type_name: str, value: str, keep: int) -> None:
    shown = [char for char in apply(Action.MASK, type_name, value, keep_last=keep) if char.isalnum()]
    if shown and "removed" not in "".join(shown) and type_name != "EMAIL_ADDRESS":
        assert len(shown) <= min(MOST_SHOWN, sum(char.isalnum() for char in value) // 3)


def test_redact_says_what_was_there() -> None:
    assert apply(Action.REDACT, "EMAIL_ADDRESS", "jane@example.org") == "[EMAIL_ADDRESS removed]"


def test_hash_is_a_keyed_fingerprint() -> None:
    expected = hmac.new(KEY, b"PERSON\0ada lovelace", hashlib.sha256).hexdigest()
    assert apply(Action.HASH, "PERSON", "Ada Lovelace") == f"PERSON:{expected[:12]}"
    assert apply(Action.HASH, "PERSON", "Ada Lovelace", hash_length=64) == f"PERSON:{expected}"
    other = apply_action(Rule(Action.HASH, 0.5), "PERSON", "Ada Lovelace", key=bytes(32))
    assert other != apply(Action.HASH, "PERSON", "Ada Lovelace")
    assert apply(Action.HASH, "CUSTOMER", "Ada Lovelace").split(":")[1] not in expected


@pytest.mark.parametrize(
    ("type_name", "one", "other", "same"), CASES["hashes_are_equal_for_the_same_value_in_another_disguise"]
)
def test_hashes_are_equal_for_the_same_value_in_another_disguise(
    type_name: str, one: str, other: str, same: bool
) -> None:
    assert (apply(Action.HASH, type_name, one) == apply(Action.HASH, type_name, other)) is same


@given(st.sampled_from(ONE_WAY), st.sampled_from(TYPES), st.text(max_size=60))
def test_no_result_looks_like_a_placeholder(action: Action, type_name: str, value: str) -> None:
    for wrapped in (value, f"[{type_name}_{value}]", "[EMAIL_ADDRESS_7KQ2M]"):
        result = apply(action, type_name, wrapped)
        assert looks_like_placeholder(result) == []
        assert not re.search(r"\[[A-Z_]+_[0-9A-Z]{5,}\]", result)


@pytest.mark.parametrize("action", ONE_WAY)
@pytest.mark.parametrize("type_name", TYPES)
def test_nothing_passes_unchanged_and_the_same_gives_the_same(action: Action, type_name: str) -> None:
    value = CASES["samples"][type_name]
    result = apply(action, type_name, value)
    assert value not in result
    assert result == apply(action, type_name, value)


@pytest.mark.parametrize("value", ["\ud800", "a\x00b", "\u200b", "😀" * 10, "[" * 50])
@pytest.mark.parametrize("action", ONE_WAY)
def test_strange_values(action: Action, value: str) -> None:
    for type_name in TYPES:
        assert value not in apply(action, type_name, value)


@pytest.mark.parametrize("action", [Action.PLACEHOLDER, Action.KEEP, Action.BLOCK])
def test_other_actions_are_not_done_here(action: Action) -> None:
    with pytest.raises(ValueError, match=action.value) as refusal:
        apply(action, "PERSON", "Ada Lovelace")
    assert "Ada" not in str(refusal.value)
