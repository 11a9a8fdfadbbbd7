import pytest

from gateway.policy.known_types import unusable
from tests.gateway.policy import policy

TYPES = [
    ("PERSON", None),
    ("ORGANIZATION", None),
    ("TICKET", None),
    ("PROJECT", None),
    ("NRP", None),
    ("API_KEY", "secrets are never left in clear"),
    ("EMAIL_ADRESS", "(did you mean `EMAIL_ADDRESS`?)"),
    ("QUANTUM_ID", "has this type"),
]


@pytest.mark.parametrize(("type", "says"), TYPES)
def test_types_are_those_of_detection_and_of_policies(type: str, says: str | None) -> None:
    policies = [
        policy(deny=[{"type": "PROJECT", "terms": ["Aurora"]}]),
        policy(patterns=[{"name": "p", "type": "TICKET", "regex": "x1"}], rules={"NRP": {"action": "redact"}}),
    ]
    reason = unusable(type, policies)
    assert (reason is None) if says is None else (says in (reason or ""))
