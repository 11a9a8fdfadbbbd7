"""Reads the corrections of a request: `svc_allow` and `svc_deny`. Their errors name places, never values."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple
from unicodedata import normalize

from gateway.errors import Unprocessable
from gateway.policy.document import TYPE
from gateway.policy.lists import spellings

ALLOW, DENY = "svc_allow", "svc_deny"
MOST = 100
"""Corrections of each kind in a request."""
LONGEST = 200
"""Characters of a value."""
LONGEST_TYPE = 48

_SURROGATE = re.compile("[\ud800-\udfff]")


class Denied(NamedTuple):
    """A value to hide, as an entity of `type`."""

    type: str
    value: str


@dataclass(frozen=True, slots=True, repr=False)
class Given:
    """The corrections of one request. Its repr shows none of them."""

    allow: tuple[str, ...] = ()
    deny: tuple[Denied, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.allow or self.deny)


NONE = Given()


def read_given(allow: Any, deny: Any) -> Given:
    """Checks the members `svc_allow` and `svc_deny` of a request; None is an absent one. Raises Unprocessable."""
    if allow is None and deny is None:
        return NONE
    denied = tuple(_denied(_listed(deny, DENY, "objects with `type` and `value`")))
    values = enumerate(_listed(allow, ALLOW, "strings"))
    return Given(tuple(check_value(value, f"{ALLOW}.{index}") for index, value in values), denied)


def check_value(value: object, where: str) -> str:
    """Returns a value to allow or to deny. Raises Unprocessable, with its place."""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST or _SURROGATE.search(value):
        raise _refused(where, f"must be a text of 1 to {LONGEST} characters")
    return value


def check_visible(value: str, where: str) -> str:
    """Returns a value to keep. Raises Unprocessable for one that could never be found."""
    if not spellings(check_value(value, where)):
        raise _refused(where, "has no visible characters; remove it")
    return value


def check_type(type: object, where: str) -> str:
    """Returns a type of entities. Raises Unprocessable, with its place."""
    if not isinstance(type, str) or len(type) > LONGEST_TYPE or not re.fullmatch(TYPE, type):
        raise _refused(where, f"must be a TYPE_IN_CAPITALS of at most {LONGEST_TYPE} characters")
    return type


def plain(value: str) -> str:
    """Returns what denied values are compared by, which are found in any case and with any white space."""
    return " ".join(normalize("NFC", value).casefold().split())


def _denied(items: list[Any]) -> Iterator[Denied]:
    for index, item in enumerate(items):
        where = f"{DENY}.{index}"
        if not isinstance(item, dict) or item.keys() != {"type", "value"}:
            raise _refused(where, "must be an object with `type` and `value`, and nothing else")
        yield Denied(check_type(item["type"], f"{where}.type"), check_value(item["value"], f"{where}.value"))


def _listed(value: Any, name: str, of: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > MOST:
        raise _refused(name, f"must be a list of at most {MOST} {of}")
    return value


def _refused(where: str, reason: str) -> Unprocessable:
    return Unprocessable(f"`{where}` {reason}.", param=where)
