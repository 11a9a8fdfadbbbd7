"""What a listener and the gateway tell each other of a call: plain values, since they may be in two processes."""

from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple, Protocol

from gateway.errors import GatewayError
from gateway.http.types import Address, Field


class Listener(Enum):
    """The entrance a call came through."""

    GATEWAY = "gateway"
    PROXY = "proxy"


class Call(NamedTuple):
    """A request as it came, credentials and private text included.

    `path` is as sent, with its query; `origin` the scheme and `host:port` it was sent to. With `held` an operator may
    edit what is to cross.
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
    held: bool = False


class Filed(NamedTuple):
    """A receipt, as far as it concerns those who look on: its record's body is JSON without any private text."""

    request_id: str
    sequence: int
    body: str


class Crossing(NamedTuple):
    """What may cross to `url`. `filed` is None for a call that carries no text.

    `upstream` is the name that the settings give it; empty for a host that the client chose. It may take `seconds`.
    `placeholders` are those the request now holds, each once; `hidden` says whether anything was hidden at all.
    """

    url: str
    headers: Sequence[Field]
    body: bytes
    filed: Filed | None = None
    hidden: bool = False
    placeholders: Sequence[str] = ()
    upstream: str = ""
    seconds: float | None = None


class Answered(NamedTuple):
    """The gateway's own answer to a call. `route` is the path of its route, without what the client put into it.

    `filed` is the receipt it left, `guard` what the guard did with an answer.
    """

    status: int
    headers: Sequence[Field]
    body: bytes
    route: str | None
    filed: Filed | None = None
    guard: str | None = None


class Refused(NamedTuple):
    """Why a call goes no further, and the receipt that says so, if one was written."""

    error: GatewayError
    filed: Filed | None = None


class Restored(NamedTuple):
    """An answer for the client, and what the guard made of it: its verdict as in the answer's `svc.guard`."""

    body: bytes
    guard: dict[str, Any] | None = None


class Gateway(Protocol):
    """What a listener asks of the gateway. Calls are known by their request id from `enter` to `leave` or `fail`."""

    async def admit(self, call: Call) -> int:
        """How many bytes of body may be read of a call whose head is there. Raises GatewayError.

        Without a valid key that is nothing, or little where none is needed.
        """

    async def enter(self, call: Call) -> Crossing | Answered | Refused:
        """What becomes of a call; what may cross has its receipt, durable."""

    async def leave(self, request_id: str, status: int, body: bytes, annotate: bool) -> Restored:
        """The upstream's answer, inspected and restored; its outcome is recorded."""

    async def amend(self, request_id: str, edited: bytes) -> Crossing:
        """What may cross of an operator's edit, with the receipt of its own. Raises EditRefused."""

    def fail(self, request_id: str, outcome: str) -> None:
        """Records that a call that may have crossed came to no answer. Of an unknown one nothing is recorded."""
