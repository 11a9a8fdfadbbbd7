"""Checks that the fields of a resolved policy fit together, beyond what its schema says of each."""

from collections.abc import Iterator

from gateway.detection.normalized_text import normalize_text
from gateway.detection.recognizer import OWN_GROUP
from gateway.errors import Unprocessable
from gateway.models import Action, PrivacyMode
from gateway.policy.document import GROUPS
from gateway.policy.known_types import unusable
from gateway.policy.lists import spellings
from gateway.policy.model import Policy
from gateway.policy.patterns import ExpressionError, check_pattern
from gateway.policy.rules import is_weaker


def check(policy: Policy) -> None:
    """Raises Unprocessable."""
    for index, pattern in enumerate(policy.patterns):
        where = f"patterns.{index}.regex"
        # Patterns match normalized text, in which a character such as `–` never occurs.
        if normalize_text(pattern.regex).data.decode() != pattern.regex:
            plain = "typographic and full-width ones are normalized to them"
            raise _refused(where, f"write plain dashes, quotes, spaces and letters; {plain}")
        try:
            check_pattern(pattern)
        except ExpressionError as error:
            raise _refused(where, f"the pattern cannot be used: {error}") from None
    _check_lists(policy)
    _check_may_allow(policy)
    for where, type_name in _own_types(policy):
        if policy.rule_for(type_name, OWN_GROUP, PrivacyMode.STANDARD).action is Action.KEEP:
            raise _refused(where, "the rules keep entities of this type; use another type or add a rule for it")
    _check_strict(policy)
    if policy.matcher is not None:
        try:
            policy.matcher.compile()
        except ExpressionError as error:
            raise _refused("deny", str(error)) from None


def _own_types(policy: Policy) -> Iterator[tuple[str, str]]:
    """The types of a policy's own lists and patterns, with the fields that name them."""
    for index, entry in enumerate(policy.deny):
        yield f"deny.{index}.type", entry.type
    for index, pattern in enumerate(policy.patterns):
        yield f"patterns.{index}.type", pattern.type


def _check_may_allow(policy: Policy) -> None:
    for index, name in enumerate(policy.may_allow or ()):
        if name not in GROUPS and (reason := unusable(name, [policy])) is not None:
            raise _refused(f"may_allow.{index}", reason)


def _check_lists(policy: Policy) -> None:
    denied: set[str] = set()
    for index, entry in enumerate(policy.deny):
        for number, term in enumerate(entry.terms):
            if not spellings(term):
                raise _refused(f"deny.{index}.terms.{number}", "this term has no visible characters; remove it")
            denied.add(term.casefold())
    for index, allowed in enumerate(policy.allow):
        for number, value in enumerate(allowed.values):
            if value.casefold() in denied:
                raise _refused(f"allow.{index}.values.{number}", "this value is both allowed and denied; remove one")


def _check_strict(policy: Policy) -> None:
    """Checks that strict mode hides at least as much. `RuleBook` ensures that for strict rules of groups."""
    for name in ("otherwise", *sorted(policy.rule_book.named())):
        standard = policy.rule_book.layered(name, name, PrivacyMode.STANDARD)
        strict = policy.rule_book.layered(name, name, PrivacyMode.STRICT)
        surer = strict.min_score > standard.min_score and standard.action is not Action.KEEP
        if surer or is_weaker(strict.action, standard.action):
            where = "strict.otherwise" if name == "otherwise" else f"strict.rules.{name}"
            raise _refused(where, "strict mode must not hide less than standard mode")


def _refused(where: str, reason: str) -> Unprocessable:
    return Unprocessable(f"Policy refused: {where}: {reason}.", param=where)
