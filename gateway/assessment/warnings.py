"""Builds warnings for people. Each has a stable code (see docs/assessment.md) and says what to do."""

from collections.abc import Iterator, Sequence

from gateway.assessment.evidence import Evidence
from gateway.assessment.tasks import Reading
from gateway.models import Action, Notice, PrivacyMode, Risk, Route, RouteDecision

_ONE_WAY = frozenset({Action.MASK, Action.GENERALIZE, Action.HASH, Action.REDACT})
_VERIFIABLE = frozenset({"financial", "government_id", "health", "account", "contact", "secret"})
_FIELDS = frozenset({"medical", "legal", "personnel"})
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
        names = _names(secrets)
        yield Notice("secrets_present", f"The text holds secrets ({names}). Rotate them if others have seen this text.")
    kept = [one for one in secrets if one.kept]
    if kept:
        yield Notice("secrets_kept", f"The policy leaves {_names(kept)} in clear. Choose a policy that hides secrets.")


def _on_what_stays(
    evidence: Sequence[Evidence], risk: Risk, mode: PrivacyMode, attachments: Sequence[str]
) -> Iterator[Notice]:
    if attachments:
        yield Notice(
            "attachment_passed",
            f"{len(attachments)} of the request's attachments cross as they are: images, audio and files are not"
            " searched. Remove them, or choose a policy that refuses attachments.",
        )
    kept = [one for one in evidence if one.kept and one.weight.bits and one.group != "secret"]
    bits = sum(one.weight.bits for one in kept)
    hidden_person = any(one.hidden and one.group in {"person", "health", "government_id"} for one in evidence)
    if kept and risk.score >= _SCREENED_RISK and (bits >= 20 or (hidden_person and bits >= 14)):
        advice = "" if mode is PrivacyMode.STRICT else ' Ask with privacy mode "strict" to hide what it covers.'
        yield Notice(
            "reidentification",
            f"What stays in clear ({_names(kept)}) can together tell who is meant, also without the name.{advice}",
        )
    unsure = [one for one in evidence if one.unsure and one.surest > 0]
    if unsure:
        number = sum(one.unsure for one in unsure)
        advice = "Check them." if mode is PrivacyMode.STRICT else 'Check them, or ask with privacy mode "strict".'
        yield Notice(
            "low_confidence_kept",
            f"{number} possible {'finding stays' if number == 1 else 'findings stay'} in clear, too unsure for the"
            f" policy ({_names(unsure)}). {advice}",
        )


def _on_the_task(evidence: Sequence[Evidence], reading: Reading) -> Iterator[Notice]:
    hidden = [one for one in evidence if one.hidden]
    needed = [one for one in hidden if _is_needed(one, reading)]
    if needed:
        yield Notice(
            "task_needs_value",
            f"The task needs values that the model will not see ({_names(needed)}): it cannot check, compute with or"
            " spell what a placeholder stands for. Do that part locally, or use a policy that keeps this type.",
        )
    names = any(one.type == "PERSON" for one in hidden)
    if names and "translate" in reading.categories:
        yield Notice(
            "names_in_translation",
            "Names are put back as they were written: not transliterated, and not inflected. Check them in the"
            " translation.",
        )
    if not any(one.present for one in evidence) and not _FIELDS.isdisjoint(reading.categories):
        fields = ", ".join(name for name in reading.categories if name in _FIELDS)
        yield Notice(
            "nothing_found",
            f"The task looks {fields}, yet nothing private was found. Read the text before you rely on that.",
        )


def _is_needed(one: Evidence, reading: Reading) -> bool:
    return (
        ("verify" in reading.needs and one.group in _VERIFIABLE)
        or ("age" in reading.needs and one.type in {"DATE_OF_BIRTH", "AGE"})
        or ("spelling" in reading.needs and one.type in {"PERSON", "LOCATION", "ORGANIZATION"})
    )


def _on_form(evidence: Sequence[Evidence], route: Route, tokens: int, long_tokens: int) -> Iterator[Notice]:
    one_way = [one for one in evidence if one.hidden and one.action in _ONE_WAY]
    if one_way:
        yield Notice(
            "not_reversible", f"{_names(one_way)} will not come back in the answer: the policy changes it for good."
        )
    if any(one.type == "PLACEHOLDER" and one.hidden for one in evidence):
        yield Notice(
            "literal_placeholder",
            "The text holds something that looks like a placeholder of this service. It is passed as a literal and"
            " never opened.",
        )
    if tokens > long_tokens:
        yield Notice("text_long", f"About {tokens} tokens in one piece. Shorten the text, or divide it with /v1/shard.")
    if route.decision is RouteDecision.LOCAL:
        yield Notice(
            "local_only", "Only a surface marked as local may serve this. Choose one, or shorten what is sent."
        )


def _names(some: Sequence[Evidence]) -> str:
    return ", ".join(one.type for one in some)
