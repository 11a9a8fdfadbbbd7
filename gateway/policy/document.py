"""Defines the schema of policy documents (TOML or JSON): every field and limit.

`parse` validates a document as written; `ResolvedDocument` also has all inherited and default values. Errors are
Unprocessable with the path of the field; messages contain fields and limits, but no values.
"""

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import orjson
from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from gateway.errors import TooLarge, Unprocessable
from gateway.policy.attachments import AttachmentsDocument, Handling

MAX_BYTES = 64 * 1024
MAX_RULES = 64
MAX_PATTERNS = 32
MAX_PATTERN_CHARS = 512
MAX_LIST_ENTRIES = 1000
MAX_DENY_TYPES = 32
_MOST_FAULTS = 8

_GROUPS = "person contact address organization financial government_id health secret network device temporal account"
GROUPS = (*_GROUPS.split(), "custom")

# Excludes control characters, line breaks, and bidirectional formatting characters, which can disguise a line
# (Unicode Standard Annex 9, section 2).
_LINE = r"^[^\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$"
_LINES = r"^[^\x00-\x08\x0b-\x1f\x7f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]*$"
TYPE = r"^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$"
PolicyId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=64)]
TypeName = Annotated[str, StringConstraints(pattern=TYPE, max_length=48)]
RuleKey = Annotated[str, StringConstraints(max_length=48)]
ToolName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.:/-]+$", max_length=128)]
Term = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Score = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
RiskScore = Annotated[int, Field(ge=1, le=100)] | Literal["off"]
Seconds = Annotated[int, Field(ge=60, le=86400)]

ActionName = Literal["placeholder", "mask", "generalize", "hash", "redact", "keep", "block"]
GuardActionName = Literal["off", "flag", "redact", "replace"]

_OPTION_OF = {
    "keep_last": "mask",
    "mask_with": "mask",
    "to": "generalize",
    "oldest_year": "generalize",
    "hash_length": "hash",
}


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)


class RuleDocument(_Part):
    """A rule for the entities of a type or group. A less specific rule supplies what it omits."""

    action: ActionName | None = None
    min_score: Score | None = Field(None, description="Ignores entities below this confidence.")
    keep_last: Annotated[int, Field(ge=0, le=4)] | None = None
    """mask: number of final characters to keep."""
    mask_with: Literal["*", "#", "X", "•"] | None = None
    to: Literal["year", "area", "network", "band", "age_90"] | None = None
    """generalize: target. Default: depends on the type."""
    oldest_year: Annotated[int, Field(ge=1900, le=2100)] | None = None
    """generalize to year: merges this year and all earlier ones."""
    hash_length: Annotated[int, Field(ge=8, le=64)] | None = Field(None, description="hash: number of hex digits.")

    @model_validator(mode="after")
    def _says_something(self) -> "RuleDocument":
        said = self.model_dump(exclude_none=True)
        if not said:
            raise ValueError("the rule is empty; set at least one field")
        for option in said:
            wanted = _OPTION_OF.get(option)
            if wanted is not None and self.action not in (None, wanted):
                raise ValueError(f"`{option}` belongs to the action `{wanted}`")
        return self


def _known_keys(rules: Mapping[str, RuleDocument]) -> Mapping[str, RuleDocument]:
    for key, rule in rules.items():
        if key not in GROUPS and not re.fullmatch(TYPE, key):
            raise ValueError("name a rule for a TYPE_IN_CAPITALS or one of the groups: " + ", ".join(GROUPS))
        if key == "secret" and rule.keep_last:
            raise ValueError("`keep_last` is not allowed for secrets, which are never shown in part; remove it")
    return rules


def _types_or_groups(names: list[str]) -> list[str]:
    if any(name not in GROUPS and not re.fullmatch(TYPE, name) for name in names):
        raise ValueError("use a TYPE_IN_CAPITALS or one of the groups: " + ", ".join(GROUPS))
    return names


Rules = Annotated[dict[RuleKey, RuleDocument], AfterValidator(_known_keys)]


class StrictDocument(_Part):
    """Overrides for the privacy mode `strict`."""

    otherwise: RuleDocument | None = None
    rules: Rules = Field(default_factory=dict)


class AllowDocument(_Part):
    """Values that are never hidden. Compares whole values. `types` limits it to entities of these types."""

    values: list[Term] = Field(min_length=1, max_length=MAX_LIST_ENTRIES, repr=False)
    types: list[TypeName] | None = Field(None, min_length=1, max_length=64)
    ignore_case: bool = False


class DenyDocument(_Part):
    """Terms that are always hidden, as entities of `type` with score 1."""

    type: TypeName
    terms: list[Term] = Field(min_length=1, max_length=MAX_LIST_ENTRIES, repr=False)
    ignore_case: bool = True
    whole_word: bool = True


class PatternDocument(_Part):
    """An expression in RE2 syntax. If it has a group named `value`, only that group is the entity."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=40)]
    type: TypeName
    regex: Annotated[str, StringConstraints(min_length=1, max_length=MAX_PATTERN_CHARS)]
    score: Score = 0.8
    context: list[Annotated[str, StringConstraints(min_length=2, max_length=64)]] = Field(
        default_factory=list, max_length=20
    )
    """Words whose presence near a match raises its score."""
    needs_context: bool = Field(False, description="Ignores matches without a context word nearby.")

    @model_validator(mode="after")
    def _context_to_need(self) -> "PatternDocument":
        if self.needs_context and not self.context:
            raise ValueError("`needs_context` would never match without `context`; list at least one word")
        return self


class RestoreDocument(_Part):
    """Where values may be restored."""

    # `source` restores only URLs that occur in the protected request.
    urls: Literal["source", "never", "always"] = "source"
    tool_arguments: bool | Annotated[list[ToolName], Field(max_length=64)] = Field(
        True, validation_alias=AliasChoices("tool_arguments", "tool_calls")
    )
    """Whether in the arguments of tool calls, or the tools in whose arguments."""

    @field_validator("tool_arguments", mode="wrap")
    @classmethod
    def _all_or_some(cls, given: Any, check: Callable[[Any], bool | list[str]]) -> bool | list[str]:
        try:
            return check(given)
        except ValidationError:
            raise ValueError("use true, false, or a list of at most 64 names of tools") from None

    def in_arguments_of(self, tool: str | None) -> bool:
        """Whether values may be restored in the arguments of a call of `tool`."""
        allowed = self.tool_arguments
        return allowed if isinstance(allowed, bool) else tool in allowed


class GuardDocument(_Part):
    """The guard's action for each kind of finding."""

    unknown_placeholder: GuardActionName = "flag"
    forged_placeholder: GuardActionName = "flag"
    protected_value_in_clear: GuardActionName = "flag"
    new_sensitive_value: GuardActionName = "flag"
    placeholder_in_url: GuardActionName = "redact"
    instruction_to_reveal: GuardActionName = "flag"

    def of(self, kind: str) -> GuardActionName:
        """Returns the action for a kind. Raises AttributeError for an unknown kind."""
        action: GuardActionName = getattr(self, kind)
        return action


class RouteDocument(_Part):
    """Thresholds for stricter routes. Risk is 0-100.

    A text is sharded if it is longer than `shard_tokens`, or if it contains at least `shard_findings` entities and at
    least `shard_density` entities per hundred tokens. The presence of `local_types` or `blocked_types`, which are
    entity types or groups, forces the route, even if they are hidden.
    """

    shard_tokens: Annotated[int, Field(ge=100, le=1_000_000)] | Literal["off"] = 8000
    shard_findings: Annotated[int, Field(ge=1, le=100_000)] = 40
    shard_density: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)] = 10.0
    local_risk: RiskScore = "off"
    blocked_risk: RiskScore = "off"
    local_types: list[RuleKey] = Field(default_factory=list, max_length=64)
    blocked_types: list[RuleKey] = Field(default_factory=list, max_length=64)

    @field_validator("local_types", "blocked_types")
    @classmethod
    def _known_names(cls, names: list[str]) -> list[str]:
        return _types_or_groups(names)

    @property
    def most_tokens(self) -> int | None:
        """The longest text that is not sharded for its length; None if `shard_tokens` is off."""
        return None if isinstance(self.shard_tokens, str) else self.shard_tokens

    def restricts(self, type: str, group: str) -> int:
        """Returns 2 where the presence of a type or its group blocks the route, 1 where it makes it local, else 0."""
        for rank, names in ((2, self.blocked_types), (1, self.local_types)):
            if type in names or group in names:
                return rank
        return 0


class SessionDocument(_Part):
    """Limits of vault sessions, in seconds and number of values."""

    default_ttl_seconds: Seconds = 3600
    max_ttl_seconds: Seconds = 86400
    max_values: Annotated[int, Field(ge=1, le=100_000)] = 10_000

    @model_validator(mode="after")
    def _default_within(self) -> "SessionDocument":
        if self.default_ttl_seconds > self.max_ttl_seconds:
            raise ValueError("`default_ttl_seconds` must not exceed `max_ttl_seconds`")
        return self

    def within(self, bounds: "SessionDocument") -> "SessionDocument":
        """Returns the smaller of each limit."""
        return self.model_copy(update={name: min(limit, getattr(bounds, name)) for name, limit in self})


class StreamingDocument(_Part):
    """Whether answers may be streamed, and whether the guard holds them until it has inspected them."""

    allowed: bool = True
    guard: Literal["flow", "hold"] = "flow"


class _Sections(_Part):
    id: PolicyId
    title: Annotated[str, StringConstraints(min_length=1, max_length=120, pattern=_LINE)]
    description: Annotated[str, StringConstraints(max_length=8000, pattern=_LINES)] = ""
    otherwise: RuleDocument | None = None
    rules: Rules = Field(default_factory=dict)
    strict: StrictDocument = StrictDocument()
    allow: list[AllowDocument] = Field(default_factory=list, max_length=MAX_LIST_ENTRIES)
    deny: list[DenyDocument] = Field(default_factory=list, max_length=MAX_LIST_ENTRIES)
    patterns: list[PatternDocument] = Field(default_factory=list, max_length=MAX_PATTERNS)
    may_allow: list[RuleKey] | None = Field(None, max_length=64)
    """Types and groups of which callers may have single values left in clear; never secrets. Default: none."""
    attachments: Handling | AttachmentsDocument = "convert"
    restore: RestoreDocument = RestoreDocument()
    guard: GuardDocument = GuardDocument()
    route: RouteDocument = RouteDocument()
    session: SessionDocument = SessionDocument()
    streaming: StreamingDocument = StreamingDocument()

    # Validators of fields, unlike those of the model, have the error name the field.
    @field_validator("allow", "deny")
    @classmethod
    def _few_entries[T: list[AllowDocument] | list[DenyDocument]](cls, lists: T, info: ValidationInfo) -> T:
        both = [*info.data.get("allow", ()), *lists]
        entries = sum(len(one.values if isinstance(one, AllowDocument) else one.terms) for one in both)
        if entries > MAX_LIST_ENTRIES:
            raise ValueError(f"the allow and deny lists together have more than {MAX_LIST_ENTRIES} entries")
        return lists

    @field_validator("deny")
    @classmethod
    def _few_types(cls, deny: list[DenyDocument]) -> list[DenyDocument]:
        if len({one.type for one in deny}) > MAX_DENY_TYPES:
            raise ValueError(f"the deny list has more than {MAX_DENY_TYPES} types")
        return deny

    @field_validator("may_allow")
    @classmethod
    def _no_secrets(cls, names: list[str] | None) -> list[str] | None:
        if names and "secret" in names:
            raise ValueError("secrets are never left in clear; remove `secret`")
        return _types_or_groups(names) if names else names

    @field_validator("patterns")
    @classmethod
    def _distinct(cls, patterns: list[PatternDocument]) -> list[PatternDocument]:
        if len({one.name for one in patterns}) < len(patterns):
            raise ValueError("two patterns have the same name; rename one")
        return patterns


class PolicyDocument(_Sections):
    """A policy as written by its author."""

    extends: PolicyId | None = None
    version: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Only for built-in policies. The gateway numbers the versions of custom ones."""

    @field_validator("rules", "strict")
    @classmethod
    def _few_rules[T: dict[str, RuleDocument] | StrictDocument](cls, part: T, info: ValidationInfo) -> T:
        rules = part.rules if isinstance(part, StrictDocument) else part
        if len(info.data.get("rules", ())) + len(rules) > MAX_RULES:
            raise ValueError(f"the policy has more than {MAX_RULES} rules")
        return part

    @field_validator("extends")
    @classmethod
    def _another(cls, extends: str | None, info: ValidationInfo) -> str | None:
        if extends is not None and extends == info.data.get("id"):
            raise ValueError("a policy cannot extend itself")
        return extends


class ExtendsRef(_Part):
    """The version of the policy that a policy extends."""

    id: PolicyId
    version: int
    hash: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class ResolvedDocument(_Sections):
    """A policy merged with all it extends, with every default filled in."""

    version: Annotated[int, Field(ge=1)]
    builtin: bool
    extends: ExtendsRef | None = None


def parse(document: Mapping[str, Any]) -> PolicyDocument:
    """Validates a document as written. Raises TooLarge (over 64 KiB as JSON) or Unprocessable with the field."""
    try:
        size = len(orjson.dumps(dict(document)))
    except (orjson.JSONEncodeError, TypeError):
        raise Unprocessable("The policy contains a value that JSON cannot represent.") from None
    if size > MAX_BYTES:
        raise TooLarge(f"The policy is larger than {MAX_BYTES // 1024} KiB.")
    return checked(PolicyDocument, document)


def checked[T: BaseModel](model: type[T], document: Mapping[str, Any], context: object = None) -> T:
    """Validates `document` against `model`. Raises Unprocessable with the faults and their paths."""
    try:
        return model.model_validate(dict(document), context=context)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False, include_context=False)
        raise _refusal(faults) from None


def _refusal(faults: list[Any]) -> Unprocessable:
    # A value that may have several types has a fault for each.
    reasons: dict[str, str] = {}
    for fault in faults:
        where = ".".join(_safe_name(part) for part in fault["loc"] if not _branch(part))
        reasons.setdefault(where, _reason(fault))
    first, *others = (f"{where}: {reason}" if where else reason for where, reason in reasons.items())
    said = "; ".join((first, *others[: _MOST_FAULTS - 1]))
    more = f" ({len(reasons) - _MOST_FAULTS} more)" if len(reasons) > _MOST_FAULTS else ""
    return Unprocessable(f"Policy refused: {said}.{more}", param=next(iter(reasons)) or None)


def _reason(fault: Any) -> str:
    if fault["type"] == "extra_forbidden":
        return "unknown field"
    reason = str(fault["msg"]).removeprefix("Value error, ")
    return reason[0].lower() + reason[1:]


def _branch(part: int | str) -> bool:
    """Whether a path segment is only pydantic's name for the branch of a union."""
    return isinstance(part, str) and (part in {"int", "[key]"} or "constrained-" in part or part.startswith("literal["))


def _safe_name(part: int | str) -> str:
    # An author may have pasted a private value as a key.
    return str(part) if isinstance(part, int) or re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,47}", part) else "(unnamed)"
