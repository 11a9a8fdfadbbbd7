"""Implements batches of the Gemini API: POST …/models/MODEL:batchGenerateContent, and the calls on a batch.

The call has all requests in it, and the answer about a batch that has ended its results. Requests in a file, which the
API takes as well, cannot be protected.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from gateway.config.settings import CONFIGURED_UPSTREAM
from gateway.errors import BadRequest
from gateway.http.strict_json import dump
from gateway.http.types import Field
from gateway.models import Family
from gateway.text.answers import AnswerText
from gateway.wires.base import Body, Conversation, Wire
from gateway.wires.batches import ID, BatchWire, CallKind, Request, at, request_in
from gateway.wires.gemini import WIRE as GEMINI
from gateway.wires.gemini_request import camel
from gateway.wires.members import object_at, objects_at, text_at
from gateway.wires.reading import non_empty_list

_CALLS: tuple[tuple[str, str, CallKind], ...] = (
    ("POST", r"v1(?:alpha|beta)?\d*/models/(?P<model>\w[\w.@+-]*):batchGenerateContent", "create"),
    # At /v1/batches are those of OpenAI's API.
    ("GET", r"v1(?:alpha|beta)\d*/batches", "list"),
    ("GET", rf"v1(?:alpha|beta)\d*/batches/(?P<id>{ID})", "read"),
    ("POST", rf"v1(?:alpha|beta)\d*/batches/(?P<id>{ID}):cancel", "cancel"),
    ("DELETE", rf"v1(?:alpha|beta)\d*/batches/(?P<id>{ID})", "delete"),
)
# The members that lead to the list of requests.
_WAY = ("batch", "inputConfig", "requests", "requests")
_RESULTS = "inlinedResponses"


# Where a body notes the model that the path names.
_MODEL = "model"


class GeminiBatches(BatchWire):
    """The wire. Stateless."""

    id = "gemini-batches"
    family: Family = "gemini"
    calls = tuple(
        (method, re.compile(rf"(?:/[\w.-]+)*?/(?P<path>{rest})\Z", re.ASCII), kind) for method, rest, kind in _CALLS
    )
    known = frozenset("batch inputConfig input_config requests displayName display_name priority".split())
    holds = "requests"
    listed = "operations"

    def model(self, body: Body, path: str) -> object:
        called = self.calls[0][1].match(path)
        return called[_MODEL] if called else CONFIGURED_UPSTREAM

    def method_path(self, path: str, model: str) -> str:
        called = self.calls[0][1].match(path)
        return f"v1beta/models/{model}:batchGenerateContent" if called else super().method_path(path, model)

    def read(self, body: Body, path: str = "") -> Conversation:
        """Takes the requests out of their place in a body, and puts them and the model beside it."""
        if body:
            found = _taken(body, _WAY)
            body |= {self.holds: found, _MODEL: self.model(body, path.partition("?")[0])}
        return super().read(body, path)

    def unsearched(self, body: Body) -> frozenset[str]:
        return frozenset({self.holds, _MODEL})

    def requests(self, body: Body) -> Iterator[Request]:
        path = f"/v1beta/models/{body[_MODEL]}:generateContent"
        given = non_empty_list(body, self.holds)
        for number, holder in enumerate(given):
            given[number] = None
            with at(where := f"`requests[{number}]`"):
                request = request_in(holder, where, "request", GEMINI, path, frozenset(), has_id=False)
            yield request

    def assembled(self, body: Body, requests: Sequence[bytes]) -> tuple[bytes, Field | None]:
        rest = dump({name: value for name, value in body.items() if name not in self.unsearched(body)})
        # The list is the last thing in each of the objects.
        end = len(_WAY) + 1
        return rest[:-end] + b",".join(requests) + rest[-end:], None

    def name_of(self, batch: Body) -> object:
        return text_at(batch, "name").removeprefix("batches/")

    def answer_in(self, line: Body) -> tuple[Wire, Body] | None:
        answer = line.get("response")
        return (GEMINI, answer) if isinstance(answer, dict) else None

    def results_in(self, answer: Body) -> Iterator[Body]:
        for holder in (object_at(answer, "response"), object_at(object_at(answer, "metadata"), "output")):
            yield from objects_at(object_at(holder, _RESULTS), _RESULTS)

    def answer_texts(self, body: Body) -> list[AnswerText]:
        """Returns the strings of an answer beside the results in it."""
        return [*_beside(body)]


def _taken(body: Body, way: Sequence[str]) -> Any:
    """Takes the value at the end of a way out of a body, and leaves an empty list. Raises BadRequest."""
    known, *rest = way
    name = next((each for each in body if camel(each) == known), "")
    value = body.pop(name, None)
    if rest and not isinstance(value, dict):
        raise BadRequest("Only requests in the call itself can be protected, as `inputConfig.requests`.", param="batch")
    body[name] = value if rest else []
    return _taken(value, rest) if rest else value


def _beside(value: Any) -> Iterator[AnswerText]:
    for name, member in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(member, str):
            yield AnswerText(value, name, member)
        elif isinstance(member, dict | list) and name != _RESULTS:
            yield from _beside(member)


WIRE = GeminiBatches()
