"""Permissions of keys are read, stored and checked."""

from contextlib import nullcontext

import pytest

from gateway.auth.key_permissions import (
    check_models,
    check_scope,
    check_upstream,
    grant_json,
    grant_of,
    permitted_policy,
    scope_words,
    stored_grant,
)
from gateway.errors import Forbidden, Unprocessable
from gateway.models import CLIENT_SCOPES, UNRESTRICTED, Caller, Grant, Quota, Scope


def caller(**grant: tuple[str, ...]) -> Caller:
    scope, restricted = grant_of(**grant)
    return Caller("key_anna", scope, grant=restricted)


def test_a_grant_is_stored_and_read_again() -> None:
    scope, grant = grant_of(
        ["chat", "receipts:read"], ["gdpr", "pci"], ["gpt-*"], ["requests=9/day", "characters=90/month"], ["aws*"]
    )
    assert scope is Scope.CLIENT
    assert grant.quotas == (Quota("requests", 9, "day"), Quota("characters", 90, "month"))
    assert stored_grant(grant_json(grant)) == grant


@pytest.mark.parametrize(
    ("words", "said"), [((), "client"), (["client", "chat"], "client"), (["operator"], "operator")]
)
def test_words_for_all_scopes(words: list[str], said: str) -> None:
    scope, grant = grant_of(words)
    assert scope_words(scope, grant) == said
    assert grant == Grant() == UNRESTRICTED
    assert grant.scopes == CLIENT_SCOPES


@pytest.mark.parametrize(
    ("param", "words"),
    [
        ("scope", {"scopes": ["admin"]}),
        ("scope", {"scopes": ["operator", "chat"]}),
        ("policy", {"policies": ["two words"]}),
        ("model", {"models": ["gpt-[0-9]"]}),
        ("model", {"models": [f"m{number}" for number in range(65)]}),
        ("aws_upstream", {"upstreams": ["a b"]}),
        ("quota", {"quotas": ["requests=0/day"]}),
        ("quota", {"quotas": ["requests=1/week"]}),
        ("quota", {"quotas": ["requests=1/day", "requests=2/day"]}),
    ],
)
def test_a_wrong_word_of_a_grant_is_refused(param: str, words: dict[str, list[str]]) -> None:
    with pytest.raises(Unprocessable) as refused:
        grant_of(**words)
    assert refused.value.param == param


def test_a_key_has_the_scopes_that_it_was_given_and_operators_all() -> None:
    check_scope(caller(scopes=("chat",)), Scope.CHAT)
    for scope in CLIENT_SCOPES:
        check_scope(caller(scopes=("operator",)), scope)
        check_scope(caller(), scope)
    check_scope(caller(scopes=("operator",)), Scope.OPERATOR)
    for limited, scope, code in (
        (caller(scopes=("chat",)), Scope.PROTECT, "scope_not_permitted"),
        (caller(), Scope.OPERATOR, "forbidden"),
    ):
        with pytest.raises(Forbidden) as refused:
            check_scope(limited, scope)
        assert refused.value.code == code


@pytest.mark.parametrize(
    ("asked", "served", "others", "permitted"),
    [
        ("gpt-5", "gpt-5", None, True),
        ("GPT-5", "gpt-5", None, True),
        ("fast", "other", None, True),
        ("fast", "other", ["gpt-5", "fast"], True),
        ("o3", "o3", None, False),
        ("my-gpt-5", "my-gpt-5", None, False),
        (None, "", None, False),
        ("gpt-5", "gpt-5", ["gpt-5", "o3"], False),
    ],
)
def test_a_model_is_permitted_by_the_name_asked_for_or_served(
    asked: object, served: str, others: object, permitted: bool
) -> None:
    check_models(caller(), asked, served, others)
    with nullcontext() if permitted else pytest.raises(Forbidden) as refused:
        check_models(caller(models=("gpt-*", "fast")), asked, served, others)
    assert refused is None or (refused.value.code, refused.value.param) == ("model_not_permitted", "model")


def test_the_first_policy_of_a_key_replaces_a_default_that_it_does_not_permit() -> None:
    limited = caller(policies=("gdpr", "pci"))
    assert permitted_policy(limited, None, "default", "svc_policy") == "gdpr"
    assert permitted_policy(limited, None, "pci", "svc_policy") == "pci"
    assert permitted_policy(limited, "pci", "default", "svc_policy") == "pci"
    for anybody in (None, caller()):
        assert permitted_policy(anybody, None, "default", "svc_policy") == "default"
        assert permitted_policy(anybody, "strict", "default", "svc_policy") == "strict"
    with pytest.raises(Forbidden) as refused:
        permitted_policy(limited, "default", "default", "svc_policy")
    assert (refused.value.code, refused.value.param) == ("policy_not_permitted", "svc_policy")


def test_an_upstream_signs_only_for_keys_that_name_it() -> None:
    """Keys that were stored before there were upstreams name none."""
    for given in (UNRESTRICTED, stored_grant('{"scopes": ["chat"], "policies": [], "models": [], "quotas": []}')):
        with pytest.raises(Forbidden, match="keys create --aws-upstream aws") as refused:
            check_upstream(Caller("key_anna", Scope.OPERATOR, grant=given), "aws")
        assert refused.value.code == "upstream_not_permitted"
    for names in (("aws",), ("other", "a*")):
        check_upstream(caller(upstreams=names), "aws")
    with pytest.raises(Forbidden):
        check_upstream(caller(upstreams=("other",)), "aws")
