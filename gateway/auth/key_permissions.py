"""The scopes, policies, models and upstreams that a key permits: read from words and from the store, and checked."""

import json
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

from gateway.auth.quotas import quota_words, read_quota
from gateway.errors import Forbidden, Unprocessable
from gateway.models import CLIENT_SCOPES, Caller, Grant, Scope

_NAME = re.compile(r"[A-Za-z0-9_@*][A-Za-z0-9_.:/@+*-]{0,255}")
_MOST_NAMES = 64


def grant_of(
    scopes: Iterable[str] = (),
    policies: Iterable[str] = (),
    models: Iterable[str] = (),
    quotas: Iterable[str] = (),
    upstreams: Iterable[str] = (),
) -> tuple[Scope, Grant]:
    """Returns the scope, `client` or `operator`, and the grant of a new key. No scopes stand for `client`.

    Raises Unprocessable.
    """
    asked = frozenset(map(_scope, scopes)) or frozenset({Scope.CLIENT})
    scope = Scope.OPERATOR if Scope.OPERATOR in asked else Scope.CLIENT
    if scope is Scope.OPERATOR and len(asked) > 1:
        raise Unprocessable("The scope `operator` includes all others; leave them out.", param="scope")
    read = tuple(map(read_quota, dict.fromkeys(quotas)))
    if len({(quota.unit, quota.period) for quota in read}) < len(read):
        raise Unprocessable("Two quotas limit the same unit in the same period; leave one out.", param="quota")
    named = asked if asked.isdisjoint({Scope.OPERATOR, Scope.CLIENT}) else CLIENT_SCOPES
    limits = (_names(policies, "policy"), _names(models, "model"), read, _names(upstreams, "aws_upstream"))
    return scope, Grant(named, *limits)


def scope_words(scope: Scope, grant: Grant) -> str:
    """Returns the scopes of a key as words: `client` or `operator`, or else the ones it has."""
    return scope.value if grant.scopes == CLIENT_SCOPES else " ".join(sorted(grant.scopes))


def grant_json(grant: Grant) -> str:
    """Returns a grant as it is stored."""
    quotas = [quota_words(quota) for quota in grant.quotas]
    members = {"scopes": sorted(grant.scopes), "policies": grant.policies, "models": grant.models, "quotas": quotas}
    return json.dumps({**members, "upstreams": grant.upstreams} if grant.upstreams else members)


def stored_grant(text: str) -> Grant:
    """Reads a grant as it is stored."""
    members: dict[str, Any] = json.loads(text)
    scopes, quotas = frozenset(map(Scope, members["scopes"])), tuple(map(read_quota, members["quotas"]))
    # Keys that were stored before there were any have no upstreams.
    policies, models, upstreams = (tuple(members.get(name, ())) for name in ("policies", "models", "upstreams"))
    return Grant(scopes, policies, models, quotas, upstreams)


def check_scope(caller: Caller, scope: Scope) -> None:
    """Raises Forbidden unless the caller's key has the scope."""
    if scope is Scope.OPERATOR and caller.scope is not Scope.OPERATOR:
        raise Forbidden("This operation requires a key with operator scope. Use an operator's key.")
    if scope is not Scope.OPERATOR and scope not in caller.grant.scopes:
        message = f"This call requires the scope `{scope.value}`, which this key does not have."
        raise Forbidden(f"{message} Use another key.", code="scope_not_permitted")


def check_models(caller: Caller, asked: object, served: str, others: object = None) -> None:
    """Raises Forbidden unless the key permits the model that a call asks for, or the one that will serve it.

    `others` is a list of models that the upstream may fall back to: all of them must be permitted.
    """
    permitted = caller.grant.models
    if not permitted:
        return
    fallbacks = others if isinstance(others, list) else []
    for names in ((asked, served), *((name,) for name in fallbacks)):
        if not any(isinstance(name, str) and fnmatchcase(name, model) for name in names for model in permitted):
            message = "This key does not permit the model. Use one that it permits, or another key."
            raise Forbidden(message, code="model_not_permitted", param="model")


def check_upstream(caller: Caller, upstream: str) -> None:
    """Raises Forbidden unless the caller's key permits the AWS credentials of an upstream to sign its requests."""
    if not any(fnmatchcase(upstream, name) for name in caller.grant.upstreams):
        message = f"This key does not permit the AWS credentials of the upstream `{upstream}`, and nothing was sent."
        advice = f"Use a key that the operator has made with `keys create --aws-upstream {upstream}`."
        raise Forbidden(f"{message} {advice}", code="upstream_not_permitted")


def permitted_policy(caller: Caller | None, asked: str | None, default: str, param: str) -> str:
    """Returns the id of the policy for a call: the one asked for, else the default, else the key's first.

    Raises Forbidden unless the key permits the one asked for.
    """
    permitted = caller.grant.policies if caller is not None else ()
    if not permitted or (asked or default) in permitted:
        return asked or default
    if not asked:
        return permitted[0]
    message = "This key does not permit the policy. Use one that it permits, or another key."
    raise Forbidden(message, code="policy_not_permitted", param=param)


def _scope(word: str) -> Scope:
    try:
        return Scope(word)
    except ValueError:
        known = ", ".join(f"`{scope.value}`" for scope in Scope)
        raise Unprocessable(f"There is no such scope; choose from {known}.", param="scope") from None


def _names(names: Iterable[str], param: str) -> tuple[str, ...]:
    given = tuple(dict.fromkeys(names))
    if len(given) > _MOST_NAMES or not all(map(_NAME.fullmatch, given)):
        message = f"Name at most {_MOST_NAMES}, each in letters, digits and `. _ : / @ + - *`."
        raise Unprocessable(message, param=param)
    return given
