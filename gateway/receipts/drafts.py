"""The contents of receipts and outcomes: enumerated words, names of types, digests and counts, never source text."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from gateway.models import Action, PolicyRef, RiskLevel, RouteDecision
from gateway.policy.attachments import AttachmentsDocument
from gateway.policy.document import GuardDocument

OPERATIONS = frozenset(
    """
    analyze chat completions edit embeddings explain messages other playground protect reconstruct responses shard
    """.split()
)
EXCHANGES = OPERATIONS - {"analyze", "edit", "explain", "protect", "reconstruct", "shard"}
"""The operations that get an outcome."""
# By the code of the error with which a request ended.
_OF_UPSTREAMS = {
    "upstream_unreachable": "upstream_error",
    "upstream_timeout": "upstream_error",
    "upstream_invalid": "unreadable_answer",
}
OUTCOMES = frozenset(
    "answered guarded refused failed cancelled timeout upstream_error upstream_unreachable unreadable_answer".split()
) | {"restore_failed", "interrupted"}
ROUTES = frozenset(route.value for route in RouteDecision)
RISK_LEVELS = frozenset(level.value for level in RiskLevel)
ACTIONS = frozenset(action.value for action in Action)
GUARD_ACTIONS = frozenset({"pass", "flag", "redact", "replace"})
GUARD_KINDS = frozenset(GuardDocument.model_fields)
ATTACHMENT_KINDS = frozenset(AttachmentsDocument.model_fields)
ATTACHMENT_ACTIONS = frozenset({"convert", "pass"})
CORRECTIONS = frozenset({"allow", "deny"})
LARGEST = 2**53 - 1
_MOST_TOKENS = 10**9

_REQUEST_ID = re.compile(r"req_[0-9a-f]{1,64}")
_POLICY_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_OPERATOR = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,127}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_DIGEST = re.compile(r"[0-9a-f]{32}")
_CODE = re.compile(r"[a-z][a-z_]{0,63}")
_TYPE = re.compile(r"[A-Z0-9_]{1,64}")
# The members that say who asked whom, each only where it is known.
PARTIES = {
    "api_key_id": re.compile(r"[a-z]{1,16}_[a-z0-9]{1,64}"),
    "credential": re.compile(r"cred_[0-9a-f]{16}"),
    "wire": re.compile(r"[a-z][a-z0-9-]{0,31}"),
    "upstream": re.compile(r"[A-Za-z0-9\[][A-Za-z0-9_.:\]-]{0,254}"),
    "model": re.compile(r"[A-Za-z0-9_@][A-Za-z0-9_.:/@+-]{0,127}"),
}


@dataclass(frozen=True, slots=True)
class ReceiptDraft:
    """The contents of a receipt. Raises ValueError, naming the field, for anything that a receipt must not hold.

    `protected_digest` is SHA-256 in hex over the forwarded bytes. `tokens_input` and `tokens_external` estimate the
    source and the text that may leave. `amends` names the request that an operator edited; the digest is then of the
    edit. `operator` is the name of that operator's token in the settings. `parties` says who asked whom: the members of
    `PARTIES`. `corrections` counts the caller's corrections by kind, with a keyed digest of those that had an effect.
    `attachments` has an entry for each file: its kind, what was done, how many pages were converted, and SHA-256 of
    what was sent of it.
    """

    request_id: str
    operation: str
    policy: PolicyRef
    engine_version: str
    model_hash: str | None
    route: str
    risk_level: str
    entity_counts: Mapping[str, int] = field(default_factory=dict)
    transformation_counts: Mapping[str, int] = field(default_factory=dict)
    tokens_input: int = 0
    tokens_external: int = 0
    protected_digest: str = sha256(b"").hexdigest()
    amends: str | None = None
    parties: Mapping[str, str] = field(default_factory=dict)
    operator: str | None = None
    corrections: Mapping[str, Mapping[str, int | str]] = field(default_factory=dict)
    attachments: Sequence[Mapping[str, int | str]] = ()

    def __post_init__(self) -> None:
        _match(_REQUEST_ID, self.request_id, "request_id")
        _word(self.operation, OPERATIONS, "operation")
        _match(_POLICY_ID, self.policy.id, "policy.id")
        _number(self.policy.version, "policy.version")
        _match(_SHA256, self.policy.hash, "policy.hash")
        _match(_VERSION, self.engine_version, "engine_version")
        if self.model_hash is not None:
            _match(_SHA256, self.model_hash, "model_hash")
        _word(self.route, ROUTES, "route")
        _word(self.risk_level, RISK_LEVELS, "risk_level")
        for type_, count in self.entity_counts.items():
            _match(_TYPE, type_, "entity_counts")
            _number(count, "entity_counts")
        for action, count in self.transformation_counts.items():
            _word(action, ACTIONS, "transformation_counts")
            _number(count, "transformation_counts")
        _number(self.tokens_input, "tokens_input")
        _number(self.tokens_external, "tokens_external")
        _match(_SHA256, self.protected_digest, "protected_digest")
        if self.amends is not None:
            _match(_REQUEST_ID, self.amends, "amends")
        for name, value in self.parties.items():
            _match(PARTIES[name], value, name)
        if self.operator is not None:
            _match(_OPERATOR, self.operator, "operator")
        _check_corrections(self.corrections)
        _check_attachments(self.attachments)


@dataclass(frozen=True, slots=True)
class OutcomeDraft:
    """The contents of an outcome.

    `status` is the upstream's HTTP status, `tokens` its reported usage (input, output); impossible numbers become None,
    since the upstream chose them. Only the action and the counts by kind are kept of the guard's verdict. `edit` is the
    request id of the receipt of an operator's edit, `code` that of the error that ended the request. `tokens_sent`
    estimates the text that was sent to an upstream, if any was. `milliseconds` is the time until the request was
    protected, and until it ended. Raises ValueError, naming the field.
    """

    outcome: str
    status: int | None = None
    tokens: tuple[int, int] | None = None
    guard: Mapping[str, Any] | None = None
    edit: str | None = None
    code: str | None = None
    tokens_sent: int = 0
    milliseconds: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        _word(self.outcome, OUTCOMES, "outcome")
        _number(self.tokens_sent, "tokens_sent")
        for number in self.milliseconds or ():
            _number(number, "milliseconds")
        if self.status is not None:
            _integer(self.status, "status")
            if not 100 <= self.status <= 599:
                object.__setattr__(self, "status", None)
        if self.tokens is not None:
            if len(self.tokens) != 2:
                raise ValueError("tokens are two numbers")
            for number in self.tokens:
                _integer(number, "tokens")
            if not all(0 <= number <= _MOST_TOKENS for number in self.tokens):
                object.__setattr__(self, "tokens", None)
        if self.guard is not None:
            object.__setattr__(self, "guard", _guard_counts(self.guard))
        if self.edit is not None:
            _match(_REQUEST_ID, self.edit, "edit")
        if self.code is not None:
            _match(_CODE, self.code, "code")


def outcome_of(code: str) -> str:
    """Returns the outcome of a request that ended with an error of this code, for its record and for the log."""
    return _OF_UPSTREAMS.get(code, "refused")


def parties(**known: str) -> dict[str, str]:
    """Returns those of the members of `PARTIES` that have a value which a receipt may hold."""
    return {name: value for name, value in known.items() if PARTIES[name].fullmatch(value)}


def is_request_id(text: str) -> bool:
    """Tells whether the text has the form of a request id."""
    return _REQUEST_ID.fullmatch(text) is not None


def _check_corrections(corrections: Mapping[str, Mapping[str, int | str]]) -> None:
    for kind, members in corrections.items():
        _word(kind, CORRECTIONS, "corrections")
        if not isinstance(members, Mapping) or members.keys() - {"digest"} != {"asked", "applied", "stored"}:
            raise ValueError("corrections are not counts")
        for name, value in members.items():
            if name == "digest":
                _match(_DIGEST, value, "corrections.digest")
            else:
                _number(value, "corrections")


def _check_attachments(attachments: Sequence[Mapping[str, int | str]]) -> None:
    for each in attachments:
        if each.keys() - {"pages"} != {"kind", "action", "digest"}:
            raise ValueError("attachments have other members")
        _word(each["kind"], ATTACHMENT_KINDS, "attachments.kind")
        _word(each["action"], ATTACHMENT_ACTIONS, "attachments.action")
        _match(_SHA256, each["digest"], "attachments.digest")
        _number(each.get("pages", 0), "attachments.pages")


def _guard_counts(verdict: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the action and the counts of findings by kind. Drops everything else."""
    action, counts = verdict.get("action"), verdict.get("findings", {})
    _word(action, GUARD_ACTIONS, "guard.action")
    if not isinstance(counts, Mapping):
        raise ValueError("guard.findings are not counts by kind")
    for kind, count in counts.items():
        _word(kind, GUARD_KINDS, "guard.findings")
        _number(count, "guard.findings")
    return {"action": action, "findings": dict(counts)}


def _match(pattern: re.Pattern[str], value: object, name: str) -> None:
    if not isinstance(value, str) or pattern.fullmatch(value) is None:
        raise ValueError(f"{name} is not of the form a receipt may hold")


def _word(value: object, known: frozenset[str], name: str) -> None:
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name} is none of the words a receipt may hold")


def _integer(value: object, name: str) -> None:
    if not isinstance(value, int):
        raise ValueError(f"{name} is not a number")


def _number(value: object, name: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST:
        raise ValueError(f"{name} is not a count")
