"""Merges a policy document with the policy it extends and builds the resolved policy.

Fields replace those of the parent, rule by rule and field by field. Lists and patterns are added to the parent's; a
pattern replaces one of the same name. Omitted fields have the defaults of `document`.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import rfc8785

from gateway.detection.normalized_text import normalize_text
from gateway.errors import Unavailable, Unprocessable
from gateway.models import Action, PrivacyMode
from gateway.policy.document import (
    PolicyDocument,
    ResolvedDocument,
    RouteDocument,
    RuleDocument,
    checked,
)
from gateway.policy.lists import AllowList, spellings
from gateway.policy.matching import Matcher
from gateway.policy.model import Policy, RouteRules
from gateway.policy.patterns import ExpressionError, check_pattern
from gateway.policy.rules import OWN_GROUP, RuleBook, is_weaker

_NOT_INHERITED = frozenset({"id", "title", "description", "version", "builtin", "extends", "hash"})


def resolve(document: PolicyDocument, *, version: int, builtin: bool, parent: Policy | None) -> Policy:
    """Resolves `document` with `parent`, the policy that `document.extends` names.

    Raises Unprocessable if the merged policy is not valid.
    """
    own = document.model_dump(exclude_unset=True, exclude_none=True)
    merged: dict[str, Any] = {}
    if parent is not None:
        merged = {key: value for key, value in parent.document.items() if key not in _NOT_INHERITED}
    _overlay(merged, {key: value for key, value in own.items() if key not in ("version", "extends")})
    merged |= {"version": version, "builtin": builtin}
    if parent is not None:
        merged["extends"] = {"id": parent.id, "version": parent.version, "hash": parent.hash}
    resolved = checked(ResolvedDocument, merged)
    policy = build(canonical_form(resolved.model_dump(exclude_none=True)), resolved)
    _check(resolved, policy)
    return policy


def load(document: Mapping[str, Any]) -> Policy:
    """Loads a policy from its stored, resolved document. Raises Unavailable if it does not match its hash."""
    content = {key: value for key, value in document.items() if key != "hash"}
    try:
        canonical = canonical_form(content)
        if hashlib.sha256(canonical).hexdigest() != document.get("hash"):
            raise Unavailable(
                "A stored policy does not match its hash and is not used; restore the database from a backup."
            )
        return build(canonical, checked(ResolvedDocument, content))
    except (rfc8785.CanonicalizationError, Unprocessable):
        raise Unavailable("This version of the gateway cannot read a stored policy; upgrade the gateway.") from None


def canonical_form(document: Mapping[str, Any]) -> bytes:
    """Serializes a resolved document, without its hash, as RFC 8785 canonical JSON."""
    return rfc8785.dumps(dict(document))


def build(canonical: bytes, resolved: ResolvedDocument) -> Policy:
    """Builds the policy of a resolved document."""
    own_types = frozenset(type_name for _, type_name in _own_types(resolved))
    return Policy(
        id=resolved.id,
        version=resolved.version,
        title=resolved.title,
        description=resolved.description,
        builtin=resolved.builtin,
        hash=hashlib.sha256(canonical).hexdigest(),
        attachments=resolved.attachments,
        restore=resolved.restore,
        guard=resolved.guard,
        route=_route(resolved.route),
        session=resolved.session,
        streaming=resolved.streaming,
        canonical=canonical,
        rules=RuleBook(
            _as_dict(resolved.otherwise),
            {key: _as_dict(rule) for key, rule in resolved.rules.items()},
            _as_dict(resolved.strict.otherwise),
            {key: _as_dict(rule) for key, rule in resolved.strict.rules.items()},
            own_types,
        ),
        allow_list=AllowList(resolved.allow),
        matcher=Matcher(resolved.deny, resolved.patterns) if own_types else None,
    )


def _as_dict(rule: RuleDocument | None) -> dict[str, Any]:
    return {} if rule is None else rule.model_dump(exclude_none=True)


def _route(route: RouteDocument) -> RouteRules:
    def number(value: int | str) -> int | None:
        return value if isinstance(value, int) else None

    return RouteRules(
        shard_tokens=number(route.shard_tokens),
        shard_findings=route.shard_findings,
        shard_density=route.shard_density,
        local_risk=number(route.local_risk),
        blocked_risk=number(route.blocked_risk),
        local_types=frozenset(route.local_types),
        blocked_types=frozenset(route.blocked_types),
    )


def _overlay(base: dict[str, Any], over: Mapping[str, Any], path: str = "") -> None:
    """Merges `over` into `base`, in place."""
    for key, value in over.items():
        here = f"{path}.{key}" if path else key
        if here in {"allow", "deny"}:
            base[key] = [*base.get(key, []), *(one for one in value if one not in base.get(key, []))]
        elif here == "patterns":
            names = {one["name"] for one in value}
            base[key] = [*(one for one in base.get(key, []) if one["name"] not in names), *value]
        elif isinstance(value, dict) and isinstance(base.get(key), dict):
            if "action" in value and value["action"] != base[key].get("action"):
                # The options of the previous action do not apply to the new one.
                base[key] = {name: said for name, said in base[key].items() if name == "min_score"}
            _overlay(base[key], value, here)
        else:
            base[key] = value


def _check(resolved: ResolvedDocument, policy: Policy) -> None:
    """Checks constraints across fields. Raises Unprocessable."""
    for index, pattern in enumerate(resolved.patterns):
        where = f"patterns.{index}.regex"
        # Patterns match normalized text, in which a character such as `–` never occurs.
        if normalize_text(pattern.regex).data.decode() != pattern.regex:
            plain = "typographic and full-width ones are normalized to them"
            raise _refused(where, f"write plain dashes, quotes, spaces and letters; {plain}")
        try:
            check_pattern(pattern)
        except ExpressionError as error:
            raise _refused(where, f"the pattern cannot be used: {error}") from None
    _check_lists(resolved)
    for where, type_name in _own_types(resolved):
        if policy.rule_for(type_name, OWN_GROUP, PrivacyMode.STANDARD).action is Action.KEEP:
            raise _refused(where, "the rules keep entities of this type; use another type or add a rule for it")
    _check_strict(policy)
    if policy.matcher is not None:
        try:
            policy.matcher.compile()
        except ExpressionError as error:
            raise _refused("deny", str(error)) from None


def _check_lists(resolved: ResolvedDocument) -> None:
    denied: set[str] = set()
    for index, entry in enumerate(resolved.deny):
        for number, term in enumerate(entry.terms):
            if not spellings(term):
                raise _refused(f"deny.{index}.terms.{number}", "this term has no visible characters; remove it")
            denied.add(term.casefold())
    for index, allowed in enumerate(resolved.allow):
        for number, value in enumerate(allowed.values):
            if value.casefold() in denied:
                raise _refused(f"allow.{index}.values.{number}", "this value is both allowed and denied; remove one")


def _own_types(resolved: ResolvedDocument) -> Iterator[tuple[str, str]]:
    for index, entry in enumerate(resolved.deny):
        yield f"deny.{index}.type", entry.type
    for index, pattern in enumerate(resolved.patterns):
        yield f"patterns.{index}.type", pattern.type


def _check_strict(policy: Policy) -> None:
    """Checks that strict mode hides at least as much. `RuleBook` ensures that for strict rules of groups."""
    for name in ("otherwise", *sorted(policy.rules.named())):
        standard = policy.rules.layered(name, name, PrivacyMode.STANDARD)
        strict = policy.rules.layered(name, name, PrivacyMode.STRICT)
        surer = strict.min_score > standard.min_score and standard.action is not Action.KEEP
        if surer or is_weaker(strict.action, standard.action):
            where = "strict.otherwise" if name == "otherwise" else f"strict.rules.{name}"
            raise _refused(where, "strict mode must not hide less than standard mode")


def _refused(where: str, reason: str) -> Unprocessable:
    return Unprocessable(f"Policy refused: {where}: {reason}.", param=where)
