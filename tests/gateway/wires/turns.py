"""Turns of agents on every wire: each sends its whole history again, with calls of tools and signed thinking.

Markers of prompt caches move to the latest block, as agents move them.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gateway.wires.base import Body, Wire
from tests.gateway.wires.contract.cases import wire_of
from tests.tables import table

SIGNED = "Made1Up2" * 8 + "=="
# A thought about a placeholder is sent back to the model as it was.
THOUGHT = "They are [EMAIL_ADDRESS_ABCDE]."
_MARK = {"type": "ephemeral", "ttl": "1h"}


@dataclass(frozen=True)
class Agent:
    """An agent: its first request, what each turn adds, and the fields that a provider reads, in its order."""

    wire: Wire
    path: str
    fields: list[str]
    marks_latest: bool
    step: list[Body]
    first: Body

    def request(self, turn: int) -> Body:
        """Returns the request of a turn, counted from 0."""
        text = json.dumps(self.first).replace('"TURN"', str(1000 + turn)).replace("HEX", f"{turn:05x}")
        body: Body = json.loads(text)
        history = body[self.fields[-1]]
        for number in range(turn):
            step = json.dumps(self.step).replace("NUMBER", str(number)).replace("user@", f"user{number}@")
            history += json.loads(step)
        if self.marks_latest:
            history[-1]["content"][-1]["cache_control"] = _MARK
        return body

    def prompt(self, body: Body) -> bytes:
        """The text that a provider compares with earlier turns, without markers and members that name the request."""
        fields = [body[field] for field in self.fields]
        read = [each for field in fields for each in (field if isinstance(field, list) else [field])]
        return b"\n".join(json.dumps(_unmarked(each)).encode() for each in read if "billing" not in json.dumps(each))


def marks(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of the markers."""
    if isinstance(value, dict) and "cache_control" in value:
        yield (*path, *value["cache_control"].items())
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, each in inner:
        yield from marks(each, (*path, step))


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _unmarked(each) for name, each in value.items() if name != "cache_control"}
    return [_unmarked(each) for each in value] if isinstance(value, list) else value


AGENTS = {name: Agent(**{**agent, "wire": wire_of(agent["wire"])}) for name, agent in table(__file__).items()}
