"""Defines the interface of a wire protocol, which separates text from structure, and discovers the wires.

Each file in this folder defines one wire as `WIRE`. Two wires with the same id fail at startup.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from gateway.detection.plugins import plugin_modules
from gateway.errors import GatewayError
from gateway.models import Family, PrivacyMode
from gateway.text.answers import AnswerText, Channel, CitedSpan
from gateway.text.attached import AttachmentField
from gateway.text.fields import MessageField
from gateway.wires.error_shapes import error_body

type Body = dict[str, Any]
type Framing = Literal["sse", "json-array", "ndjson", "json-seq", "eventstream", "eventstream-chunks", "jsonl"]
"""How the events of a streamed answer are divided: as server-sent events, as the items of a JSON array, as JSON text
sequences (RFC 7464), which the messages of a WebSocket are read as, as the frames of AWS's event streams, which may
have an event in base64 (`eventstream-chunks`), or as lines, which continue each other (`ndjson`) or are each
complete (`jsonl`)."""
type Tokens = tuple[int | None, int | None]
"""Input and output tokens, each if it is known."""


@dataclass(slots=True)
class Conversation:
    """A parsed request. Applying its fields changes `body` in place.

    `blocks` has the fields in the order a model reads them, divided where an assistant's turn starts. The protected
    form of a block depends only on it and the blocks before it, and on values that a later block reveals, so that
    the next turn repeats the same bytes (law 5). The placeholder key is derived from `seed`, the first text of a
    user. The first `before_seed` blocks may have been sent without that text, so their key is derived from `opening`,
    which is in the first of them. Without a user's text, the opening is the seed. `continues` names an earlier answer
    whose texts are not sent again, `replays` says that its client sends them all again if that answer is unknown, and
    `resumable` that this answer may be continued so. `only_reads` says that it is the read of a stored answer, which
    has no body. `files` are the kinds of content that is no text. `names` are those of models, which are sent unchanged
    if the patterns find nothing private in them. `allow` and `deny` are the caller's corrections as
    they were sent, unchecked.
    """

    body: Body
    model: str
    stream: bool
    blocks: list[list[MessageField]] = field(default_factory=list)
    seed: str = ""
    opening: str = ""
    before_seed: int = 0
    files: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    task: str | None = None
    policy_id: str | None = None
    allow: Any = field(default=None, repr=False)
    deny: Any = field(default=None, repr=False)
    mode: PrivacyMode | None = None
    framing: Framing = "sse"
    continues: str = ""
    replays: bool = False
    resumable: bool = False
    only_reads: bool = False

    @property
    def privacy_mode(self) -> PrivacyMode:
        """The mode asked for, else `standard`."""
        return self.mode or PrivacyMode.STANDARD

    @property
    def attachments(self) -> tuple[str, ...]:
        """The kinds of `files` and of documents that are not converted, sorted."""
        waiting = (label for each in self.documents() if not each.is_decided for label in each.labels)
        return tuple(sorted(self.files.union(waiting)))

    def documents(self) -> list[AttachmentField]:
        """Returns the files that may be converted to text, in order."""
        return [field for block in self.blocks for field in block if isinstance(field, AttachmentField)]

    def texts(self) -> list[str]:
        """Returns the texts of all fields in order."""
        return [text for block in self.blocks for field in block for text in field.texts]


class EventFormat(ABC):
    """How a wire streams an answer. Every event is a JSON object."""

    family: Family = "openai"
    """The provider's API, whose errors clients read."""
    names_events = False
    """Whether each server-sent event has its `type` as its name."""
    has_empty_deltas = True
    """Whether upstreams send pieces of texts that are empty. If not, clients may fail on them."""

    @abstractmethod
    def texts(self, event: Body) -> list[AnswerText]:
        """Returns the strings of an event that are text."""

    def spans(self, event: Body) -> list[CitedSpan]:
        """Returns the citations of an event whose offsets count in a text of the answer."""
        return []

    @abstractmethod
    def ends_channel(self, event: Body, channel: Channel) -> bool:
        """Whether nothing continues `channel` after this event."""

    @abstractmethod
    def continued(self, channel: Channel, text: str, last: Body) -> Body:
        """Returns an event that continues `channel` by `text`. `last` is the last event that continued it."""

    @abstractmethod
    def is_last(self, event: Body) -> bool:
        """Whether this event, which may be the last, is to have the gateway's own member."""

    @abstractmethod
    def refusal(self, message: str, like: Body) -> list[Body | bytes]:
        """Returns the events that end an answer with the finish reason `content_filter`.

        `like` is the event in which the reason was found, else the last one, with the first event's members that it
        lacks; empty if there was none. Bytes are written as they are.
        """

    def error(self, error: GatewayError, request_id: str) -> Body:
        """Returns the event that reports an error to clients of this wire."""
        return error_body(error, request_id, self.family)


class Wire(ABC):
    """A protocol of model calls. The defaults are those of calls to OpenAI's API that name the model in their body."""

    id: str
    family: Family = "openai"
    """The provider's API that the wire is part of."""
    stream: EventFormat | None = None
    """How answers are streamed, if they ever are."""
    streams_by_default = True
    """Whether the gateway's listener streams answers without the setting `streaming`."""
    path: re.Pattern[str]
    """Matches the paths of the calls, without their queries."""
    method: str
    """The path of the calls below an upstream's base URL."""

    @property
    def routes(self) -> Sequence[tuple[str, str]]:
        """The calls that the wire serves, for documentation: method and path, with the version that clients use."""
        return (("POST", f"/v1/{self.method}"),)

    def serves(self, method: str, path: str) -> bool:
        """Whether this is a model call of this wire. `path` has no query."""
        return method == "POST" and self.path.match(path) is not None

    def model(self, body: Body, path: str) -> object:
        """Returns the model that a request to `path` names, as sent and unchecked."""
        return body.get("model")

    def set_model(self, body: Body, model: str) -> None:
        """Names the model in a request body, where the wire has it there."""
        body["model"] = model

    def method_path(self, path: str, model: str) -> str:
        """Returns the path of the same API method below an upstream's base URL, for the model `model` there."""
        return self.method

    @abstractmethod
    def read(self, body: Body, path: str = "") -> Conversation:
        """Parses a request to `path`, which may have a query. Raises BadRequest if it violates the protocol."""

    @abstractmethod
    def answer_texts(self, body: Body) -> list[AnswerText]:
        """Returns the strings of an answer that are text."""

    def spans(self, body: Body) -> list[CitedSpan]:
        """Returns the citations of an answer whose offsets count in a text of it."""
        return []

    def usage(self, body: Body) -> Tokens:
        """Returns the tokens that the upstream reports in an answer or an event of one. Later events count."""
        return None, None

    def annotate(self, body: Body, note: Body | None) -> None:
        """Sets the gateway's own member of an answer, replacing any that the upstream sent."""
        body.pop("svc", None)
        if note is not None:
            body["svc"] = note

    def answer_ids(self, body: Body, path: str = "") -> tuple[str, ...]:
        """Returns the names by which a request may continue an answer instead of repeating it, if any.

        `body` is the answer or an event of it, `path` that of the request (see `Conversation.continues`).
        """
        return ()

    @abstractmethod
    def refuse_answer(self, body: Body, message: str) -> None:
        """Replaces every choice of an answer by `message`, with the finish reason `content_filter`."""


class OptionalModel(Wire):
    """A wire whose requests may leave the model out of their body, since the path names it or the API has a default."""

    def set_model(self, body: Body, model: str) -> None:
        if "model" in body:
            body["model"] = model


class Wires:
    """All wires, discovered in this folder and in `extra` folders."""

    def __init__(self, wires: Iterable[Wire]) -> None:
        self._wires = tuple(wires)
        ids = [wire.id for wire in self._wires]
        if len(ids) != len(set(ids)):
            raise ValueError("two wires have the same id; rename one")

    @classmethod
    def discover(cls, *extra: Path) -> "Wires":
        modules = plugin_modules("gateway.wires", extra)
        return cls(module.WIRE for module in modules if hasattr(module, "WIRE"))

    def __iter__(self) -> Iterator[Wire]:
        return iter(self._wires)

    def calls_of(self, operation: str) -> tuple[str, ...]:
        """Returns the names of an operation's calls in the audit of keys, which names calls of models by their wire."""
        return tuple(wire.id for wire in self._wires) if operation == "chat" else (operation,)

    def named(self, id: str) -> Wire | None:
        return next((wire for wire in self._wires if wire.id == id), None)

    def serving(self, method: str, path: str) -> Wire | None:
        return next((wire for wire in self._wires if wire.serves(method, path)), None)
