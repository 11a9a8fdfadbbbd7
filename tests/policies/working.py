"""A policy at work, with everything of the gateway; detection too, unless a case says what is found."""

import re
from collections.abc import Mapping
from typing import Any

from gateway.detection import EntityType, builtin_detector
from gateway.detection.engines import Finder
from gateway.errors import Forbidden
from gateway.models import Entity, PrivacyMode
from gateway.placeholders import Placeholders
from gateway.policy.model import Policy
from gateway.protection.protector import Protector
from gateway.text.fields import TextField

_KEY = bytes(32)


class SaidToBe(Finder):
    """Detection that finds exactly what a case says: `value`, of `type` in `group`, with `score`."""

    version = "said"

    def __init__(self, case: Mapping[str, Any]) -> None:
        self._case = case
        self.types: Mapping[str, EntityType] = {}
        if "type" in case:
            self.types = {case["type"]: EntityType(case["type"], case["group"], "")}

    def detect(self, text: str) -> tuple[Entity, ...]:
        if "type" not in self._case:
            return ()
        start = text.index(self._case["value"])
        end = start + len(self._case["value"])
        return (Entity(self._case["type"], start, end, self._case["score"], "said"),)


def protect(policy: Policy, case: Mapping[str, Any], *, detect: bool = False) -> str:
    """The protected text, with `*` for the tag of each placeholder, or `blocked`."""
    text = case.get("text") or f"It says {case['value']} here."
    holder = {"text": text}
    protector = Protector(builtin_detector() if detect else SaidToBe(case), hash_key=_KEY)
    try:
        blocks = [[TextField(holder, "text", text)]]
        protector.protect(blocks, policy, PrivacyMode(case["mode"]), Placeholders(_KEY))
    except Forbidden:
        return "blocked"
    return re.sub(r"\[([A-Z][A-Z0-9_]*)_[0-9A-HJKMNP-TV-Z]{5,}\]", r"[\1_*]", holder["text"])
