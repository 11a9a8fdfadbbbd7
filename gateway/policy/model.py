"""Defines resolved policies: frozen, and fast to query.

The gateway calls `rule_for` and `allows` for every entity, and `find` for every text.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

from gateway.models import Action, Entity, PolicyRef, PrivacyMode
from gateway.policy.document import GuardDocument, RestoreDocument, RouteDocument, SessionDocument, StreamingDocument
from gateway.policy.lists import AllowList
from gateway.policy.matching import Matcher
from gateway.policy.rules import Rule, RuleBook, RuleOptions

__all__ = ["Policy", "Rule", "RuleOptions"]


@dataclass(frozen=True, slots=True)
class Policy:
    """One version of one policy. Policies with the same hash are identical."""

    id: str
    version: int
    title: str
    description: str
    builtin: bool
    hash: str
    attachments: Literal["refuse", "pass"]
    restore: RestoreDocument
    guard: GuardDocument
    route: RouteDocument
    session: SessionDocument
    streaming: StreamingDocument
    canonical: bytes = field(repr=False)
    """The resolved document in RFC 8785 form, whose SHA-256 is `hash`."""
    rules: RuleBook = field(repr=False, compare=False)
    allow_list: AllowList = field(repr=False, compare=False)
    matcher: Matcher | None = field(repr=False, compare=False)
    ref: PolicyRef = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ref", PolicyRef(self.id, self.version, self.hash))

    @property
    def document(self) -> dict[str, Any]:
        """Returns a copy of the resolved document with its `hash`, as `GET /v1/policies/{id}` does."""
        document: dict[str, Any] = orjson.loads(self.canonical)
        document["hash"] = self.hash
        return document

    @property
    def own_types(self) -> Mapping[str, str]:
        """Maps the types of this policy's deny list and patterns to their group, which is always `custom`."""
        return dict.fromkeys(sorted(self.rules.own_types), "custom")

    def rule_for(self, type: str, group: str, mode: PrivacyMode) -> Rule:
        """Returns the rule for an entity: the most specific one, overridden by strict rules in strict mode."""
        return self.rules.rule_for(type, group, mode)

    def weight_of(self, type: str, group: str, mode: PrivacyMode) -> int:
        """How much the mere presence of a type restricts where a text may go, from 0 (not at all) to 2 (blocked)."""
        blocks = self.rules.rule_for(type, group, mode).action is Action.BLOCK
        return 2 if blocks else self.route.restricts(type, group)

    def find(self, text: str) -> tuple[Entity, ...]:
        """Finds terms of the deny list and matches of the policy's patterns, sorted by start. They may overlap.

        Raises Unavailable (`detection_failed`) if the search is incomplete.
        """
        return self.matcher.find(text) if self.matcher is not None else ()

    def allows(self, type: str, value: str) -> bool:
        """Whether the allow list contains this value."""
        return self.allow_list.allows(type, value)
