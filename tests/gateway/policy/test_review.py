"""Warnings about a policy, and the differences between two."""

from collections.abc import Mapping

import pytest

from gateway.detection import EntityType
from gateway.policy.review import differences, warnings
from tests.gateway.policy import policy, registry

TYPES: Mapping[str, EntityType] = {
    name: EntityType(name, group, "")
    for name, group in {"PERSON": "person", "EMAIL_ADDRESS": "contact", "ORGANIZATION": "organization"}.items()
}


def codes(**fields: object) -> list[str]:
    return [notice.code for notice in warnings(policy(**fields), TYPES)]


def test_a_plain_policy_raises_no_warning() -> None:
    assert codes(rules={"PERSON": {"action": "redact"}, "network": {"action": "keep"}}) == []


def test_an_unknown_type_is_reported_with_a_suggestion() -> None:
    (notice,) = warnings(policy(rules={"EMAIL_ADRESS": {"action": "redact"}}), TYPES)
    assert notice.code == "unknown_type"
    assert "`EMAIL_ADDRESS`" in notice.message
    (notice,) = warnings(policy(strict={"rules": {"QUANTUM_ID": {"action": "redact"}}}), TYPES)
    assert "Did you mean" not in notice.message
    assert codes(route={"local_types": ["PERSONS", "health"]}) == ["unknown_type"]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"rules": {"PERSON": {"action": "generalize"}}}, "nothing_coarser"),
        ({"deny": [{"type": "ORGANIZATION", "terms": ["Aurora"]}]}, "shared_type"),
        ({"patterns": [{"name": "p", "type": "TICKET", "regex": "x1", "score": 0.2}]}, "idle_pattern"),
    ],
)
def test_unlikely_rules_raise_warnings(fields: dict[str, object], code: str) -> None:
    assert codes(**fields) == [code]


def test_likely_rules_raise_no_warning() -> None:
    assert codes(rules={"PERSON": {"action": "generalize", "to": "band"}}) == []
    pattern = {"name": "p", "type": "TICKET", "regex": "x1", "score": 0.2}
    assert codes(patterns=[pattern | {"context": ["ticket"]}]) == []
    assert codes(patterns=[pattern], rules={"TICKET": {"min_score": 0.1}}) == []


def test_a_warning_repeats_no_listed_value() -> None:
    made = policy(deny=[{"type": "ORGANIZATION", "terms": ["Aurora"]}], rules={"PROSON": {"action": "redact"}})
    assert "urora" not in str(warnings(made, TYPES))


def test_differences_name_the_field() -> None:
    one = policy(rules={"PERSON": {"action": "redact"}}, deny=[{"type": "PROJECT", "terms": ["Aurora"]}])
    other = policy(
        rules={"PERSON": {"action": "hash"}, "AGE": {"action": "keep"}},
        patterns=[{"name": "ticket", "type": "TICKET", "regex": r"TCK-\d"}],
    )
    found = {each.path: (each.before, each.after) for each in differences(one, other)}
    assert found["rules.PERSON.action"] == ("redact", "hash")
    assert found["rules.AGE.action"] == (None, "keep")
    assert found["deny.0.terms"] == (["Aurora"], None)
    assert found["patterns.ticket.regex"] == (None, r"TCK-\d")
    assert found["hash"] == (one.hash, other.hash)
    assert not {"id", "title", "guard.unknown_placeholder"} & found.keys()


def test_a_policy_does_not_differ_from_itself() -> None:
    assert differences(registry().get("pci"), registry().get("pci")) == ()
