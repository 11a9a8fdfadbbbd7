"""The guard's verdict on an answer. Nothing here holds or shows a word of the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal

from gateway.placeholders import splice

type GuardAction = Literal["pass", "flag", "redact", "replace"]

WITHHELD = "[withheld]"
"""Replaces what the guard removes from an answer. No placeholder can look like it."""


class Severity(StrEnum):
    """How much harm a finding could do. A finding of low severity is never more than flagged."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Kind(StrEnum):
    """Kinds of findings."""

    UNKNOWN_PLACEHOLDER = "unknown_placeholder"
    FORGED_PLACEHOLDER = "forged_placeholder"
    PROTECTED_VALUE_IN_CLEAR = "protected_value_in_clear"
    NEW_SENSITIVE_VALUE = "new_sensitive_value"
    PLACEHOLDER_IN_URL = "placeholder_in_url"
    PLACEHOLDER_IN_MARKUP = "placeholder_in_markup"
    ENCODED_EXFILTRATION = "encoded_exfiltration"
    TOOL_CALL_EXFILTRATION = "tool_call_exfiltration"
    INSTRUCTION_TO_REVEAL = "instruction_to_reveal"
    INSTRUCTION_TO_SEND = "instruction_to_send"


_SHARED_RULES = {
    Kind.PLACEHOLDER_IN_MARKUP: "placeholder_in_url",
    Kind.ENCODED_EXFILTRATION: "placeholder_in_url",
    Kind.TOOL_CALL_EXFILTRATION: "placeholder_in_url",
    Kind.INSTRUCTION_TO_SEND: "instruction_to_reveal",
}
KINDS: Mapping[Kind, str] = MappingProxyType({kind: _SHARED_RULES.get(kind, kind.value) for kind in Kind})
"""Each kind with the name of the policy's rule that decides on it."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One finding: `text[start:end]` of a reading."""

    kind: Kind
    start: int
    end: int
    severity: Severity


@dataclass(frozen=True, slots=True)
class GuardFinding:
    """The findings of one kind and severity."""

    kind: Kind
    rule: str
    severity: Severity
    count: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """The guard's decision about an answer.

    `replace`: nothing of it reaches the client. `redact`: every part goes through `redacted` first. `flag`: it is
    sent as it is, and the findings are reported. `pass`: there are none.
    """

    action: GuardAction = "pass"
    findings: tuple[GuardFinding, ...] = ()
    _spans: Mapping[int, Sequence[tuple[int, int]]] = field(default_factory=dict, repr=False, compare=False)

    def redacted(self, part: int, text: str, *, after: int = 0) -> str:
        """The text of a part as it was inspected, without what must not stay in it and comes `after` an offset."""
        spans = self._spans.get(part, ())
        return splice(text, ((max(start, after), end, WITHHELD) for start, end in spans if end > after))

    def as_dict(self) -> dict[str, Any]:
        """The `guard` member of an answer and of an outcome record."""
        return {
            "action": self.action,
            "findings": [
                {"kind": finding.kind.value, "severity": finding.severity.value, "count": finding.count}
                for finding in self.findings
            ],
        }
