"""Builds warnings for people (docs/assessment.md). `warnings.toml` has their stable codes and what they say."""

from collections.abc import Iterator, Sequence

from gateway.assessment.evidence import Evidence
from gateway.assessment.tasks import Reading
from gateway.detection.data_files import read_toml
from gateway.models import Action, Notice, PrivacyMode, Risk, Route, RouteDecision

_ONE_WAY = frozenset({Action.MASK, Action.GENERALIZE, Action.HASH, Action.REDACT})
_VERIFIABLE = frozenset({"financial", "government_id", "health", "account", "contact", "secret"})
_FIELDS = frozenset({"medical", "legal", "personnel"})
MESSAGES: dict[str, str] = read_toml(__file__)
_LONG_TOKENS = 8000
_SCREENED_RISK = 50


def warn(
    evidence: Sequence[Evidence],
    risk: Risk,
    route: Route,
    tokens: int,
    reading: Reading,
    mode: PrivacyMode,
    attachments: Sequence[str],
    *,
    long_tokens: int | None,
) -> tuple[Notice, ...]:
    """Returns all warnings that apply, the most severe first. They contain no source text."""
    return (
        *_on_secrets(evidence),
        *_on_what_stays(evidence, risk, mode, attachments),
        *_on_the_task(evidence, reading),
        *_on_form(evidence, route, tokens, long_tokens or _LONG_TOKENS),
    )


def _on_secrets(evidence: Sequence[Evidence]) -> Iterator[Notice]:
    secrets = [one for one in evidence if one.group == "secret" and one.present]
    if secrets:
        yield _notice("secrets_present", secrets)
    kept = [one for one in secrets if one.kept]
    if kept:
        yield _notice("secrets_kept", kept)


def _on_what_stays(
    evidence: Sequence[Evidence], risk: Risk, mode: PrivacyMode, attachments: Sequence[str]
) -> Iterator[Notice]:
    if attachments:
        yield _notice("attachment_passed", number=len(attachments))
    kept = [one for one in evidence if one.kept and one.weight.bits and one.group != "secret"]
    bits = sum(one.weight.bits for one in kept)
    hidden_person = any(one.hidden and one.group in {"person", "health", "government_id"} for one in evidence)
    if kept and risk.score >= _SCREENED_RISK and (bits >= 20 or (hidden_person and bits >= 14)):
        advice = "" if mode is PrivacyMode.STRICT else ' Ask with privacy mode "strict" to hide what it covers.'
        yield _notice("reidentification", kept, advice=advice)
    unsure = [one for one in evidence if one.unsure and one.surest > 0]
    if unsure:
        number = sum(one.unsure for one in unsure)
        findings = f"{number} possible {'finding stays' if number == 1 else 'findings stay'}"
        advice = "Check them." if mode is PrivacyMode.STRICT else 'Check them, or ask with privacy mode "strict".'
        yield _notice("low_confidence_kept", unsure, findings=findings, advice=advice)


def _on_the_task(evidence: Sequence[Evidence], reading: Reading) -> Iterator[Notice]:
    hidden = [one for one in evidence if one.hidden]
    needed = [one for one in hidden if _is_needed(one, reading)]
    if needed:
        yield _notice("task_needs_value", needed)
    if any(one.type == "PERSON" for one in hidden) and "translate" in reading.categories:
        yield _notice("names_in_translation")
    if not any(one.present for one in evidence) and not _FIELDS.isdisjoint(reading.categories):
        yield _notice("nothing_found", fields=", ".join(name for name in reading.categories if name in _FIELDS))


def _is_needed(one: Evidence, reading: Reading) -> bool:
    return (
        ("verify" in reading.needs and one.group in _VERIFIABLE)
        or ("age" in reading.needs and one.type in {"DATE_OF_BIRTH", "AGE"})
        or ("spelling" in reading.needs and one.type in {"PERSON", "LOCATION", "ORGANIZATION"})
    )


def _on_form(evidence: Sequence[Evidence], route: Route, tokens: int, long_tokens: int) -> Iterator[Notice]:
    one_way = [one for one in evidence if one.hidden and one.action in _ONE_WAY]
    if one_way:
        yield _notice("not_reversible", one_way)
    if any(one.type == "PLACEHOLDER" and one.hidden for one in evidence):
        yield _notice("literal_placeholder")
    if tokens > long_tokens:
        yield _notice("text_long", tokens=tokens)
    if route.decision is RouteDecision.LOCAL:
        yield _notice("local_only")


def _notice(code: str, some: Sequence[Evidence] = (), **values: object) -> Notice:
    return Notice(code, MESSAGES[code].format(names=", ".join(one.type for one in some), **values))
