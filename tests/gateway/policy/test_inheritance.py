"""A policy resolved with all it extends, and the hash of the result."""

import hashlib
import json
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import Unprocessable
from gateway.models import Action, PolicyRef, PrivacyMode
from gateway.policy.document import RouteDocument
from gateway.policy.model import Policy
from tests.gateway.policy import VECTORS, policy, registry


def canonical(value: Any) -> str:
    """RFC 8785, written anew from its text for the values a policy can hold, to check the library against."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        short = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
        escaped = (short.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in value)
        return '"' + "".join(escaped) + '"'
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    # Keys are ordered by their UTF-16 code units, which is not the order of code points.
    keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
    return "{" + ",".join(f"{canonical(key)}:{canonical(value[key])}" for key in keys) + "}"


def number(value: float) -> str:
    """ECMAScript's Number::toString for numbers of ordinary size."""
    if value == int(value):
        return str(int(value))
    assert 1e-6 <= abs(value) < 1e21, "beyond what a policy holds"
    digits = repr(float(value))
    if "e" in digits:
        mantissa, exponent = digits.split("e")
        shown = mantissa.replace(".", "")
        return "0." + "0" * (-int(exponent) - 1) + shown
    return digits


def digest(document: dict[str, Any]) -> str:
    content = {key: value for key, value in document.items() if key != "hash"}
    return hashlib.sha256(canonical(content).encode()).hexdigest()


HASHES: dict[str, dict[str, Any]] = json.loads((VECTORS / "hashes.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(HASHES))
def test_hash_vectors(name: str) -> None:
    """Fails when a document that someone has stored would come to mean something else."""
    vector = HASHES[name]
    made = registry().preview(vector["document"])
    assert made.document == vector["resolved"]
    assert made.hash == vector["resolved"]["hash"] == digest(vector["resolved"])


@pytest.mark.parametrize("made", registry().list(), ids=lambda made: made.id)
def test_a_builtin_policy_that_changes_has_a_new_version(made: Policy) -> None:
    """Otherwise two documents would go by one name. The list keeps every version ever released."""
    released: dict[str, dict[str, str]] = json.loads((VECTORS / "builtin-hashes.json").read_text(encoding="utf-8"))
    assert released[made.id][str(made.version)] == made.hash == digest(made.document)
    assert max(map(int, released[made.id])) == made.version
    assert made.ref == PolicyRef(made.id, made.version, made.hash)


@pytest.mark.slow
@given(
    st.recursive(
        st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(1e-6, 1e6) | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    )
)
def test_two_canonicalisers_agree(value: Any) -> None:
    assert rfc8785.dumps(value).decode() == canonical(value)


def test_spelling_and_order_do_not_change_the_hash() -> None:
    one = policy(rules={"PERSON": {"action": "redact", "min_score": 1}, "person": {"action": "keep"}})
    other = policy(rules={"person": {"action": "keep"}, "PERSON": {"min_score": 1.0, "action": "redact"}})
    assert one.hash == other.hash
    assert one == other
    assert policy(guard={"unknown_placeholder": "flag"}).hash == policy().hash
    assert policy(description="Other").hash != policy().hash


def test_the_document_served_is_a_copy() -> None:
    made = policy()
    made.document["rules"]["PERSON"] = {"action": "keep"}
    assert made.document["rules"] == {}


def test_extending_replaces_field_by_field_and_adds_to_lists() -> None:
    made = policy(
        extends="pci",
        rules={"CREDIT_CARD": {"keep_last": 2}, "person": {"action": "redact"}},
        guard={"unknown_placeholder": "off"},
        deny=[{"type": "PROJECT", "terms": ["Aurora"]}],
        patterns=[
            {"name": "labelled-pin", "type": "CARD_PIN", "regex": r"PIN-\d{4}"},
            {"name": "ticket", "type": "TICKET", "regex": r"TCK-\d+"},
        ],
    )
    standard = PrivacyMode.STANDARD
    card = made.rule_for("CREDIT_CARD", "financial", standard)
    assert (card.action, card.min_score, card.options.keep_last) == (Action.MASK, 0.4, 2)
    assert made.rule_for("PERSON", "person", standard).action is Action.REDACT
    assert made.rule_for("LOCATION", "address", standard).action is Action.KEEP, "said by default, which pci extends"
    assert (made.guard.unknown_placeholder, made.guard.instruction_to_reveal) == ("off", "replace")
    assert made.session.max_ttl_seconds == 3600
    names = [pattern["name"] for pattern in made.document["patterns"]]
    assert names == ["labelled-card-number", "security-code", "magnetic-stripe", "labelled-pin", "ticket"]
    assert [one.recognizer for one in made.find("Aurora PIN-1234 TCK-1")] == [
        "policy:deny",
        "policy:labelled-pin",
        "policy:ticket",
    ]
    parent = registry().get("pci")
    assert made.document["extends"] == {"id": "pci", "version": parent.version, "hash": parent.hash}
    assert (made.title, made.builtin) == ("Acme", False)
    assert made.hash == digest(made.document)


def test_bounds_hold_for_what_results() -> None:
    patterns = [{"name": f"p{n}", "type": "TICKET", "regex": f"x{n}"} for n in range(29)]
    with pytest.raises(Unprocessable, match="at most 32 items"):
        policy(extends="pci", patterns=patterns)


def test_missing_fields_have_the_stated_defaults() -> None:
    made = policy()
    assert made.attachments == "convert"
    assert (made.restore.urls, made.restore.tool_arguments) == ("source", True)
    assert {made.guard.of(kind) for kind in ("unknown_placeholder", "new_sensitive_value")} == {"flag"}
    assert made.guard.of("placeholder_in_url") == "redact"
    assert made.route == RouteDocument()
    assert (made.route.shard_tokens, made.route.shard_findings, made.route.shard_density) == (8000, 40, 10.0)
    assert (made.session.default_ttl_seconds, made.session.max_ttl_seconds) == (3600, 86400)
    assert (made.streaming.allowed, made.streaming.guard) == (True, "flow")


def test_route_thresholds() -> None:
    route = policy(
        route={"shard_tokens": "off", "local_risk": 70, "blocked_risk": 90, "local_types": ["health", "US_SSN"]}
    ).route
    assert (route.most_tokens, route.local_risk, route.blocked_risk) == (None, 70, 90)
    assert route.local_types == ["health", "US_SSN"]


def test_a_route_switched_off_by_a_child_is_off() -> None:
    assert policy(extends="gdpr", route={"shard_tokens": "off"}).route.most_tokens is None


def test_may_allow_is_the_parents_list_or_the_policys_own() -> None:
    """Never secrets, and of what the policy's own lists find only `custom` and the policy's own types."""
    inherited = policy(extends="pci", deny=[{"type": "PERSON", "terms": ["Roe"]}, {"type": "PROJECT", "terms": ["X1"]}])
    projects = [{"type": "PROJECT", "terms": ["X1"]}]
    own = policy(extends="default", may_allow=["custom", "CUSTOMER_ID", "PROJECT"], deny=projects)
    none = policy(extends="default", may_allow=[])
    cases = [
        (inherited, "EMAIL_ADDRESS", "contact", "email", True),
        (inherited, "PERSON", "person", "names", True),
        (inherited, "PERSON", "person", "policy:deny", False),
        (inherited, "PROJECT", "custom", "policy:deny", False),
        (inherited, "API_KEY", "secret", "api_key", False),
        (inherited, "CREDIT_CARD", "financial", "credit_card", False),
        (own, "PROJECT", "custom", "policy:deny", True),
        (own, "CUSTOMER_ID", "account", "account_number", True),
        (own, "PERSON", "person", "names", False),
        (policy(may_allow=["KEY_X"], rules={"KEY_X": {"action": "redact"}}), "KEY_X", "secret", "api_key", False),
        (none, "PERSON", "person", "names", False),
        (policy(), "PERSON", "person", "names", False),
    ]
    for made, type, group, recognizer, may in cases:
        assert made.may_allow_of(type, group, recognizer) is may, (made.may_allow, type, recognizer)
    assert "may_allow" not in none.document
    assert "may_allow" not in policy().document
