"""Settlement is disabled, and says what is missing."""

from gateway.api.settlement import settlement_state


def test_settlement_is_disabled_and_says_what_is_missing() -> None:
    state = settlement_state()
    evidence = state.pop("missing_evidence")
    assert state == {"enabled": False, "status": "disabled", "protocol": "x402"}
    assert evidence
    assert all(set(item) == {"code", "description"} and all(item.values()) for item in evidence)
    assert len({item["code"] for item in evidence}) == len(evidence)


def test_a_caller_cannot_change_it_for_the_next_one() -> None:
    settlement_state()["missing_evidence"].clear()
    settlement_state()["enabled"] = True
    assert settlement_state()["enabled"] is False
    assert settlement_state()["missing_evidence"]
