"""Decides where a request may go. The strictest rule that applies wins: blocked, local, shard, protected, direct."""

from collections.abc import Callable, Collection, Iterator, Sequence

from gateway.assessment.evidence import Evidence
from gateway.assessment.tasks import Reading
from gateway.models import Action, Risk, Route, RouteDecision
from gateway.policy.document import RouteDocument

_WHOLE = frozenset({"code"})
"""Tasks that need the whole text. These are sharded only for their length."""


def decide(
    evidence: Sequence[Evidence],
    risk: Risk,
    tokens: int,
    task_of: Callable[[], Reading],
    rules: RouteDocument,
    *,
    local_available: bool,
) -> Route:
    """Returns the route with its reasons. Reads the task only if it matters for the decision."""
    blocked = list(_blocked(evidence, risk, rules))
    if blocked:
        return Route(RouteDecision.BLOCKED, tuple(blocked))
    local = list(_local(evidence, risk, rules))
    if local:
        if not local_available:
            local.append("No local surface is configured, so the request cannot be served.")
        return Route(RouteDecision.LOCAL, tuple(local))
    hidden = sum(one.hidden for one in evidence)
    if not hidden:
        return Route(RouteDecision.DIRECT, (_nothing_hidden(evidence),))
    shard = list(_shard(hidden, tokens, task_of, rules))
    if shard:
        return Route(RouteDecision.SHARD, tuple(shard))
    names = ", ".join(one.type for one in evidence if one.hidden)
    return Route(RouteDecision.PROTECTED, (f"Hidden before it leaves: {names}.",))


def _blocked(evidence: Sequence[Evidence], risk: Risk, rules: RouteDocument) -> Iterator[str]:
    by_action = [one.type for one in evidence if one.action is Action.BLOCK and one.present]
    if by_action:
        yield f"The policy blocks {', '.join(by_action)}."
    named = _named(evidence, rules.blocked_types)
    if named:
        yield f"The policy lets no text with {named} leave."
    if isinstance(rules.blocked_risk, int) and risk.score >= rules.blocked_risk:
        yield f"The risk is {risk.score}; the policy blocks from {rules.blocked_risk} on."


def _local(evidence: Sequence[Evidence], risk: Risk, rules: RouteDocument) -> Iterator[str]:
    named = _named(evidence, rules.local_types)
    if named:
        yield f"The policy keeps texts with {named} on local surfaces."
    if isinstance(rules.local_risk, int) and risk.score >= rules.local_risk:
        yield f"The risk is {risk.score}; the policy wants a local surface from {rules.local_risk} on."


def _shard(hidden: int, tokens: int, task_of: Callable[[], Reading], rules: RouteDocument) -> Iterator[str]:
    if rules.most_tokens is None:
        return
    if tokens > rules.most_tokens:
        yield f"About {tokens} tokens; the policy wants at most {rules.most_tokens} in one piece."
    per_hundred = 100 * hidden / max(1, tokens)
    dense = hidden >= rules.shard_findings and per_hundred >= rules.shard_density
    if dense and _WHOLE.isdisjoint(task_of().categories):
        yield f"{hidden} findings, {per_hundred:.0f} in a hundred tokens: dense enough to be worth dividing."


def _named(evidence: Sequence[Evidence], names: Collection[str]) -> str:
    return ", ".join(one.type for one in evidence if one.present and (one.type in names or one.group in names))


def _nothing_hidden(evidence: Sequence[Evidence]) -> str:
    kept = [one.type for one in evidence if one.kept]
    if kept:
        return f"Nothing to hide; the policy keeps {', '.join(kept)} in clear."
    return "Nothing private was found."
