"""Nothing that could be source text gets into a record, and what does is in canonical form."""

import json
from dataclasses import replace
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from gateway.models import Action, PolicyRef, RiskLevel, RouteDecision
from gateway.receipts.drafts import GUARD_KINDS, OPERATIONS, OUTCOMES, OutcomeDraft, parties
from gateway.receipts.records import canonical_form, outcome_body, receipt_body
from tests.conftest import vectors
from tests.gateway.receipt_log.support import draft

CANARY = "Jane Doe, jane@example.com"

REFUSED = vectors("receipt_drafts/refused")


def test_a_party_that_a_receipt_may_not_hold_is_left_out() -> None:
    known = {"api_key_id": "key_0a", "wire": "responses", "upstream": "[::1]:8080", "model": "org/model-1:free"}
    assert parties(**known) == known
    assert parties(api_key_id="", wire="Canary 4711", upstream="a b", model="Anna Canary") == {}


@pytest.mark.parametrize(("field", "value"), REFUSED["drafts"], ids=str)
def test_a_draft_takes_words_digests_and_counts_only(field: str, value: Any) -> None:
    given: dict[str, Any] = {field: PolicyRef(*value) if field == "policy" else value}
    with pytest.raises(ValueError, match=field) as refused:
        draft(**given)
    assert "jane" not in str(refused.value).lower()


@pytest.mark.parametrize("fields", REFUSED["outcomes"], ids=str)
def test_an_outcome_takes_words_and_counts_only(fields: dict[str, Any]) -> None:
    tokens = {"tokens": tuple(fields["tokens"])} if "tokens" in fields else {}
    with pytest.raises(ValueError, match=r"outcome|status|tokens|guard") as refused:
        OutcomeDraft(**fields | tokens)
    assert "jane" not in str(refused.value).lower()


@pytest.mark.parametrize("tokens", [(-1, 1), (1, 10**30), (2**53, 0), (True, 10**9 + 1)])
@pytest.mark.parametrize("status", [0, 42, 600, 10**9])
def test_impossible_numbers_of_an_upstream_are_left_out(tokens: tuple[int, int], status: int) -> None:
    outcome = OutcomeDraft("answered", status, tokens)
    assert (outcome.status, outcome.tokens) == (None, None)


def test_only_counts_are_kept_of_a_verdict() -> None:
    counts = {"protected_value_in_clear": 2, "forged_placeholder": 1}
    outcome = OutcomeDraft("answered", 200, None, {"action": "redact", "message": CANARY, "findings": counts})
    assert outcome.guard == {"action": "redact", "findings": counts}
    assert "jane" not in repr(outcome).lower()


_COUNT = st.integers(0, 2**53 - 1)
_DIGEST = st.text("0123456789abcdef", min_size=64, max_size=64)


@pytest.mark.slow
@given(
    operation=st.sampled_from(sorted(OPERATIONS)),
    route=st.sampled_from(list(RouteDecision)),
    risk_level=st.sampled_from(list(RiskLevel)),
    entity_counts=st.dictionaries(st.from_regex(r"\A[A-Z0-9_]{1,64}\Z"), _COUNT),
    transformation_counts=st.dictionaries(st.sampled_from(list(Action)), _COUNT),
    tokens_input=_COUNT,
    protected_digest=_DIGEST,
    model_hash=st.none() | _DIGEST,
    engine_version=st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9.+_-]{0,127}\Z"),
)
def test_a_receipts_form_is_that_of_rfc_8785(**fields: Any) -> None:
    body = receipt_body(replace(draft("req_01"), **fields))
    assert canonical_form(body) == rfc8785.dumps(body)
    assert json.loads(canonical_form(body)) == body


@given(
    outcome=st.sampled_from(sorted(OUTCOMES)),
    status=st.none() | st.integers(100, 599),
    tokens=st.none() | st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)),
    findings=st.dictionaries(st.sampled_from(sorted(GUARD_KINDS)), _COUNT),
)
def test_an_outcomes_form_is_that_of_rfc_8785(outcome: str, status: Any, tokens: Any, findings: Any) -> None:
    drafted = OutcomeDraft(outcome, status, tokens, {"action": "flag", "findings": findings})
    body = outcome_body(drafted, "a" * 64)
    assert canonical_form(body) == rfc8785.dumps(body)
