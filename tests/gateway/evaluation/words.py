"""A finder of given words, so that tests show the findings in the text itself."""

import re
from collections.abc import Mapping
from typing import Self

from gateway.config.locations import BUILTIN_POLICIES
from gateway.detection import EntityType
from gateway.detection.engines import Finder
from gateway.evaluation.predictor import Predictor
from gateway.models import Entity, PrivacyMode
from gateway.policy.registry import PolicyRegistry
from gateway.protection.protector import Protector

POLICIES = PolicyRegistry(BUILTIN_POLICIES)
_MARK = re.compile(r"<([A-Z_]+) ([^<>]+)>")
_GROUPS = {
    "PERSON": "person",
    "EMAIL_ADDRESS": "contact",
    "PHONE_NUMBER": "contact",
    "US_SSN": "government_id",
    "URL": "network",
    "API_KEY": "secret",
}


class Words(Finder):
    """Finds each value, at every position, as its type."""

    version = "words"

    def __init__(self, values: Mapping[str, str], score: float = 0.9) -> None:
        self._values = values
        self._score = score
        self.types = {name: EntityType(name, group, "") for name, group in _GROUPS.items()}

    @classmethod
    def marked(cls, text: str) -> tuple[Self, str]:
        """A finder of what is marked `<TYPE value>`, and the text without the marks."""
        return cls({match[2]: match[1] for match in _MARK.finditer(text)}), _MARK.sub(r"\2", text)

    def detect(self, text: str) -> tuple[Entity, ...]:
        found = (
            Entity(kind, match.start(), match.end(), self._score, "words")
            for value, kind in self._values.items()
            for match in re.finditer(re.escape(value), text)
        )
        return tuple(sorted(found, key=lambda one: one.start))


def seeker(
    finder: Finder, mode: PrivacyMode = PrivacyMode.STANDARD, policy: str = "default", min_score: float | None = None
) -> Predictor:
    """Predicts with the findings of `finder`."""
    return Predictor(Protector(finder, hash_key=bytes(32)), POLICIES.get(policy), mode, min_score)
