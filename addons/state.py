"""What the gateway knows of a flow while it is served. Plain text and credentials live here and nowhere in the flow."""

from dataclasses import dataclass, field
from enum import Enum
from typing import cast
from weakref import WeakKeyDictionary

from mitmproxy import http
from mitmproxy.proxy.mode_specs import ReverseMode

from addons.notes import Notes
from addons.restoring import AnswerStream
from gateway.models import Caller
from gateway.pipeline import Exchange
from gateway.receipts import Followed
from gateway.wires import Wire


class Listener(Enum):
    """The entrance a flow came through."""

    GATEWAY = "gateway"
    PROXY = "proxy"


@dataclass(slots=True)
class Visit:
    """One flow's state.

    `target` is the host, port and scheme the client asked for, then those the request may go to; until protection has
    succeeded the flow itself points to a dead end. `headers` are the client's own, credentials included. `shown` is
    what operators see of it, with its `notes`; `source` the request as it came, kept only while operators hold
    requests back; `followed` the receipt and the outcome that were written for it.
    """

    request_id: str
    listener: Listener
    headers: http.Headers = field(repr=False)
    target: tuple[str, int, str]
    wire: Wire | None = None
    caller: Caller | None = None
    exchange: Exchange | None = field(default=None, repr=False)
    native: bool = False
    cleared: bool = False
    secrets: tuple[bytes, ...] = field(default=(), repr=False)
    answer: AnswerStream | None = field(default=None, repr=False)
    shown: http.HTTPFlow | None = field(default=None, repr=False)
    notes: Notes | None = None
    source: bytes | None = field(default=None, repr=False)
    followed: Followed = field(default_factory=Followed)


class Visits:
    """The visits of all flows under way; a flow that is gone takes its visit with it."""

    def __init__(self) -> None:
        self._visits: WeakKeyDictionary[http.HTTPFlow, Visit] = WeakKeyDictionary()

    def enter(self, flow: http.HTTPFlow, visit: Visit) -> None:
        self._visits[flow] = visit

    def of(self, flow: http.HTTPFlow) -> Visit | None:
        return self._visits.get(flow)

    def leave(self, flow: http.HTTPFlow) -> None:
        self._visits.pop(flow, None)

    def __len__(self) -> int:
        return len(self._visits)


def listener_of(flow: http.HTTPFlow) -> Listener:
    """Reverse mode is the gateway's own address; every other mode is a proxy for existing traffic."""
    mode = cast(object, flow.client_conn.proxy_mode)
    return Listener.GATEWAY if isinstance(mode, ReverseMode) else Listener.PROXY
