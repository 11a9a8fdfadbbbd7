"""Opens an untouched tunnel before its CONNECT is answered, so that a client learns why a host cannot be reached.

mitmproxy opens every connection before the answer, those of intercepted hosts too, or none: then it answers 200, and
can only close the connection. Upstream would have to let an addon choose for each tunnel.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar, NamedTuple

from mitmproxy import http
from mitmproxy.proxy import commands, context, events, layer
from mitmproxy.proxy.layers import http as http_layers
from mitmproxy.proxy.layers import modes
from mitmproxy.proxy.layers.http import RequestProtocolError, SendHttp

from addons.patches.outbound_tunnel import RoutedStream, Via, through_proxy
from addons.upstream_faults import fault_in
from gateway.http.upstream_failures import Fault

CHECKED_WITH = "12.2.3"

_OPENING_SECONDS = 30
_SOCKS_FAILED = b"\x05\x04"
# RFC 1928, section 6.
_SOCKS_REPLIES = {Fault.REFUSED: 5, Fault.NO_ROUTE: 3, Fault.OWN_LISTENER: 2, Fault.PRIVATE: 2, Fault.PROXY_DENIED: 2}


class Way(NamedTuple):
    """How a tunnel is opened: through another proxy, or directly."""

    via: Via | None


class OpeningStream(RoutedStream):
    """Answers CONNECT once the tunnel is open, if `way` has one for it.

    `failed` sets the response to a tunnel that cannot be opened. Without a fault, the client has gone.
    """

    way: ClassVar[Callable[[http.HTTPFlow], Way | None]]
    failed: ClassVar[Callable[[http.HTTPFlow, Fault | None], None]]
    _opener: "Opener"
    _limit: commands.RequestWakeup

    def handle_connect_regular(self) -> layer.CommandGenerator[None]:
        way = None if self.flow.response else type(self).way(self.flow)
        if way is None:
            yield from super().handle_connect_regular()
            return
        self._opener = Opener(self.context)
        self.child_layer = self._opener if way.via is None else through_proxy(self._opener, way.via)
        self._handle_event = self._opening
        self._limit = commands.RequestWakeup(_OPENING_SECONDS)
        yield self._limit
        yield from self._opening(events.Start())

    def _opening(self, event: events.Event) -> layer.CommandGenerator[None]:
        assert self.child_layer is not None
        if isinstance(event, RequestProtocolError):
            self._handle_event = self.state_errored
            self.flow.live = False
            type(self).failed(self.flow, None)
        elif self._is_limit(event):
            yield from self._refuse(Fault.TIMED_OUT)
        else:
            yield from self.child_layer.handle_event(event)
            if self._opener.error:
                yield from self._refuse(fault_in(self._opener.error))
            elif self._opener.is_open:
                yield from self._accept()

    def _refuse(self, fault: Fault) -> layer.CommandGenerator[None]:
        self._handle_event = self.state_errored
        type(self).failed(self.flow, fault)
        yield from self.handle_connect_finish()

    def _accept(self) -> layer.CommandGenerator[None]:
        # The layers of the tunnel have been started; a new one is started in their place.
        tunnel, self.child_layer = self.child_layer, None
        for command in self.handle_connect_finish():
            if isinstance(command, SendHttp):
                self.child_layer, self._handle_event = tunnel, self._pass
            yield command
        yield from self._pass(Answered())

    def _pass(self, event: events.Event) -> layer.CommandGenerator[None]:
        if not self._is_limit(event):
            yield from self.passthrough(event)

    def _is_limit(self, event: events.Event) -> bool:
        return isinstance(event, events.Wakeup) and event.command is self._limit


class Answered(events.Event):
    """The client has been told that the tunnel is open."""


class Opener(layer.Layer):
    """Opens the connection when it starts. Once that is answered, the rest is for the layer that mitmproxy chooses."""

    is_open: bool = False
    error: str | None = None

    def __init__(self, of: context.Context) -> None:
        super().__init__(of)
        self._next = layer.NextLayer(of)
        self._early: list[events.Event] | None = []

    def _handle_event(self, event: events.Event) -> layer.CommandGenerator[None]:
        if isinstance(event, events.Start):
            self.error = yield commands.OpenConnection(self.context.server)
            self.is_open = not self.error
        if isinstance(event, Answered):
            early, self._early = self._early or [], None
            for each in early:
                yield from self._next.handle_event(each)
        elif self._early is not None:
            self._early.append(event)
        else:
            yield from self._next.handle_event(event)


class OpeningSocks(modes.Socks5Proxy):
    """Answers SOCKS5 once the tunnel is open, if `opens` says so, with the code of what went wrong."""

    opens: ClassVar[Callable[[context.Context], bool]]
    failed: ClassVar[Callable[[context.Context, Fault], None]]
    _fault: Fault | None = None

    def finish_start(self) -> layer.CommandGenerator[str | None]:
        if type(self).opens(self.context):
            err = yield commands.OpenConnection(self.context.server)
            if err:
                self._fault = fault_in(err)
                self._handle_event = self.done
                type(self).failed(self.context, self._fault)
                return str(err)
        return (yield from super().finish_start())

    def state_connect(self) -> layer.CommandGenerator[None]:
        connecting, reply = super().state_connect(), None
        with suppress(StopIteration):
            while True:
                command = connecting.send(reply)
                if self._fault and isinstance(command, commands.SendData) and command.data.startswith(_SOCKS_FAILED):
                    code = _SOCKS_REPLIES.get(self._fault, _SOCKS_FAILED[1])
                    command.data = bytes([command.data[0], code]) + command.data[2:]
                reply = yield command


def open_tunnels(
    way: Callable[[http.HTTPFlow], Way | None],
    failed: Callable[[http.HTTPFlow, Fault | None], None],
    opens_socks: Callable[[context.Context], bool],
    socks_failed: Callable[[context.Context, Fault], None],
) -> None:
    """Has the tunnels of this process opened before they are answered. Comes after `route_streams`."""
    OpeningStream.way, OpeningStream.failed = staticmethod(way), staticmethod(failed)
    OpeningSocks.opens, OpeningSocks.failed = staticmethod(opens_socks), staticmethod(socks_failed)
    streams: Any = http_layers
    streams.HttpStream = OpeningStream
    top: Any = modes
    top.Socks5Proxy = OpeningSocks
