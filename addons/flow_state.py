"""The state of a flow while it is served. Plain text and credentials are kept here and never in the flow itself."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, cast
from weakref import WeakKeyDictionary, finalize

from mitmproxy import connection, http
from mitmproxy.proxy.mode_specs import ReverseMode

from addons.streamed_answers import StreamedAnswer
from addons.websocket_handshake import Handshake
from gateway.config.listener_addresses import in_url
from gateway.errors import GatewayError
from gateway.exchange.messages import Call, ForwardedRequest, Listener
from gateway.http.upstream_failures import Fault
from gateway.models import Caller, Family, ReceiptRef
from gateway.wires.base import Wire
from gateway.wires.error_shapes import error_shape_of


@dataclass(slots=True)
class FlowState:
    """The state of one flow.

    `target` is the host, port and scheme the client asked for, later those the request is forwarded to; until
    protection succeeds, the flow itself points to a dead end. `accepted` is set while the gateway handles the
    request, which is complete. `headers` are the client's own, including credentials. `forwarded` is the protected
    request, `answer` the client's answer and `guard` the verdict on it. `shown` is the copy that operators see;
    `receipt` names the receipt of a call that was not forwarded. `fault` is that of the upstream, where no error of
    mitmproxy tells. `stream` is the answer while it streams. `watch` reports a flow that is dropped before it ends.
    `handshake` is that of a WebSocket which the request opens, `connection` the id of the one it is a message of.

    The others are for the log: `path` is the template of the gateway's own path, `caller` sent the request, `received`
    is the size of the body, `upstream_status` that of the upstream's answer, `released_at` when the request was
    forwarded (seconds since the epoch), `seconds` the time that stages took. `noted` is set once the gateway records
    the use of the key, `logged` once the request has its line.
    """

    request_id: str
    listener: Listener
    headers: http.Headers = field(repr=False)
    target: tuple[str, int, str]
    wire: Wire | None = None
    forwarded: ForwardedRequest | None = field(default=None, repr=False)
    accepted: bool = False
    native: bool = False
    cleared: bool = False
    secrets: frozenset[bytes] = field(default=frozenset(), repr=False)
    answer: bytes | None = field(default=None, repr=False)
    guard: dict[str, Any] | None = None
    path: str | None = None
    shown: http.HTTPFlow | None = field(default=None, repr=False)
    receipt: ReceiptRef | None = None
    fault: Fault | None = None
    stream: StreamedAnswer | None = field(default=None, repr=False)
    watch: "finalize[Any, Any] | None" = field(default=None, repr=False)
    caller: Caller | None = None
    received: int = 0
    upstream_status: int | None = None
    released_at: float | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    noted: bool = False
    logged: bool = False
    handshake: Handshake | None = None
    connection: str = ""

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Adds the time of the context to that of a stage."""
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + perf_counter() - start

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Measures a call to the gateway, and keeps the caller and the receipt that an error names."""
        try:
            with self.timed("protect"):
                yield
        except GatewayError as error:
            self.caller, self.receipt, self.noted = error.caller, error.receipt, True
            raise

    def call(self, flow: http.HTTPFlow, content: bytes, *, editable: bool) -> Call:
        """Returns the call that the gateway gets."""
        host, port, scheme = self.target
        return Call(
            self.request_id,
            self.listener,
            flow.request.method,
            f"{scheme}://{in_url(host)}:{port}",
            flow.request.path,
            self.headers.fields,
            content,
            flow.client_conn.peername,
            flow.client_conn.sockname,
            self.wire.id if self.wire else "",
            editable,
            self.connection,
        )

    @property
    def receipt_ref(self) -> ReceiptRef | None:
        """The receipt of the call, forwarded or not."""
        return self.forwarded.receipt if self.forwarded is not None else self.receipt

    @property
    def family(self) -> Family:
        """The API whose errors the client understands."""
        return self.wire.family if self.wire else error_shape_of(self.headers.fields)


class FlowStates:
    """The states of all flows under way, each dropped with its flow. While `closing`, no request is accepted."""

    def __init__(self) -> None:
        self.closing = False
        self._states: WeakKeyDictionary[http.HTTPFlow, FlowState] = WeakKeyDictionary()

    def add(self, flow: http.HTTPFlow, state: FlowState) -> None:
        self._states[flow] = state

    def of(self, flow: http.HTTPFlow) -> FlowState | None:
        return self._states.get(flow)

    def watch(self, flow: http.HTTPFlow, lost: Callable[[], None]) -> None:
        """Calls `lost` if the flow is dropped before it is removed."""
        watch = self._states[flow].watch = finalize(flow, lost)
        watch.atexit = False

    def remove(self, flow: http.HTTPFlow) -> None:
        state = self._states.pop(flow, None)
        if state is not None and state.watch is not None:
            state.watch.detach()

    def under_way(self) -> bool:
        """Tells whether any accepted request still waits for its answer.

        Collects garbage first, since that holds flows that have ended.
        """
        gc.collect()
        return any(state.accepted for state in self._states.values())


def listener_of(client: connection.Client) -> Listener:
    """Returns the listener that a client uses: reverse mode is the gateway listener, every other mode is the proxy."""
    mode = cast(object, client.proxy_mode)
    return Listener.GATEWAY if isinstance(mode, ReverseMode) else Listener.PROXY
