"""The messages between a listener and the gateway: plain values, since the two may be separate processes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Protocol

from gateway.exchange.answer_guard import AnswerGuard
from gateway.guard.verdict import GuardAction, Verdict
from gateway.http.types import Address, Field
from gateway.models import Caller, ReceiptRef
from gateway.text.answers import AnswerText
from gateway.wires.base import Body, Framing


class Listener(Enum):
    """The listener that a call arrived on."""

    GATEWAY = "gateway"
    PROXY = "proxy"


class Call(NamedTuple):
    """A request as received, including credentials and private text.

    `path` is as sent, including the query; `origin` is the scheme and `host:port` it was sent to. `wire` is the id of
    the wire that serves the path, if any does. `editable` tells whether an operator may edit the protected request
    before it is forwarded. `connection` is the id of the WebSocket that the request is a message of.
    """

    request_id: str
    listener: Listener
    method: str
    origin: str
    path: str
    fields: Sequence[Field]
    content: bytes
    client: Address = None
    server: Address = None
    wire: str = ""
    editable: bool = False
    connection: str = ""


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """Everything needed to restore a streamed answer. It is never stored.

    `note` is the gateway's member of the last event, if the client gets one. `hold` keeps every text until it is
    complete.
    """

    guard: AnswerGuard = field(repr=False)
    request_id: str
    framing: Framing = "sse"
    note: Body | None = field(default=None, repr=False)
    hold: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        # The default for a frozen class with slots takes four times as long as the values do.
        return StreamPlan, tuple([getattr(self, name) for name in self.__slots__])


@dataclass(frozen=True, slots=True)
class AnswerEnd:
    """The end of an answer, for its outcome record.

    `action` is the strictest of the guard's actions while the answer streamed. `texts` are protected, as the upstream
    sent them. By `ids` a later request may continue the answer. `body` is the answer that the client gets if it did
    not stream. `verdict` is the guard's on the whole answer.
    """

    outcome: str
    status: int
    tokens: tuple[int, int] | None = None
    action: GuardAction = "pass"
    texts: Sequence[AnswerText] = field(default=(), repr=False)
    ids: tuple[str, ...] = ()
    body: bytes = field(default=b"", repr=False)
    verdict: Verdict | None = None


def known_tokens(read: int | None, written: int | None) -> tuple[int, int] | None:
    """Returns input and output tokens, if at least one of them is known."""
    return None if read is None and written is None else (read or 0, written or 0)


class ForwardedRequest(NamedTuple):
    """A request that may be forwarded to `url`. `receipt` is None for a call that carries no text.

    If the answer may be a stream, the listener restores it by the `plan`; it then calls `end` instead of `close`.

    `upstream` is the name of a configured upstream; it is empty for a host that the client chose. The answer may take
    `timeout_seconds`. `placeholders` are those in the request, each once; `hidden` tells whether anything was hidden,
    and `reasons`, for mitmweb only, how often a type was for a reason: `("PERSON", "name_model_high", 2)`.
    """

    url: str
    headers: Sequence[Field]
    body: bytes
    receipt: ReceiptRef | None = None
    hidden: bool = False
    placeholders: Sequence[str] = ()
    upstream: str = ""
    timeout_seconds: float | None = None
    plan: StreamPlan | None = None
    caller: Caller | None = None
    reasons: Sequence[tuple[str, str, int]] = ()


class NativeResponse(NamedTuple):
    """The gateway's own response to a call. `route` is the path template of its route, without values.

    `receipt` is the receipt of the call, `guard` the guard's verdict on the answer of `svc-demo`.
    """

    status: int
    headers: Sequence[Field]
    body: bytes
    route: str | None
    receipt: ReceiptRef | None = None
    guard: dict[str, Any] | None = None
    caller: Caller | None = None


class Gateway(Protocol):
    """The calls of a listener to the gateway. A request is known by its id from `open` to `close` or `fail`."""

    async def check_proxy_key(self, key: str) -> Caller:
        """Checks the gateway key of a proxy client, and returns whose it is. Raises GatewayError."""

    async def check_head(self, call: Call) -> Caller | None:
        """Checks a call of which only the head has arrived. `open` checks it again, so a caller may be remembered.

        Returns the caller, or None for a public page, which takes no body. Raises GatewayError; a call that needs a key
        and has no valid one is refused here.
        """

    async def open(self, call: Call) -> ForwardedRequest | NativeResponse:
        """Protects a call for its upstream, or answers it. The receipt of a forwarded request is durable on return.

        Raises GatewayError, which names the receipt if one was written.
        """

    async def caller_of(self, call: Call) -> Caller | None:
        """Returns the caller of a call that has failed, if it is known. Needs no content."""

    def note(self, call: Call, outcome: str) -> None:
        """Records the use of a key by a call that the listener ended before `open`. Needs no content."""

    async def close(self, request_id: str, status: int, body: bytes) -> tuple[bytes, str, dict[str, Any] | None]:
        """Guards and restores the upstream's answer, and records the outcome.

        Returns the answer for the client, the outcome, and the guard's verdict as in the answer's `svc.guard`.
        """

    async def end(self, request_id: str, end: AnswerEnd) -> dict[str, Any] | None:
        """Records the outcome of a streamed answer, and returns the guard's verdict on all of it."""

    async def edit(self, request_id: str, edited: bytes, operator: str) -> ForwardedRequest:
        """Checks an operator's edit of the body and writes its receipt, which the result names. Raises EditRefused.

        The receipt names `operator`, unless that is empty.
        """

    def fail(self, request_id: str, outcome: str, sent: bool = False, code: str | None = None) -> None:
        """Records that a request got no answer, whether it was sent, and the code of the error, if there was one.

        Does nothing for an unknown id.
        """

    def disconnected(self, connection: str) -> None:
        """Forgets the conversations of a WebSocket that has ended. Its id is that of the request that opened it."""
