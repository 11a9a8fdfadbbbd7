"""The value types every part of the gateway shares. Frozen, without I/O, without behaviour beyond their own fields.

Offsets are Unicode code points of the text as sent. Times are aware datetimes in UTC.
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

LONGEST_TASK = 4000
"""What a request says of its task, in characters."""


class Action(StrEnum):
    """What a policy does with a finding. Only `placeholder` can be undone."""

    PLACEHOLDER = "placeholder"
    MASK = "mask"
    GENERALIZE = "generalize"
    HASH = "hash"
    REDACT = "redact"
    KEEP = "keep"
    BLOCK = "block"


class RouteDecision(StrEnum):
    """Where a request may go, from least to most restricted."""

    DIRECT = "direct"
    PROTECTED = "protected"
    SHARD = "shard"
    LOCAL = "local"
    BLOCKED = "blocked"


class RiskLevel(StrEnum):
    """How much harm the text could do if it leaked."""

    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class PrivacyMode(StrEnum):
    """`strict` also hides what is only probably private; see docs/policies.md."""

    STANDARD = "standard"
    STRICT = "strict"


class Scope(StrEnum):
    """What a key may do: clients use the gateway, operators also run it."""

    CLIENT = "client"
    OPERATOR = "operator"


class Trust(StrEnum):
    """Whether a model surface lies inside the company's own trust boundary."""

    EXTERNAL = "external"
    LOCAL = "local"


@dataclass(frozen=True, slots=True)
class Entity:
    """One finding: `text[start:end]` is of `type` with confidence `score` (0–1), said by `recognizer`."""

    type: str
    start: int
    end: int
    score: float
    recognizer: str


@dataclass(frozen=True, slots=True)
class Transformation:
    """What became of one finding. `start:end` lies in the source, `protected_start:protected_end` in the result."""

    type: str
    action: Action
    placeholder: str | None
    start: int
    end: int
    protected_start: int
    protected_end: int
    score: float


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning a person can act on. Never repeats source text."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Risk:
    """Level and score (0–100) with the reasons in words; no source text."""

    level: RiskLevel
    score: int
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Route:
    """The decision with its reasons in words; no source text."""

    decision: RouteDecision
    reasons: tuple[str, ...] = ()


class ReceiptRef(NamedTuple):
    """Names a receipt. `body` is its record as JSON, which holds no private text."""

    request_id: str
    sequence: int
    body: str


@dataclass(frozen=True, slots=True)
class PolicyRef:
    """Names one immutable policy document: `hash` is SHA-256 over its RFC 8785 form, in hex."""

    id: str
    version: int
    hash: str


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: the id of the key, and what it may do. Without a credential, all who ask share one id."""

    key_id: str
    scope: Scope
    identified: bool = True

    @property
    def remembered_as(self) -> str | None:
        """Whose searched texts are remembered together; None for those whom no credential tells apart."""
        return self.key_id if self.identified else None


@dataclass(frozen=True, slots=True)
class SessionGrant:
    """Credentials of a vault session, shown to its owner once."""

    session_id: str
    session_token: str = field(repr=False)
    expires_at: datetime
