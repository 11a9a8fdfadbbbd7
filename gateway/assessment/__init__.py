"""Assesses a request as a whole: risk, route, task categories and warnings.

    assess      does all of it, from findings and texts
    evidence    counts findings by type
    weights     weighs a finding by its type
    risk        rates the harm that a leak of the text could do
    route       decides where the request may go
    tasks       categorizes what the request asks for, by the words in tasks.toml
    warnings    builds warnings for people

Pure functions, cheap enough for every chat request. Finding entities is `gateway.detection`; docs/assessment.md states
the rules.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from gateway.assessment.evidence import Finding, gather
from gateway.assessment.risk import rate
from gateway.assessment.route import decide
from gateway.assessment.tasks import Reading, read_task
from gateway.assessment.warnings import warn
from gateway.assessment.weights import Weight, weight_of
from gateway.detection import EntityType
from gateway.models import Notice, PrivacyMode, Risk, Route
from gateway.policy.model import Policy
from gateway.text.token_estimate import estimate

__all__ = ["Assessment", "Finding", "Weight", "assess", "weight_of"]


@dataclass(frozen=True, slots=True)
class Assessment:
    """The assessment of a request, without source text. Task categories and warnings are optional advice."""

    risk: Risk
    route: Route
    task_categories: tuple[str, ...] = ()
    warnings: tuple[Notice, ...] = ()


def assess(
    entities: Iterable[Finding],
    *,
    kept: Iterable[Finding] = (),
    texts: Sequence[str],
    types: Mapping[str, EntityType],
    task: str | None,
    policy: Policy,
    mode: PrivacyMode,
    local_available: bool,
    attachments: Sequence[str] = (),
    tokens: int | None = None,
    advice: bool = True,
) -> Assessment:
    """Assesses a request. `entities` are hidden by the policy, `kept` are found but stay in clear.

    `attachments` are the kinds of attachments that are sent unsearched; `tokens` is the estimate for `texts`, if known.
    Without `advice` there are no task categories or warnings, and the texts are read only if the route needs it.
    """
    size = sum(map(estimate, texts)) if tokens is None else tokens
    evidence = gather(entities, kept, types, policy, mode)
    risk = rate(evidence, size)

    @cache
    def task_of() -> Reading:
        return read_task(task, texts)

    route = decide(evidence, risk, size, task_of, policy.route, local_available=local_available)
    if not advice:
        return Assessment(risk, route)
    reading = task_of()
    warnings = warn(evidence, risk, route, size, reading, mode, attachments, long_tokens=policy.route.most_tokens)
    return Assessment(risk, route, reading.categories, warnings)
