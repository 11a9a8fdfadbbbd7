"""Defines what wires of batches have in common: many requests of another wire in one call, whose answers are fetched
hours later, by the name of a batch or file, as lines of JSON.
"""

import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal, NamedTuple

from gateway.config.settings import CONFIGURED_UPSTREAM
from gateway.errors import BadRequest, GatewayError, Unprocessable
from gateway.http.strict_json import check_media_type, dump, parse_object
from gateway.http.types import Field
from gateway.text.answers import AnswerText
from gateway.text.fields import MessageField, NameField
from gateway.wires.answer_reading import answer_strings
from gateway.wires.base import Body, Conversation, Wire
from gateway.wires.members import text_at
from gateway.wires.reading import FieldReader, take_own

type CallKind = Literal["create", "start", "list", "read", "cancel", "delete", "results"]
"""The purpose of a call. `create` has the requests, `start` names a file that has them."""

# The name of a batch or file, as providers choose them.
ID = r"[A-Za-z0-9][\w.-]{0,127}"
_ID = re.compile(rf"{ID}\Z", re.ASCII)


class BatchCall(NamedTuple):
    """A call on batches: what it does, the batch or file that it names, and its path below the upstream's base URL."""

    kind: CallKind
    id: str
    path: str


@dataclass(slots=True)
class Request:
    """A request in a batch: the object that has it, and its body, which `wire` reads. `where` names it in errors."""

    where: str
    holder: Body = field(repr=False)
    body: Body = field(repr=False)
    wire: Wire
    path: str
    besides: frozenset[str]


class BatchWire(Wire):
    """A wire whose calls carry batches. `calls` has the methods, paths and kinds of them."""

    calls: Sequence[tuple[str, re.Pattern[str], CallKind]]
    routes = ()
    known: frozenset[str]
    """The members of a call's body beside its requests."""
    holds = ""
    """The member with the requests."""
    listed = "data"
    """The member of a list with the batches."""

    def called(self, method: str, path: str) -> BatchCall | None:
        """Returns which call this is, if it is one of this wire. `path` has no query."""
        for given, pattern, kind in self.calls:
            if given == method and (found := pattern.match(path)) is not None:
                return BatchCall(kind, found.groupdict().get("id") or "", found["path"])
        return None

    def serves(self, method: str, path: str) -> bool:
        return self.called(method, path) is not None

    def method_path(self, path: str, model: str) -> str:
        found = (pattern.match(path) for _, pattern, _ in self.calls)
        return next((each["path"] for each in found if each is not None), path.removeprefix("/"))

    def model(self, body: Body, path: str) -> object:
        return CONFIGURED_UPSTREAM

    def set_model(self, body: Body, model: str) -> None:
        """Changes nothing: each request names its own."""

    def parse(self, content: bytes, kind: str | None, path: str) -> Body:
        """Parses the body of a call to `path` with a Content-Type. Raises UnsupportedMedia and BadRequest."""
        check_media_type(kind)
        return parse_object(content)

    def read(self, body: Body, path: str = "") -> Conversation:
        """Parses what a call has beside its requests."""
        conversation = Conversation(body, "", False, only_reads=not body)
        take_own(conversation)
        reader = FieldReader(conversation.files, self.known | {self.holds})
        conversation.blocks = [[*reader.members(body, self.unsearched(body))]]
        return conversation

    def unsearched(self, body: Body) -> frozenset[str]:
        """Returns the members of a call that are no text, or are read on their own."""
        return frozenset({self.holds})

    @abstractmethod
    def requests(self, body: Body) -> Iterator[Request]:
        """Yields the requests of a call, taking each out of its body. Raises BadRequest."""

    @abstractmethod
    def assembled(self, body: Body, requests: Sequence[bytes]) -> tuple[bytes, Field | None]:
        """Returns the protected body of a call, and its Content-Type if that is not JSON."""

    @abstractmethod
    def answer_in(self, line: Body) -> tuple[Wire, Body] | None:
        """Returns the answer of a model in a line of results, and its wire, if it has one."""

    def seed(self, body: Body) -> str:
        """Returns what the placeholders of a batch are derived from: a digest of its requests."""
        return sha256(dump(body)).hexdigest()

    def source(self, body: Body) -> str:
        """Returns the file that has the requests of the batch that a call starts, if one does."""
        return ""

    def name_of(self, batch: Body) -> object:
        """Returns the name by which calls know the batch or file that an answer describes."""
        return batch.get("id")

    def results_in(self, answer: Body) -> Iterator[Body]:
        """Yields the results that the answer about a batch has in itself, each as a line of results has one."""
        return iter(())

    def results_of(self, batch: Body) -> Sequence[str]:
        """Returns the names under which the results of a batch are fetched, beside its own."""
        return ()

    def localize(self, answer: Body) -> None:
        """Replaces addresses of the provider in an answer for clients of the gateway's listener."""

    def answer_texts(self, body: Body) -> list[AnswerText]:
        return [*answer_strings(body, {}, "", 0)]

    def refuse_answer(self, body: Body, message: str) -> None:
        body.clear()
        body["error"] = {"message": message, "type": "content_filter"}


@contextmanager
def at(where: str) -> Iterator[None]:
    """Has errors that are raised inside say where in the batch."""
    try:
        yield
    except GatewayError as error:
        error.message = f"{where}: {error.message}"
        error.args = (error.message,)
        raise


def request_in(
    holder: Any, where: str, member: str, wire: Wire, path: str, besides: frozenset[str], *, has_id: bool = True
) -> Request:
    """Returns the request in an object of a batch. Raises BadRequest and Unprocessable."""
    body = holder.get(member) if isinstance(holder, dict) else None
    if not isinstance(body, dict) or (has_id and not text_at(holder, "custom_id")):
        needed = "`custom_id`, a string, and " if has_id else ""
        raise BadRequest(f"It must be an object with {needed}`{member}`, an object.")
    if any(name.lower().startswith("svc_") for each in (holder, body) for name in each):
        raise Unprocessable("It has a field of the gateway (`svc_…`); set it once, for the whole batch.")
    own = {"custom_id"} if has_id else set[str]()
    return Request(where, holder, body, wire, path, besides | own | {member})


def beside(request: Request) -> list[MessageField]:
    """Returns the fields of what an object of a batch has beside the request, its `custom_id` last."""
    holder = request.holder
    reader = FieldReader(set(), request.besides)
    names = [NameField(holder, name, holder[name]) for name in request.besides & {"custom_id"}]
    return [*reader.members(holder, request.besides), *names]


def is_id(value: object) -> bool:
    """Whether a value is like the name of a batch or file."""
    return isinstance(value, str) and _ID.match(value) is not None
