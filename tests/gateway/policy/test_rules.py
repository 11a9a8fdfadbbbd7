"""Which rule holds for a finding."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.models import Action, PrivacyMode
from gateway.policy.document import GROUPS
from gateway.policy.rules import Rule, RuleOptions
from tests.gateway.policy import policy
from tests.tables import table

CASES = table(__file__)

STANDARD, STRICT = PrivacyMode.STANDARD, PrivacyMode.STRICT


def test_type_before_group_before_otherwise() -> None:
    made = policy(
        otherwise={"action": "keep"},
        rules={"person": {"action": "redact"}, "PERSON": {"action": "hash"}},
    )
    assert made.rule_for("PERSON", "person", STANDARD).action is Action.HASH
    assert made.rule_for("AGE", "person", STANDARD).action is Action.REDACT
    assert made.rule_for("IP_ADDRESS", "network", STANDARD).action is Action.KEEP


def test_without_any_rule_everything_likely_becomes_a_placeholder() -> None:
    assert policy().rule_for("ANYTHING", "person", STANDARD) == Rule(Action.PLACEHOLDER, 0.5, RuleOptions())


def test_a_rule_inherits_from_the_less_specific_one() -> None:
    made = policy(
        otherwise={"action": "redact", "min_score": 0.7},
        rules={"person": {"min_score": 0.2}, "PERSON": {"action": "mask", "mask_with": "#"}},
    )
    assert made.rule_for("PERSON", "person", STANDARD) == Rule(Action.MASK, 0.2, RuleOptions(mask_with="#"))
    assert made.rule_for("AGE", "person", STANDARD) == Rule(Action.REDACT, 0.2)


def test_another_action_drops_the_options_of_the_one_before() -> None:
    made = policy(
        rules={
            "financial": {"action": "mask", "keep_last": 2},
            "CREDIT_CARD": {"action": "hash"},
            "IBAN_CODE": {"keep_last": 3},
        }
    )
    assert made.rule_for("CREDIT_CARD", "financial", STANDARD).options == RuleOptions()
    assert made.rule_for("IBAN_CODE", "financial", STANDARD).options == RuleOptions(keep_last=3)


@pytest.mark.parametrize("document", CASES["a_secret_is_never_shown_in_part"])
def test_a_secret_is_never_shown_in_part(document: dict[str, Any]) -> None:
    """A rule for all types or for one type would show what the rule for the group `secret` may not."""
    rule = policy(**document).rule_for("PASSWORD", "secret", STRICT)
    assert (rule.action, rule.options.keep_last) == (Action.MASK, 0)


@pytest.mark.parametrize(("type_name", "group", "action", "min_score"), CASES["strict_rules_take_precedence"])
def test_strict_rules_take_precedence(type_name: str, group: str, action: str, min_score: float) -> None:
    made = policy(
        otherwise={"action": "placeholder"},
        rules={"person": {"action": "keep"}, "PERSON": {"action": "placeholder"}, "LOCATION": {"action": "mask"}},
        strict={
            "otherwise": {"min_score": 0.3},
            "rules": {"person": {"action": "hash"}, "PERSON": {"action": "redact", "min_score": 0.1}},
        },
    )
    rule = made.rule_for(type_name, group, STRICT)
    assert (rule.action, rule.min_score) == (action, min_score)


def test_a_strict_rule_for_a_group_cannot_weaken_the_rule_for_a_type() -> None:
    """The document does not say that AGE is of the group `person`: detection does at run time."""
    made = policy(
        rules={"AGE": {"action": "block", "min_score": 0.1}, "person": {"action": "keep"}},
        strict={"rules": {"person": {"action": "redact", "min_score": 0.4}}},
    )
    assert made.rule_for("AGE", "person", STRICT) == Rule(Action.BLOCK, 0.1)
    assert made.rule_for("PERSON", "person", STRICT) == Rule(Action.REDACT, 0.4)


def test_a_denied_type_follows_the_rule_of_custom_not_of_the_group_detection_has_it_in() -> None:
    made = policy(
        rules={"organization": {"action": "keep"}, "custom": {"action": "redact"}},
        deny=[{"type": "ORGANIZATION", "terms": ["Aurora"]}],
    )
    assert made.rule_for("ORGANIZATION", "organization", STANDARD).action is Action.REDACT
    assert made.own_types == {"ORGANIZATION": "custom"}


def test_the_same_question_gets_the_same_object() -> None:
    made = policy()
    assert made.rule_for("PERSON", "person", STRICT) is made.rule_for("PERSON", "person", STRICT)


ACTIONS = st.sampled_from([action.value for action in Action])
RULES = st.fixed_dictionaries({}, optional={"action": ACTIONS, "min_score": st.floats(0, 1)}).filter(bool)
KEYS = st.sampled_from(["PERSON", "AGE", "LOCATION", "person", "address", "temporal"])
STRENGTH = {Action.KEEP: 0, Action.BLOCK: 2}


@pytest.mark.slow
@given(
    st.dictionaries(KEYS, RULES, max_size=6),
    st.dictionaries(KEYS, RULES, max_size=6),
    st.sampled_from(["PERSON", "AGE", "OTHER"]),
    st.sampled_from(GROUPS),
)
def test_strict_mode_never_hides_less(
    rules: dict[str, Any], strict: dict[str, Any], type_name: str, group: str
) -> None:
    from gateway.policy.rules import RuleBook

    book = RuleBook({}, rules, {}, strict, frozenset())
    standard, stricter = book.rule_for(type_name, group, STANDARD), book.rule_for(type_name, group, STRICT)
    assert STRENGTH.get(stricter.action, 1) >= STRENGTH.get(standard.action, 1)
    if standard.action is not Action.KEEP:
        assert stricter.min_score <= standard.min_score
