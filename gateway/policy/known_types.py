"""Tells types of entities from misspelled ones, which would have no effect."""

from collections.abc import Iterable
from difflib import get_close_matches

from gateway.detection import builtin_detector, group_of
from gateway.detection.engines import NAMES
from gateway.policy.model import Policy


def unusable(type: str, policies: Iterable[Policy]) -> str | None:
    """Says why no value of a type could be left in clear: it is secret, or unknown. None if one could.

    Recognizers and name models know types, and policies those of their rules, lists and patterns.
    """
    types = builtin_detector().types
    if group_of(type, types) == "secret":
        return f"secrets are never left in clear; remove `{type}`"
    if type in types or type in NAMES:
        return None
    known = {*types, *NAMES}
    for policy in policies:
        known.update(policy.own_types, policy.rule_book.named())
    if type in known:
        return None
    near = nearest(type, known)
    hint = f" (did you mean `{near}`?)" if near else ""
    return f"neither detection nor a rule, list or pattern of a policy has this type{hint}"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Returns the known name that an unknown one is probably meant to be, if any."""
    return next(iter(get_close_matches(name, sorted(known), 1, 0.75)), None)
