"""Assesses a request as a whole: risk, route, task categories and warnings.

    assess      all four, from findings and texts
    evidence    findings counted by type
    weights     how much one finding of a type counts
    risk        how much harm a leak of the text could do
    route       where the request may go
    tasks       what the request asks for; the vocabulary is in tasks.toml
    warnings    what a person should know

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
from gateway.policy import Policy
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
    """Judges a request: `entities` are what the policy hides, `kept` what was found and stays in clear.

    `attachments` are the kinds of what crosses unsearched; `tokens` the estimate for `texts`, if it is known. Without
    `advice` there are neither task categories nor warnings, and the texts are read only where the route needs it.
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
    warnings = warn(evidence, risk, route, size, reading, mode, attachments, long_tokens=policy.route.shard_tokens)
    return Assessment(risk, route, reading.categories, warnings)
