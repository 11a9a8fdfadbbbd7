"""Merges a policy document with the policy it extends and builds the resolved policy.

Fields replace those of the parent, rule by rule and field by field. Lists and patterns are added to the parent's; a
pattern replaces one of the same name. Omitted fields have the defaults of `document`.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import rfc8785

from gateway.errors import Unavailable, Unprocessable
from gateway.policy.checks import check
from gateway.policy.document import PolicyDocument, checked
from gateway.policy.model import Policy

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
    # An empty list replaces the parent's. Without it, a policy has the hash that it had before there was the field.
    if not merged.get("may_allow"):
        merged.pop("may_allow", None)
    policy = checked(Policy, merged)
    check(policy)
    return policy


def load(document: Mapping[str, Any]) -> Policy:
    """Loads a policy from its stored, resolved document. Raises Unavailable if it does not match its hash."""
    content = {key: value for key, value in document.items() if key != "hash"}
    try:
        canonical = rfc8785.dumps(content)
        if hashlib.sha256(canonical).hexdigest() != document.get("hash"):
            raise Unavailable(
                "A stored policy does not match its hash and is not used; restore the database from a backup."
            )
        return checked(Policy, content, canonical)
    except (rfc8785.CanonicalizationError, Unprocessable):
        raise Unavailable("This version of the gateway cannot read a stored policy; upgrade the gateway.") from None


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
