"""Defines the value types that all parts of the gateway share. They are frozen and do no I/O.

Offsets count Unicode code points of the original text. Times are aware datetimes in UTC.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal, NamedTuple

Family = Literal["openai", "anthropic", "gemini", "bedrock", "ollama", "cohere"]
"""The API of a model provider: its paths, where keys go, and the shape of its errors."""
LONGEST_TASK = 4000
"""Maximum length of a request's `task`, in characters."""


class Action(StrEnum):
    """The action of a policy on an entity. Only `placeholder` is reversible."""

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
    """How much harm a leak of the text could do."""

    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class PrivacyMode(StrEnum):
    """How cautious detection is. `strict` also hides text that is only probably private; see docs/policies.md."""

    STANDARD = "standard"
    STRICT = "strict"


class Scope(StrEnum):
    """The permissions of a key. `client` includes every scope below it, `operator` also administration."""

    OPERATOR = "operator"
    CLIENT = "client"
    CHAT = "chat"
    ANALYZE = "analyze"
    PROTECT = "protect"
    RECONSTRUCT = "reconstruct"
    RECEIPTS = "receipts:read"


CLIENT_SCOPES = frozenset(Scope) - {Scope.OPERATOR, Scope.CLIENT}


class Trust(StrEnum):
    """Whether a model surface is inside the company's own trust boundary."""

    EXTERNAL = "external"
    LOCAL = "local"


NAME_MODEL = "names"
"""The recognizer of what the built-in name model finds."""

CORRECTION = "correction"
"""The recognizer of what a caller has hidden."""

OWN_RECOGNIZER = "policy:"
"""Begins the recognizer of what a policy's own lists and patterns find."""


class Entity(NamedTuple):
    """A span of private text: `recognizer` found `text[start:end]` to be of `type` with confidence `score` (0–1)."""

    type: str
    start: int
    end: int
    score: float
    recognizer: str


class Transformation(NamedTuple):
    """How one entity was replaced. `start:end` is in the source text, `protected_start:protected_end` in the result."""

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
    """A warning that a person can act on. Never contains source text."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Risk:
    """A risk level and score (0–100) with reasons as sentences. Contains no source text."""

    level: RiskLevel
    score: int
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Route:
    """A routing decision with reasons as sentences. Contains no source text."""

    decision: RouteDecision
    reasons: tuple[str, ...] = ()


class ReceiptRef(NamedTuple):
    """Names a receipt. `body` is its record as JSON, which holds no private text."""

    request_id: str
    sequence: int
    body: str


@dataclass(frozen=True, slots=True)
class PolicyRef:
    """Identifies one immutable policy document. `hash` is the SHA-256 of its RFC 8785 form, in hex."""

    id: str
    version: int
    hash: str


class Quota(NamedTuple):
    """The most that a key may ask for in a calendar day or month, in UTC."""

    unit: Literal["requests", "characters"]
    amount: int
    period: Literal["day", "month"]


@dataclass(frozen=True, slots=True)
class Grant:
    """The restrictions of a key. Without policies, models or quotas, any policy or model, and any number.

    `models` are names, or patterns in which `*` matches anything. The first policy replaces the default policy
    where that one is not permitted. `upstreams` are those whose AWS credentials may sign its requests; none by default.
    """

    scopes: frozenset[Scope] = CLIENT_SCOPES
    policies: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    quotas: tuple[Quota, ...] = ()
    upstreams: tuple[str, ...] = ()


UNRESTRICTED = Grant()


class RefusedText(NamedTuple):
    """The text of a refused request in numbers: the policy, estimated tokens, entities by type, and the risk."""

    policy: PolicyRef
    tokens: int
    entity_counts: Mapping[str, int]
    risk: RiskLevel


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request: the id of its key, `client` or `operator`, and what the key is restricted to.

    All callers without a credential share one id. `label` is the key's. `credential` is the digest of the provider's
    credential that was sent in addition to a key, or in place of one.
    """

    key_id: str
    scope: Scope
    identified: bool = True
    grant: Grant = UNRESTRICTED
    label: str = ""
    credential: str = ""

    @property
    def has_key(self) -> bool:
        """Whether the caller sent a gateway key. Proxy clients may send a provider's credential instead."""
        return not self.key_id.startswith("proxy_")

    @property
    def remembered_as(self) -> str | None:
        """Returns the owner for cached detection results; None for callers without a credential."""
        return self.key_id if self.identified else None


@dataclass(frozen=True, slots=True)
class SessionGrant:
    """Credentials of a vault session, shown once to its owner."""

    session_id: str
    session_token: str = field(repr=False)
    expires_at: datetime
