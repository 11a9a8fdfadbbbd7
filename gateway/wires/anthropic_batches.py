"""Implements Message Batches of the Anthropic API: POST …/messages/batches, and the calls on a batch.

A batch has the requests of the Anthropic wire as `requests[].params`, its results a message or an error on each line.
"""

import re
from collections.abc import Iterator, Sequence

from gateway.config.settings import CONFIGURED_UPSTREAM
from gateway.http.strict_json import dump
from gateway.http.types import Field
from gateway.models import Family
from gateway.wires.anthropic_messages import WIRE as MESSAGES
from gateway.wires.base import Body, Wire
from gateway.wires.batches import ID, BatchWire, CallKind, Request, at, request_in
from gateway.wires.members import object_at, objects_at
from gateway.wires.reading import non_empty_list

_CALLS: tuple[tuple[str, str, CallKind], ...] = (
    ("POST", "", "create"),
    ("GET", "", "list"),
    ("GET", f"/(?P<id>{ID})", "read"),
    ("DELETE", f"/(?P<id>{ID})", "delete"),
    ("POST", f"/(?P<id>{ID})/cancel", "cancel"),
    ("GET", f"/(?P<id>{ID})/results", "results"),
)


class AnthropicBatches(BatchWire):
    """The wire. Stateless."""

    id = "anthropic-batches"
    family: Family = "anthropic"
    calls = tuple(
        (method, re.compile(rf"(?:/[\w.-]+)*?/(?P<path>v1/messages/batches{rest})\Z", re.ASCII), kind)
        for method, rest, kind in _CALLS
    )
    known = frozenset()
    holds = "requests"

    def model(self, body: Body, path: str) -> object:
        """Returns the model of the first request, which decides where the batch goes."""
        first = next(iter(objects_at(body, self.holds)), {})
        return object_at(first, "params").get("model") or CONFIGURED_UPSTREAM

    def requests(self, body: Body) -> Iterator[Request]:
        given = non_empty_list(body, self.holds)
        for number, holder in enumerate(given):
            given[number] = None
            with at(where := f"`requests[{number}]`"):
                request = request_in(holder, where, "params", MESSAGES, "/v1/messages", frozenset())
            yield request

    def assembled(self, body: Body, requests: Sequence[bytes]) -> tuple[bytes, Field | None]:
        rest = dump({**{name: body[name] for name in body if name != self.holds}, self.holds: []})
        return rest[:-2] + b",".join(requests) + rest[-2:], None

    def answer_in(self, line: Body) -> tuple[Wire, Body] | None:
        message = object_at(line, "result").get("message")
        return (MESSAGES, message) if isinstance(message, dict) else None

    def localize(self, answer: Body) -> None:
        """Has clients fetch the results where they sent the batch: SDKs would call the provider past the gateway."""
        for batch in (answer, *objects_at(answer, "data")):
            if batch.get("results_url") and isinstance(batch.get("id"), str):
                batch["results_url"] = f"/v1/messages/batches/{batch['id']}/results"


WIRE = AnthropicBatches()
