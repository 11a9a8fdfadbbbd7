"""JSON pointers (RFC 6901) to places in a body."""

from collections.abc import Collection
from typing import Any, Literal

type Steps = tuple[object, Steps] | None
"""The way to a value: its name or index, and the way to what has it; None for the body."""

_NESTED = frozenset({dict, list})
_PROTOCOL = frozenset(
    """
    content contents function_call functionCall functionResponse function input instructions messages output parts
    prompt reasoning systemInstruction system_instruction system text thinking tool_calls tools arguments args
    response parameters summary
    """.split()
)
"""Names of members that wires define. Any other may be a caller's, and private as long as it is not protected."""


type Lost = Literal[False]
LOST: Lost = False
"""The value in place of the way to what is not in the body."""


def steps_to(body: Any, containers: Collection[int]) -> dict[int, Steps]:
    """Returns the ways to the objects and lists of a body that have these identities."""
    found: dict[int, Steps] = {}
    waiting: list[tuple[Any, Steps]] = [(body, None)]
    while waiting:
        value, steps = waiting.pop()
        if id(value) in containers:
            found[id(value)] = steps
            if len(found) == len(containers):
                break
        # Messages, which come first, before the definitions of tools, in which little is hidden.
        if type(value) is dict:
            waiting += [(each, (key, steps)) for key, each in reversed(value.items()) if type(each) in _NESTED]
        else:
            waiting += [(each, (at, steps)) for at, each in enumerate(value) if type(each) in _NESTED]
    return found


def pointer(steps: Steps) -> str:
    """Returns the JSON pointer for a way."""
    parts: list[str] = []
    while steps is not None:
        key, steps = steps
        parts.append(escaped(str(key)))
    return "".join(f"/{part}" for part in reversed(parts))


def escaped(name: str) -> str:
    """Returns a name as part of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def without_own_names(steps: Steps) -> Steps:
    """Returns a way up to the first name that the caller may have chosen."""
    if steps is None:
        return None
    key, before = steps
    kept = without_own_names(before)
    return (key, kept) if kept == before and (isinstance(key, int) or key in _PROTOCOL) else kept
