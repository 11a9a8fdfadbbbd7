"""Defines resolved policies: frozen, and fast to query.

The gateway calls `rule_for` and `allows` for every entity, and `find` for every text.
"""

import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import orjson
import rfc8785

from gateway.detection.recognizer import OWN_GROUP
from gateway.models import OWN_RECOGNIZER, Action, Entity, PolicyRef, PrivacyMode
from gateway.policy.attachments import Handling
from gateway.policy.document import ResolvedDocument
from gateway.policy.lists import AllowList
from gateway.policy.matching import Matcher
from gateway.policy.rules import Rule, RuleBook


class Policy(ResolvedDocument):
    """One version of one policy. Policies with the same hash are identical."""

    _canonical: bytes

    def model_post_init(self, canonical: bytes | None) -> None:
        """Keeps the document in RFC 8785 form, of which `hash` is the SHA-256: as it is stored, or else as it is."""
        self._canonical = canonical or rfc8785.dumps(self.model_dump(exclude_none=True))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}@{self.version}>"

    @cached_property
    def hash(self) -> str:
        return hashlib.sha256(self._canonical).hexdigest()

    @cached_property
    def ref(self) -> PolicyRef:
        return PolicyRef(self.id, self.version, self.hash)

    @property
    def document(self) -> dict[str, Any]:
        """Returns a copy of the resolved document with its `hash`, as `GET /v1/policies/{id}` does."""
        return {**orjson.loads(self._canonical), "hash": self.hash}

    @cached_property
    def own_types(self) -> Mapping[str, str]:
        """Maps the types of this policy's deny list and patterns to their group, which is always `custom`."""
        return dict.fromkeys(
            sorted({each.type for each in self.deny} | {each.type for each in self.patterns}), "custom"
        )

    @cached_property
    def rule_book(self) -> RuleBook:
        said = self.model_dump(include={"otherwise", "rules", "strict"}, exclude_none=True)
        strict = said["strict"]
        layers = (said.get("otherwise", {}), said["rules"], strict.get("otherwise", {}), strict["rules"])
        return RuleBook(*layers, frozenset(self.own_types))

    @cached_property
    def allow_list(self) -> AllowList:
        return AllowList(self.allow)

    @cached_property
    def matcher(self) -> Matcher | None:
        return Matcher(self.deny, self.patterns) if self.own_types else None

    def rule_for(self, type: str, group: str, mode: PrivacyMode) -> Rule:
        """Returns the rule for an entity: the most specific one, overridden by strict rules in strict mode."""
        return self.rule_book.rule_for(type, group, mode)

    def weight_of(self, type: str, group: str, mode: PrivacyMode) -> int:
        """How much the mere presence of a type restricts where a text may go, from 0 (not at all) to 2 (blocked)."""
        blocks = self.rule_for(type, group, mode).action is Action.BLOCK
        return 2 if blocks else self.route.restricts(type, group)

    def may_allow_of(self, type: str, group: str, recognizer: str) -> bool:
        """Whether a caller may have a finding of this type left in clear, by `may_allow`. A secret never.

        Findings of the policy's own lists and patterns belong to the group `custom`, whatever their type.
        """
        if group == "secret" or not (listed := self.may_allow):
            return False
        if recognizer.startswith(OWN_RECOGNIZER):
            return OWN_GROUP in listed or (type in listed and group == OWN_GROUP)
        return type in listed or group in listed

    def handling_of(self, kind: str) -> Handling:
        """Returns the handling of an attached file of a kind; `other` is one that cannot be converted."""
        given = self.attachments
        handling: Handling = given if isinstance(given, str) else getattr(given, kind)
        return "refuse" if kind == "other" and handling == "convert" else handling

    def find(self, text: str) -> tuple[Entity, ...]:
        """Finds terms of the deny list and matches of the policy's patterns, sorted by start. They may overlap.

        Raises Unavailable (`detection_failed`) if the search is incomplete.
        """
        return self.matcher.find(text) if self.matcher is not None else ()

    def allows(self, type: str, value: str) -> bool:
        """Whether the allow list contains this value."""
        return self.allow_list.allows(type, value)
