"""A policy as the rest of the gateway sees it: frozen, resolved, quick to ask.

`rule_for` and `allows` are asked once per finding, `find` once per text.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

from gateway.models import Entity, PolicyRef, PrivacyMode
from gateway.policy.lists import AllowList
from gateway.policy.matching import Matcher
from gateway.policy.rules import Rule, RuleBook, RuleOptions

type GuardAction = Literal["off", "flag", "redact", "replace"]

__all__ = [
    "GuardAction",
    "GuardRules",
    "Policy",
    "RestoreRules",
    "RouteRules",
    "Rule",
    "RuleOptions",
    "SessionRules",
    "StreamingRules",
]


@dataclass(frozen=True, slots=True)
class RestoreRules:
    """Where a placeholder of an answer may become its value again.

    `urls`: `source` only in URLs that the protected source held, `never`, or `always`.
    """

    urls: Literal["source", "never", "always"]
    tool_arguments: bool


@dataclass(frozen=True, slots=True)
class GuardRules:
    """What happens to an answer, by kind of what the guard finds in it. The kinds are the field names."""

    unknown_placeholder: GuardAction
    forged_placeholder: GuardAction
    protected_value_in_clear: GuardAction
    new_sensitive_value: GuardAction
    placeholder_in_url: GuardAction
    instruction_to_reveal: GuardAction

    def of(self, kind: str) -> GuardAction:
        """By the name of the kind. Raises AttributeError for a kind that does not exist."""
        action: GuardAction = getattr(self, kind)
        return action


@dataclass(frozen=True, slots=True)
class RouteRules:
    """From when on a request takes a stricter route. Risk is 0-100; None: that route is never forced.

    A text is sharded when it is longer than `shard_tokens`, or when it holds at least `shard_findings`
    findings and at least `shard_density` of them in a hundred tokens.
    """

    shard_tokens: int | None
    shard_findings: int
    shard_density: float
    local_risk: int | None
    blocked_risk: int | None
    local_types: frozenset[str]
    blocked_types: frozenset[str]
    """Entity types or groups whose mere presence forces the route, hidden or not."""


@dataclass(frozen=True, slots=True)
class SessionRules:
    """Bounds of a vault session. Times in seconds."""

    default_ttl_seconds: int
    max_ttl_seconds: int
    max_values: int

    def within(self, bounds: "SessionRules") -> "SessionRules":
        """The smaller of each number."""
        return SessionRules(
            min(self.default_ttl_seconds, bounds.default_ttl_seconds),
            min(self.max_ttl_seconds, bounds.max_ttl_seconds),
            min(self.max_values, bounds.max_values),
        )


@dataclass(frozen=True, slots=True)
class StreamingRules:
    """`allowed`: whether answers may be streamed at all.

    `guard`: `hold` the answer until the guard has read it whole, or let it `flow`, where what the guard finds
    late can no longer be recalled.
    """

    allowed: bool
    guard: Literal["flow", "hold"]


@dataclass(frozen=True, slots=True)
class Policy:
    """One version of one policy. Two policies of the same hash are the same."""

    id: str
    version: int
    title: str
    description: str
    builtin: bool
    hash: str
    attachments: Literal["refuse", "pass"]
    restore: RestoreRules
    guard: GuardRules
    route: RouteRules
    session: SessionRules
    streaming: StreamingRules
    canonical: bytes = field(repr=False)
    """The resolved document in RFC 8785 form: what `hash` is the SHA-256 of."""
    rules: RuleBook = field(repr=False, compare=False)
    allow_list: AllowList = field(repr=False, compare=False)
    matcher: Matcher | None = field(repr=False, compare=False)
    ref: PolicyRef = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ref", PolicyRef(self.id, self.version, self.hash))

    @property
    def document(self) -> dict[str, Any]:
        """The resolved document and its `hash`, as `GET /v1/policies/{id}` serves it. A fresh copy."""
        document: dict[str, Any] = orjson.loads(self.canonical)
        document["hash"] = self.hash
        return document

    @property
    def own_types(self) -> Mapping[str, str]:
        """Types that this policy's deny list and patterns yield, with their group: always `custom`."""
        return dict.fromkeys(sorted(self.rules.own_types), "custom")

    def rule_for(self, type: str, group: str, mode: PrivacyMode) -> Rule:
        """What becomes of a finding: the most specific rule, and in strict mode the strict rules over it."""
        return self.rules.rule_for(type, group, mode)

    def find(self, text: str) -> tuple[Entity, ...]:
        """Terms of the deny list and matches of the policy's patterns, sorted by start; may overlap.

        Raises Unavailable (`detection_failed`) when the text could not be searched completely.
        """
        return self.matcher.find(text) if self.matcher is not None else ()

    def allows(self, type: str, value: str) -> bool:
        """Whether the allow list says to leave this value alone."""
        return self.allow_list.allows(type, value)
