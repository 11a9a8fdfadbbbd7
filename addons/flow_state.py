"""What the gateway knows of a flow while it is served. Plain text and credentials live here and nowhere in the flow."""

import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast
from weakref import WeakKeyDictionary, finalize

from mitmproxy import http
from mitmproxy.proxy.mode_specs import ReverseMode

from addons.flow_metadata import Notes
from gateway.ipc.messages import ForwardedRequest, Listener
from gateway.models import ReceiptRef
from gateway.wires import Wire


@dataclass(slots=True)
class FlowState:
    """One flow's state.

    `target` is the host, port and scheme the client asked for, then those the request may go to; until protection has
    succeeded the flow itself points to a dead end. `let_in` says whether the gateway took the call, which it does once
    the request is complete. `headers` are the client's own, credentials included. `crossing` is
    what may cross, `answer` what the client gets for what came back, `guard` the verdict on that. `shown` is what
    operators see of it, with its `notes`; `filed` the receipt that a call left which did not cross. `late` says that
    the upstream took too long. `watch` sees to a flow that is gone before it came to an end.
    """

    request_id: str
    listener: Listener
    headers: http.Headers = field(repr=False)
    target: tuple[str, int, str]
    wire: Wire | None = None
    forwarded: ForwardedRequest | None = field(default=None, repr=False)
    let_in: bool = False
    native: bool = False
    cleared: bool = False
    secrets: frozenset[bytes] = field(default=frozenset(), repr=False)
    answer: bytes | None = field(default=None, repr=False)
    guard: dict[str, Any] | None = None
    shown: http.HTTPFlow | None = field(default=None, repr=False)
    notes: Notes | None = None
    receipt: ReceiptRef | None = None
    late: bool = False
    watch: "finalize[Any, Any] | None" = field(default=None, repr=False)


class FlowStates:
    """The states of all flows under way; a flow that is gone takes its state with it. `closing`: no more are let in."""

    def __init__(self) -> None:
        self.closing = False
        self._states: WeakKeyDictionary[http.HTTPFlow, FlowState] = WeakKeyDictionary()

    def add(self, flow: http.HTTPFlow, state: FlowState) -> None:
        self._states[flow] = state

    def of(self, flow: http.HTTPFlow) -> FlowState | None:
        return self._states.get(flow)

    def watch(self, flow: http.HTTPFlow, lost: Callable[[], None]) -> None:
        """Calls `lost` when the flow is gone and has not left."""
        watch = self._states[flow].watch = finalize(flow, lost)
        watch.atexit = False

    def remove(self, flow: http.HTTPFlow) -> None:
        state = self._states.pop(flow, None)
        if state is not None and state.watch is not None:
            state.watch.detach()

    def under_way(self) -> bool:
        """Whether anybody who was let in waits for an answer.

        Costs a collection of garbage, which holds flows that are done.
        """
        gc.collect()
        return any(state.let_in for state in self._states.values())


def listener_of(flow: http.HTTPFlow) -> Listener:
    """Reverse mode is the gateway's own address; every other mode is a proxy for existing traffic."""
    mode = cast(object, flow.client_conn.proxy_mode)
    return Listener.GATEWAY if isinstance(mode, ReverseMode) else Listener.PROXY
