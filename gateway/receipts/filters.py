"""Selects requests by what their receipts say. The API takes the members as query parameters, commands as options."""

import re
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from pydantic.json_schema import SkipJsonSchema

from gateway.errors import Unprocessable
from gateway.receipts.drafts import OPERATIONS, OUTCOMES, PARTIES
from gateway.store.rows import ReceiptFilter

_MOST_WORDS = 32
_AGE = re.compile(r"([0-9]{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_INSTANT = re.compile(
    rf"{_DAY.pattern}T[0-9]{{2}}:[0-9]{{2}}(:[0-9]{{2}}(\.[0-9]{{1,6}})?)?(Z|[+-][0-9]{{2}}:[0-9]{{2}})"
)
_TIME = "must be a time such as 2026-01-31T08:00:00Z, a day such as 2026-01-31, or an age such as 2h or 30d"

# Not a key itself, which would show in the address or in the list of processes, and be repeated.
_KEY = re.compile(r"(?!.*svck_)[^\x00-\x1f\x7f\ud800-\udfff]{1,128}")
_POLICY = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_TYPE = re.compile(r"[A-Z0-9_]{1,64}")
_NO_TYPE = "must be the name of an entity type, such as EMAIL_ADDRESS"


def _any(words: frozenset[str]) -> tuple[Callable[[str], object], str]:
    return words.__contains__, f"must be one of {', '.join(sorted(words))}"


# The check of each value of a member, and the refusal.
_CHECKS: Mapping[str, tuple[Callable[[str], object], str]] = {
    "key": (_KEY.fullmatch, "must be the id or the label of a key, or the digest of a credential, and no key itself"),
    "policy": (_POLICY.fullmatch, "must be the id of a policy"),
    "type": (_TYPE.fullmatch, _NO_TYPE),
    "outcome": _any(OUTCOMES),
    "operation": _any(OPERATIONS),
    "model": (PARTIES["model"].fullmatch, "must be the name of a model"),
}


def _words(description: str, **items: Any) -> Any:
    # Unlike a plain default, that of a factory does not appear in the OpenAPI document.
    schema: dict[str, Any] = {"items": {"type": "string", **items}}
    return Field(default_factory=tuple[str, ...], description=description, json_schema_extra=schema)


def _time(description: str) -> Any:
    return Field(default_factory=lambda: None, description=description)


def _start(text: str | None) -> str | None:
    return None if text is None else _written(_read_time(text)[0])


def _end(text: str | None) -> str | None:
    return None if text is None else _written(_read_time(text)[1])


Words = tuple[str, ...]


class Filter(BaseModel):
    """Selects requests. Of several values of one member, any will do; every member that is given must fit.

    After validation, times are RFC 3339 in UTC with milliseconds, as in records.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    key: Words = _words("Id or label of the API key, or digest of the provider's credential.", minLength=1)
    since: Annotated[str | SkipJsonSchema[None], AfterValidator(_start)] = _time(
        "From this time, day (UTC) or age on, such as `2026-01-31T08:00:00Z`, `2026-01-31` or `2h`."
    )
    until: Annotated[str | SkipJsonSchema[None], AfterValidator(_end)] = _time(
        "Before this time or age, or up to the end of this day (UTC)."
    )
    policy: Words = _words("Id of the policy.")
    type: Words = _words("Entity type that was found.")
    outcome: Words = _words("How the request ended.", enum=sorted(OUTCOMES))
    operation: Words = _words("The operation requested.", enum=sorted(OPERATIONS))
    model: Words = _words("Name of the model.")

    @field_validator(*_CHECKS)
    @classmethod
    def _check(cls, words: Words, info: ValidationInfo) -> Words:
        check, problem = _CHECKS[str(info.field_name)]
        if len(words) > _MOST_WORDS:
            raise ValueError(f"must have at most {_MOST_WORDS} values")
        if not all(map(check, words)):
            raise ValueError(problem)
        return tuple(dict.fromkeys(words))

    @field_validator("until")
    @classmethod
    def _in_order(cls, until: str | None, info: ValidationInfo) -> str | None:
        since = info.data.get("since")
        if since is not None and until is not None and until <= since:
            raise ValueError("must be later than `since`")
        return until

    @classmethod
    def of(cls, given: Mapping[str, object]) -> Self:
        """Makes a filter of values from a command line. Raises Unprocessable, in the words of the API."""
        try:
            return cls.model_validate({name: value for name, value in given.items() if value is not None})
        except ValidationError as error:
            first = error.errors()[0]
            name, message = str(first["loc"][0]), str(first["msg"]).removeprefix("Value error, ")
            raise Unprocessable(f"`{name}`: {message}.", param=name) from None

    @property
    def given(self) -> dict[str, str]:
        """The members that are given, in words."""
        members = ((name, getattr(self, name)) for name in Filter.model_fields)
        return {name: value if isinstance(value, str) else ", ".join(value) for name, value in members if value}

    def sought(self, owner: str | None = None) -> ReceiptFilter:
        """Returns it as the store takes it, for the requests of one key or of all."""
        return ReceiptFilter(
            owner=owner,
            keys=self.key,
            since=self.since,
            until=self.until,
            policies=self.policy,
            types=self.type,
            outcomes=self.outcome,
            operations=self.operation,
            models=self.model,
        )

    def check_types(self, found: Collection[str], others: Callable[[], Collection[str]]) -> None:
        """Raises Unprocessable for a type that was never found, and that is none of the others."""
        if not set(self.type) <= set(found) and not set(self.type) <= {*found, *others()}:
            names = f"of those found here, {', '.join(sorted(found))}, or " if found else ""
            raise Unprocessable(f"`type`: must be one {names}of those in docs/entities.md.", param="type")


NO_FILTER = Filter()


def _read_time(text: str) -> tuple[datetime, datetime]:
    """Returns the time that a text means, and for a day its start and its end. Raises ValueError."""
    try:
        if match := _AGE.fullmatch(text):
            then = datetime.now(UTC) - timedelta(**{_UNITS[match[2]]: int(match[1])})
            return then, then
        if _DAY.fullmatch(text):
            day = datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC)
            return day, day + timedelta(days=1)
        if _INSTANT.fullmatch(text):
            instant = datetime.fromisoformat(text).astimezone(UTC)
            return instant, instant
    except (ValueError, OverflowError):
        pass
    raise ValueError(_TIME)


def _written(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
