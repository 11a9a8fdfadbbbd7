"""Hides from clients how long the receipt log is: it counts the requests of all keys."""

import re
from typing import Any

from gateway.models import Caller, Scope

_NUMBER = re.compile(r"\b[0-9]+\b")
# Members of receipts, verifications and anchors. The detail of a check names places in the log.
_OPERATORS_ONLY = frozenset({"sequence", "salt", "log", "inclusion", "checkpoint", "detail"})


def shown_to(caller: Caller, reply: dict[str, Any]) -> dict[str, Any]:
    """Returns what the caller may see of a receipt, a verification or an anchor: operators see all of it."""
    return reply if caller.scope is Scope.OPERATOR else _reduced(reply)


def without_numbers(fault: str) -> str:
    """Returns a fault of the log in words that anybody may read."""
    return _NUMBER.sub("…", fault)


def _reduced(value: Any) -> Any:
    match value:
        case dict():
            return {name: _reduced(member) for name, member in value.items() if name not in _OPERATORS_ONLY}
        case list():
            return [_reduced(item) for item in value]
    return value
